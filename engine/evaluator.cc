#include "engine/evaluator.h"

#include <algorithm>
#include <boost/container/small_vector.hpp>

namespace cepd::engine {

namespace plan = dsl::plan;
using nfa::Completes;
using nfa::element_bit;
using nfa::ElementSet;

/// What one call of advance() works on.
struct Evaluator::Step {
  KeyState& state;
  const Offer& offer;
  std::vector<Candidate>& completed;
  Arena& scratch;
  std::vector<Run> after;  // the runs that go on
};

Evaluator::Evaluator(const nfa::Network& network, std::size_t rule, std::optional<Micros> state_ttl)
    : network_(network),
      rule_(network.rules().rules[rule]),
      automaton_(network.automaton(rule)),
      bound_(rule_.within ? rule_.within : state_ttl) {}

std::optional<EventTime> Evaluator::deadline(const Run& run) const {
  if (!bound_) return std::nullopt;
  return saturating_add(run.first().time, *bound_);
}

bool Evaluator::accepts(const plan::EventTest& test, const Event& event, std::span<const Bound> bound,
                        const KeyState& state, Arena& scratch) {
  if (test.conditions.empty()) return true;
  const nfa::Scope scope{&event, bound, state.key, {}, &network_.fields()};
  return nfa::holds(test.conditions, scope, scratch, errors_);
}

/// The NOTs among `guards` that accept the event.
ElementSet Evaluator::accepting_guards(const Run& run, ElementSet guards, Step& step) {
  ElementSet accepting = 0;
  guards &= step.offer.elements & ~run.violated;
  while (guards != 0) {
    const auto index = static_cast<std::size_t>(__builtin_ctzll(guards));
    const ElementSet bit = ElementSet{1} << index;
    guards &= ~bit;
    if (accepts(rule_.elements[index].test, *step.offer.event, run.bound, step.state, step.scratch)) accepting |= bit;
  }
  return accepting;
}

/// An event that an UNLESS clause accepts ends the run, but for the ways in which the run binds the event itself.
bool Evaluator::unless_accepts(const Run& run, Step& step) {
  for (std::size_t i = 0; i < rule_.unless.size(); ++i) {
    if ((step.offer.unless >> i & 1) == 0) continue;
    if (accepts(rule_.unless[i], *step.offer.event, run.bound, step.state, step.scratch)) return true;
  }
  return false;
}

/// False when no event and no deadline can make a match of this run any more.
bool Evaluator::alive(const Run& run) const {
  const nfa::State& state = state_of(run);
  if (run.waits_only) return (state.accept_guards & run.violated) == 0;
  if (run.count < state.max) return true;
  for (const nfa::Edge& edge : state.edges) {
    const bool reachable = edge.contiguity != plan::Contiguity::kStrict || run.adjacent;
    if (reachable && (edge.guards & run.violated) == 0) return true;
  }
  if ((state.accept_guards & run.violated) != 0) return false;
  return state.completes == Completes::kDeadline || (state.completes == Completes::kNextEvent && run.adjacent);
}

/// A run that has just bound the event: it may be complete, and it may go on.
void Evaluator::arrive(Run run, Step& step) {
  const nfa::State& state = state_of(run);
  if (state.completes == Completes::kNow && run.count >= state.min) {
    step.completed.push_back({run.bound, step.offer.event->time});
  }
  if (alive(run)) step.after.push_back(std::move(run));
}

void Evaluator::start(Step& step) {
  for (const nfa::StateId id : automaton_.starts) {
    const nfa::State& state = automaton_.states[static_cast<std::size_t>(id)];
    if ((step.offer.elements & element_bit(state.element)) == 0) continue;
    const plan::EventTest& test = rule_.elements[static_cast<std::size_t>(state.element)].test;
    if (!accepts(test, *step.offer.event, {}, step.state, step.scratch)) continue;
    Run run;
    run.bound.push_back({state.element, step.offer.event});
    run.state = id;
    arrive(std::move(run), step);
  }
}

/// Takes the event by every way that is open to the run, and keeps the run without it where it may be skipped.
void Evaluator::move(Run& run, Step& step) {
  const nfa::State& state = state_of(run);
  const Event& event = *step.offer.event;
  const auto offered = [&](plan::ElementId id) { return (step.offer.elements & element_bit(id)) != 0; };
  const auto accepted_by = [&](plan::ElementId id) {
    return offered(id) &&
           accepts(rule_.elements[static_cast<std::size_t>(id)].test, event, run.bound, step.state, step.scratch);
  };

  struct Take {
    nfa::StateId to;
    std::uint32_t count;
  };
  boost::container::small_vector<Take, 4> takes;
  bool may_skip = true;

  if (step.offer.input && !run.waits_only) {
    // A NEXT NOT looks at the very next event whatever takes it; a THEN NOT only at events that nothing takes.
    if (run.adjacent) run.violated |= accepting_guards(run, state.guards & automaton_.next_guards, step);

    if (run.count < state.max && accepted_by(state.element)) {
      takes.push_back({run.state, run.count + 1});
      may_skip = false;
    }
    if (run.count >= state.min) {
      for (const nfa::Edge& edge : state.edges) {
        if ((edge.guards & run.violated) != 0) continue;
        if (edge.contiguity == plan::Contiguity::kStrict && !run.adjacent) continue;
        if (!accepted_by(automaton_.states[static_cast<std::size_t>(edge.to)].element)) continue;
        takes.push_back({edge.to, 1});
        if (edge.contiguity != plan::Contiguity::kSkipTillAny) may_skip = false;
      }
    }
  }

  const bool dropped = unless_accepts(run, step);
  if (step.offer.input) {
    const ElementSet seen = accepting_guards(run, state.guards & ~automaton_.next_guards, step);
    if (state.completes == Completes::kNextEvent && run.adjacent && run.count >= state.min && !dropped &&
        ((run.violated | seen) & state.accept_guards) == 0) {
      step.completed.push_back({run.bound, event.time});
    }
    run.violated |= seen;
    run.adjacent = false;
  }

  const bool goes_on = may_skip && !dropped;
  // Complete but for the last NOT: without the event it is a match of its own when its time is up (`a+ THEN NOT b`).
  const bool waits = !may_skip && !dropped && state.completes == Completes::kDeadline && run.count >= state.min &&
                     (state.accept_guards & run.violated) == 0;
  for (std::size_t i = 0; i < takes.size(); ++i) {
    Run next;
    if (i + 1 == takes.size() && !goes_on && !waits) {
      next.bound = std::move(run.bound);
    } else {
      next.bound.reserve(run.bound.size() + 1);
      next.bound = run.bound;
    }
    next.bound.push_back({automaton_.states[static_cast<std::size_t>(takes[i].to)].element, step.offer.event});
    next.state = takes[i].to;
    next.count = takes[i].count;
    next.first_completed = run.first_completed;
    arrive(std::move(next), step);
  }
  run.waits_only = run.waits_only || waits;
  if ((goes_on || waits) && alive(run)) step.after.push_back(std::move(run));
}

void Evaluator::advance(KeyState& state, const Offer& offer, std::vector<Candidate>& completed, Arena& scratch) {
  Step step{state, offer, completed, scratch, {}};
  const std::size_t complete_before = completed.size();
  step.after.reserve(state.runs.size() + 1);
  for (Run& run : state.runs) move(run, step);
  if (offer.input) start(step);
  state.runs = std::move(step.after);

  for (std::size_t i = complete_before; i < completed.size(); ++i) {
    const std::uint64_t first = completed[i].first().sequence;
    for (Run& run : state.runs) run.first_completed = run.first_completed || run.first().sequence == first;
  }
}

void Evaluator::expire(KeyState& state, EventTime now, std::vector<Candidate>& completed, std::vector<Run>& expired) {
  const auto due = [&](const Run& run) { return *deadline(run) <= now; };
  const auto first_due =
      std::stable_partition(state.runs.begin(), state.runs.end(), [&](const Run& run) { return !due(run); });
  const std::size_t complete_before = completed.size();
  for (auto run = first_due; run != state.runs.end(); ++run) {
    const nfa::State& at = state_of(*run);
    if (rule_.within && at.completes == Completes::kDeadline && run->count >= at.min &&
        (at.accept_guards & run->violated) == 0) {
      const EventTime time = *deadline(*run);
      completed.push_back({std::move(run->bound), time});
    } else {
      expired.push_back(std::move(*run));
    }
  }
  state.runs.erase(first_due, state.runs.end());
  for (std::size_t i = complete_before; i < completed.size(); ++i) {
    const std::uint64_t first = completed[i].first().sequence;
    for (Run& run : expired) run.first_completed = run.first_completed || run.first().sequence == first;
  }
}

const Run& Evaluator::furthest(const std::vector<const Run*>& runs, const nfa::Automaton& automaton) {
  const auto element = [&](const Run& run) { return automaton.states[static_cast<std::size_t>(run.state)].element; };
  return **std::min_element(runs.begin(), runs.end(), [&](const Run* a, const Run* b) {
    if (element(*a) != element(*b)) return element(*a) > element(*b);
    return taken_before(a->bound, b->bound);
  });
}

}  // namespace cepd::engine
