#pragma once
/// What the parts of Evaluator hand to each other while a key is moved over an event.

#include <boost/container/small_vector.hpp>
#include <vector>

#include "engine/evaluator.h"

namespace cepd::engine {

/// One way to take the event: `element` of state `to`, by `edge`, or as a further repeat or AND member where it is
/// none.
struct Evaluator::Take {
  nfa::StateId to{};
  dsl::plan::ElementId element{};
  const nfa::Edge* edge = nullptr;
  nfa::BranchSet branches = 0;  ///< of the run's state: those that take it
};

/// What one call of advance() works on.
struct Evaluator::Step {
  KeyState& state;
  const Offer& offer;
  std::vector<Completed>& completed;
  nfa::SharedOutcomes& outcomes;
  Arena& scratch;
  nfa::ElementSet accepted = 0;                                        // of the run at hand: what was asked before
  boost::container::small_vector<Run, 2, PoolAllocator<Run>> arrived;  // that have bound the event
  std::size_t in_place = 0;                                            // others that have, among the key's runs
  boost::container::small_vector<Take, 4> takes;                       // of the run at hand

  // As an aggregate all of it, also the room for runs, would be zeroed.
  Step(KeyState& key_state, const Offer& offered, std::vector<Completed>& complete, nfa::SharedOutcomes& of_event,
       Arena& arena)
      : state(key_state), offer(offered), completed(complete), outcomes(of_event), scratch(arena) {}
  const Event& event() const { return *offer.event(); }
  /// The event before this one in the input was the one that the run has bound last.
  bool adjacent(const Run& run) const { return run.last_sequence == state.last_input; }
};

}  // namespace cepd::engine
