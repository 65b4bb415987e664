#pragma once
/// Moves the partial matches of one rule and key over one event, one run at a time. Written to be plainly right; cost
/// is O(partial matches of the key).

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/run.h"
#include "engine/trace.h"

namespace cepd::engine {

/// One event as one key of one rule meets it.
struct Offer {
  EventPtr event;
  nfa::ElementSet elements = 0;  ///< elements (NOTs too) of its type that take this key from it
  std::uint64_t unless = 0;      ///< UNLESS clauses, likewise
  bool input = false;            ///< it is part of the rule's input
};

/// The matching of one rule. Holds no partial match itself. One thread.
class Evaluator {
 public:
  Evaluator(const nfa::Network& network, std::size_t rule, std::optional<Micros> state_ttl);

  /// Requires events of a key in the total order, and expire() called for every deadline before the event's time.
  /// Appends what is complete with this event to `completed`; those runs may go on.
  void advance(KeyState& state, const Offer& offer, std::vector<Candidate>& completed, Arena& scratch);

  /// Ends the runs whose time is up at `now` (no event at or before `now` can come any more): absence and last GREEDY
  /// repeats are complete, the others that a bound has ended are moved to `expired`.
  void expire(KeyState& state, EventTime now, std::vector<Candidate>& completed, std::vector<Run>& expired);

  /// Tells `trace` every decision from now on; null: nobody.
  void set_trace(Trace* trace) { trace_ = trace; }

  /// How far in the pattern a run is; more is further.
  static std::pair<int, std::uint32_t> place(const Run& run, const nfa::Automaton& automaton);
  /// Of the runs of one first event that ran out of time, the one a time-out reports.
  static const Run& furthest(const std::vector<const Run*>& runs, const nfa::Automaton& automaton);

  /// Sets Run::due; needed after a restore only.
  void set_due(Run& run) const;

  const dsl::plan::Rule& rule() const { return rule_; }
  const nfa::Automaton& automaton() const { return automaton_; }
  nfa::EvalErrors& errors() { return errors_; }
  const nfa::EvalErrors& errors() const { return errors_; }

 private:
  struct Step;
  struct Take;
  const nfa::State& state_of(const Run& run) const { return automaton_.states[static_cast<std::size_t>(run.state)]; }

  // conditions
  bool accepts(const dsl::plan::EventTest& test, const Event& event, std::span<const Bound> bound,
               const KeyState& state, Arena& scratch);
  std::optional<dsl::plan::ElementId> taker(nfa::ElementSet elements, const Run& run, nfa::ElementSet members,
                                            Step& step);
  bool until_accepts(const nfa::State& state, const Run& run, Step& step);
  nfa::ElementSet accepting_guards(const Run& run, nfa::ElementSet guards, Step& step);
  bool unless_accepts(const Run& run, Step& step);

  // moves
  void start(Step& step);
  void move(Run& run, Step& step);
  nfa::BranchSet find_takes(const Run& run, bool ends, Step& step);
  nfa::BranchSet complete_at(const Run& run, bool ends, nfa::ElementSet seen, nfa::BranchSet moved, Step& step);
  Run taken(const Run& run, const Take& take, const EventPtr& event) const;
  void arrive(Run run, Step& step);
  void keep(Run run, Step& step);
  static void mark_completed(KeyState& state, const std::vector<Candidate>& completed, std::size_t from);

  // time (evaluator_time.cc)
  bool can_repeat(const Run& run) const;
  EventTime inside_until(const Run& run, nfa::GroupSet groups) const;
  EventTime edge_until(const Run& run, const nfa::Edge& edge) const;
  bool edge_open(const Run& run, const nfa::Edge& edge) const;
  void set_due(Run& run, EventTime open) const;
  EventTime open_until(const Run& run) const;
  EventTime bound_end(const Run& run) const;
  std::optional<EventTime> absence_due(const Run& run, const nfa::Branch& branch) const;
  bool may_end(const Run& run, const nfa::Branch& branch) const;
  nfa::BranchSet complete_by(Run& run, EventTime now, std::vector<Candidate>& completed) const;

  const nfa::Network& network_;
  const dsl::plan::Rule& rule_;
  const nfa::Automaton& automaton_;
  std::optional<Micros> bound_;  ///< WITHIN, or the state TTL where nothing bounds a match
  nfa::EvalErrors errors_;
  Trace* trace_ = nullptr;
};

}  // namespace cepd::engine
