#pragma once
/// Moves the partial matches of one rule and key over one event, one run at a time, after SASE (Wu, Diao, Rizvi:
/// High-Performance Complex Event Processing over Streams, SIGMOD 2006). Written to be plainly right; cost is O(partial
/// matches of the key).

#include <optional>
#include <span>
#include <vector>

#include "tests/plain/run.h"

namespace cepd::plain {

inline bool has(nfa::BranchSet branches, std::size_t branch) { return (branches >> branch & 1) != 0; }

/// One event as one key of one rule meets it.
struct Offer {
  EventPtr event;
  nfa::ElementSet elements = 0;  ///< elements (NOTs too) of its type that take this key from it
  std::uint64_t unless = 0;      ///< UNLESS clauses, likewise
  bool input = false;            ///< it is part of the rule's input
};

/// The matching of one rule. Holds no partial match itself.
class Evaluator {
 public:
  Evaluator(const nfa::Network& network, std::size_t rule, std::optional<Micros> state_ttl);

  /// Requires events of a key in the total order, and expire() called for every deadline before the event's time.
  /// Returns what is complete with this event; those runs may go on.
  std::vector<Candidate> advance(KeyState& state, const Offer& offer) const;

  /// Ends the runs whose time is up at `now` (no event at or before `now` can come any more): absence and last GREEDY
  /// repeats are complete, the others that a bound has ended are moved to `expired`.
  std::vector<Candidate> expire(KeyState& state, EventTime now, std::vector<Run>& expired) const;

  /// Of the runs of one first event that ran out of time, the one a time-out reports.
  const Run& furthest(const std::vector<const Run*>& runs) const;
  /// The elements whose events may be the first of a match.
  nfa::ElementSet start_elements() const;

  const dsl::plan::Rule& rule() const { return rule_; }

 private:
  struct Step;
  struct Take;
  const nfa::State& state_of(nfa::StateId id) const { return automaton_.states[static_cast<std::size_t>(id)]; }

  // conditions
  bool accepts(const dsl::plan::EventTest& test, const Run& run, const Step& step) const;
  std::optional<dsl::plan::ElementId> taker(nfa::ElementSet elements, const Run& run, nfa::ElementSet members,
                                            const Step& step) const;
  bool until_accepts(const nfa::State& state, const Run& run, const Step& step) const;
  nfa::ElementSet accepting_guards(const Run& run, nfa::ElementSet guards, const Step& step) const;
  bool unless_accepts(const Run& run, const Step& step) const;

  // moves
  void start(Step& step) const;
  void move(Run run, Step& step) const;
  nfa::BranchSet find_takes(const Run& run, bool ends, std::vector<Take>& takes, const Step& step) const;
  nfa::BranchSet complete_at(const Run& run, bool ends, nfa::ElementSet seen, nfa::BranchSet moved, Step& step) const;
  Run taken(const Run& run, const Take& take, const EventPtr& event) const;
  void arrive(Run run, Step& step) const;
  void keep(Run run, Step& step) const;

  // time (evaluator_time.cc)
  bool can_repeat(const Run& run) const;
  EventTime inside_until(const Run& run, nfa::GroupSet groups) const;
  EventTime edge_until(const Run& run, const nfa::Edge& edge) const;
  bool edge_open(const Run& run, const nfa::Edge& edge) const;
  void set_due(Run& run) const;
  EventTime open_until(const Run& run) const;
  EventTime bound_end(const Run& run) const;
  std::optional<EventTime> absence_due(const Run& run, const nfa::Branch& branch) const;
  bool may_end(const Run& run, const nfa::Branch& branch) const;
  nfa::BranchSet complete_by(const Run& run, EventTime now, std::vector<Candidate>& completed) const;

  const nfa::Network& network_;
  const dsl::plan::Rule& rule_;
  const nfa::Automaton& automaton_;
  std::optional<Micros> bound_;  ///< WITHIN, or the state TTL where nothing bounds a match
};

}  // namespace cepd::plain
