#pragma once
/// Moves the partial matches of one rule and key over one event: run by run, whatever number of partial matches a run
/// stands for (engine/run.h).

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "engine/key_state.h"
#include "engine/offer.h"
#include "engine/trace.h"
#include "nfa/element_tests.h"
#include "nfa/prefixes.h"

namespace cepd::engine {

/// Partial matches that are complete.
struct Completed {
  CellPtr cell;
  bool whole = false;  ///< all of the set that `cell` is the newest cell of; else those through it alone
  EventTime time{};
};

/// The matching of one rule. Holds no partial match itself. One thread.
class Evaluator {
 public:
  /// `prefix`: the rule's longest one, null: it has none. All outlive this.
  Evaluator(const nfa::Network& network, std::size_t rule, const EngineOptions& options, const nfa::Prefix* prefix);

  /// Requires events of a key in the total order, and expire() called for every deadline before the event's time.
  /// Appends what is complete with this event to `completed`; those partial matches may go on.
  /// Cost: O(runs that the event can do something to), whatever the number of partial matches.
  void advance(KeyState& state, const Offer& offer, std::vector<Completed>& completed, nfa::SharedOutcomes& outcomes,
               Arena& scratch);

  /// Ends the runs whose time is up at `now` (no event at or before `now` can come any more): absence and last GREEDY
  /// repeats are complete, the others that a bound has ended are moved to `expired` if their rule reports time-outs.
  void expire(KeyState& state, EventTime now, std::vector<Completed>& completed, Runs& expired);

  /// What of a key's sets counts at an event of this time.
  Alive alive(const KeyState& state, EventTime now) const;

  /// Tells `trace` every decision from now on; null: nobody. A run is one partial match then. Requires that there is
  /// none yet.
  void set_trace(Trace* trace) { trace_ = trace; }
  Trace* trace() const { return trace_; }
  /// Runs may stand for several partial matches.
  bool sets() const { return look_back_.sets && trace_ == nullptr; }

  /// How far in the pattern a run is; more is further.
  static std::pair<int, std::uint32_t> place(const Run& run, const nfa::Automaton& automaton);
  /// Of the runs of one first event that ran out of time, the one a time-out reports.
  static const Run& furthest(const std::vector<const Run*>& runs, const nfa::Automaton& automaton);

  /// Makes a key's state, restored or of an earlier set of rules, fit: its runs become what this evaluator works with,
  /// and their deadlines are computed again. `now`: the watermark.
  void take_over(KeyState& state, EventTime now) const;
  /// Makes a run of each partial match of the key's sets.
  void split(KeyState& state, EventTime now) const;
  /// Appends a run for each partial match of the part that counts: otherwise like `like`.
  static void add_singles(Runs& out, SetPart part, const Run& like, const Alive& alive);

  /// What began with an earlier event of this prefix's is not the rule's: it is newer than that.
  void set_since(std::uint64_t sequence) { since_ = sequence; }
  std::uint64_t since() const { return since_; }

  /// What of the rule is asked at every event, so that the whole need not be in a cache.
  struct Facts {
    dsl::plan::Policy policy{};
    bool having = false, limit = false, on_timeout = false, joint = false;
  };
  const Facts& facts() const { return facts_; }

  const nfa::Network& network() const { return network_; }
  const EngineOptions& options() const { return options_; }
  const dsl::plan::Rule& rule() const { return rule_; }
  const nfa::Automaton& automaton() const { return automaton_; }
  nfa::EvalErrors& errors() { return errors_; }
  const nfa::EvalErrors& errors() const { return errors_; }

 private:
  struct Step;
  struct Take;
  const nfa::State& state_of(const Run& run) const { return automaton_.states[static_cast<std::size_t>(run.state)]; }
  const nfa::LookBack::AtState& ahead_of(const Run& run) const {
    return look_back_.states[static_cast<std::size_t>(run.state)];
  }

  // conditions
  nfa::Scope scope_of(const Run& run, const Step& step) const;
  bool accepts(const dsl::plan::EventTest& test, const Run& run, Step& step);
  bool accepts(dsl::plan::ElementId element, const Run& run, Step& step);
  bool joints_hold(dsl::plan::ElementId id, const Run& run, nfa::ElementSet members, Step& step);
  std::optional<dsl::plan::ElementId> taker(nfa::ElementSet elements, const Run& run, nfa::ElementSet members,
                                            Step& step);
  bool until_accepts(const nfa::State& state, const Run& run, Step& step);
  nfa::ElementSet accepting_guards(const Run& run, nfa::ElementSet guards, Step& step);
  bool unless_accepts(const Run& run, Step& step);

  // moves
  bool untouched(const Run& run, const Step& step) const;
  void start(Step& step);
  void continue_prefix(Step& step);
  bool move(Run& run, Step& step);
  nfa::BranchSet find_takes(const Run& run, bool ends, Step& step);
  nfa::BranchSet complete_at(const Run& run, bool ends, nfa::ElementSet seen, nfa::BranchSet moved, Step& step);
  bool stays(Run& run, Step& step);
  void settle(Step& step);
  void see_to_index(KeyState& state) const;
  static void merge(Runs& runs);
  void mark_completed(KeyState& state, const std::vector<Completed>& completed, std::size_t from) const;

  // patterns without gaps (evaluator_strict.cc)
  bool move_strict(Run& run, Step& step);
  void start_strict(const Take& way, Step& step);
  bool take_strict(Run& run, const Take& take, Step& step);

  // what becomes of a run that binds the event (evaluator_taken.cc)
  bool stays_in_place(const Take& take, const Step& step) const;
  bool take_in_place(Run& run, const Take& take, Step& step);
  void take(Run& run, const Take& take, bool goes_on, Step& step);
  void turn(Run& run, const Take& take, const EventPtr& event) const;
  void turn_groups(Run& run, const nfa::Edge& edge, EventTime time) const;
  void bind_in_place(Run& run, const Take& take, const EventPtr& event) const;
  void note_bound(Run& run, nfa::StateId from, const Take& take, const EventPtr& event) const;
  bool arrives(Run& run, Step& step);
  static Run* like_arrived(const Run& run, Step& step);
  /// Conditions ahead may read an event that was bound last, to this element.
  static bool reads(const nfa::LookBack::AtState& ahead, dsl::plan::ElementId element) {
    return ahead.last || (ahead.elements & nfa::element_bit(element)) != 0;
  }

  // time (evaluator_time.cc)
  /// False when no further event can be taken where the last one was.
  bool can_repeat(const Run& run, bool adjacent) const {
    const nfa::State& state = state_of(run);
    return !run.ended && run.count < state.max && (run.branches & ~state.waiting) != 0 &&
           (state.again != dsl::plan::Contiguity::kStrict || adjacent);
  }
  EventTime inside_until(const Run& run, nfa::GroupSet groups) const {
    EventTime until = kMaxTime;
    for (; groups != 0; groups &= groups - 1) {
      const auto group = static_cast<std::size_t>(__builtin_ctz(groups));
      until = std::min(until, saturating_add(run.groups[group].start, *automaton_.groups[group].within));
    }
    return until;
  }
  EventTime edge_until(const Run& run, const nfa::Edge& edge) const {
    const EventTime inside = inside_until(run, edge.inside);
    return edge.link.within ? std::min(inside, saturating_add(run.last_time, *edge.link.within)) : inside;
  }
  /// True when neither NEXT nor a NOT has closed the edge.
  bool edge_open(const Run& run, const nfa::Edge& edge, bool adjacent) const {
    return (edge.branches & run.branches) != 0 && (edge.guards & run.violated) == 0 &&
           (edge.link.contiguity != dsl::plan::Contiguity::kStrict || adjacent);
  }
  /// True when the run would be complete in this branch but for what the branch still waits for.
  bool may_end(const Run& run, const nfa::Branch& branch) const {
    return branch.accept && run.count >= state_of(run).min && (branch.accept->guards & run.violated) == 0;
  }
  /// Of a set: of the partial match that began last; what began earlier is left out by Alive.
  EventTime bound_end(const Run& run) const {
    return is_bounded() ? saturating_add(run.set.newest().time, bound_) : kMaxTime;
  }
  bool is_bounded() const { return bound_ != Micros::max(); }

  void set_due(Run& run, EventTime open) const;
  Alive alive_in_sets(const KeyState& state, EventTime now) const;
  EventTime open_until(const Run& run, bool adjacent) const;
  std::optional<EventTime> absence_due(const Run& run, const nfa::Branch& branch) const;
  bool outlives(KeyState& state, std::size_t at, EventTime now, std::vector<Completed>& completed, Runs& expired);
  nfa::BranchSet complete_by(Run& run, EventTime now, std::vector<Completed>& completed) const;

  const nfa::Network& network_;
  const dsl::plan::Rule& rule_;
  const nfa::Automaton& automaton_;
  const nfa::LookBack& look_back_;
  const nfa::ElementTest* tests_;  // by element; null: nothing is known of any
  const EngineOptions& options_;
  const nfa::Prefix* prefix_;
  Facts facts_;
  Micros bound_;  // WITHIN, or the state TTL where nothing bounds a match; Micros::max(): none
  std::uint64_t since_ = 0;
  nfa::EvalErrors errors_;
  Trace* trace_ = nullptr;
};

}  // namespace cepd::engine
