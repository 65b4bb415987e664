#pragma once
/// Moves the partial matches of one rule and key over one event, one run at a time. Written to be plainly right; cost
/// is O(partial matches of the key).

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/run.h"

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

  /// Ends the runs whose time is up at `now` (no event at or before `now` can come any more): absence is complete, the
  /// others are moved to `expired`.
  void expire(KeyState& state, EventTime now, std::vector<Candidate>& completed, std::vector<Run>& expired);

  /// First event time + this is when a partial match ends; none: never.
  std::optional<Micros> bound() const { return bound_; }
  std::optional<EventTime> deadline(const Run& run) const;

  /// Of the runs of one first event that ran out of time, the one a time-out reports.
  static const Run& furthest(const std::vector<const Run*>& runs, const nfa::Automaton& automaton);

  const dsl::plan::Rule& rule() const { return rule_; }
  const nfa::Automaton& automaton() const { return automaton_; }
  nfa::EvalErrors& errors() { return errors_; }
  const nfa::EvalErrors& errors() const { return errors_; }

 private:
  struct Step;
  bool accepts(const dsl::plan::EventTest& test, const Event& event, std::span<const Bound> bound,
               const KeyState& state, Arena& scratch);
  nfa::ElementSet accepting_guards(const Run& run, nfa::ElementSet guards, Step& step);
  bool unless_accepts(const Run& run, Step& step);
  void move(Run& run, Step& step);
  bool alive(const Run& run) const;
  void arrive(Run run, Step& step);
  void start(Step& step);
  const nfa::State& state_of(const Run& run) const { return automaton_.states[static_cast<std::size_t>(run.state)]; }

  const nfa::Network& network_;
  const dsl::plan::Rule& rule_;
  const nfa::Automaton& automaton_;
  std::optional<Micros> bound_;
  nfa::EvalErrors errors_;
};

}  // namespace cepd::engine
