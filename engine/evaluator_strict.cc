/// Patterns without gaps (nfa::LookBack::strict): a run binds the very next event of the input or is over. Most of what
/// a run is asked elsewhere cannot matter to one of these: it has one branch, nothing that it waits for, no deadline
/// but that of its first event.

#include "engine/evaluator_step.h"

namespace cepd::engine {

/// False when the run is over, or goes on among those that have arrived.
bool Evaluator::move_strict(Run& run, Step& step) {
  if (!step.adjacent(run)) return false;
  const nfa::State& state = state_of(run);
  step.takes.clear();
  const auto takes = [&](nfa::StateId to, nfa::ElementSet elements, const nfa::Edge* edge) {
    const auto element = taker(elements, run, 0, step);
    if (element) step.takes.push_back({to, *element, edge, run.branches});
    return element.has_value();
  };
  const bool repeats = run.count < state.max && takes(run.state, state.elements, nullptr);
  if (run.count >= state.min && !(repeats && state.greedy)) {
    for (const nfa::Edge& edge : state.edges) {
      if (takes(edge.to, edge.elements, &edge) && automaton_.states[static_cast<std::size_t>(edge.to)].greedy) break;
    }
  }
  if (step.takes.size() == 1 && !step.state.index) return take_strict(run, step.takes.front(), step);
  for (const Take& each : step.takes) take(run, each, &each != &step.takes.back(), step);
  return false;
}

/// Begins a run with the event among those of the key. Requires that there is no index of them.
void Evaluator::start_strict(const Take& way, Step& step) {
  Run& run = step.state.runs.emplace_back();
  const EventPtr& event = step.offer.event();
  run.due = is_bounded() ? saturating_add(event->time, bound_) : kMaxTime;
  if (take_strict(run, way, step)) {
    step.state.runs_due = std::min(step.state.runs_due, run.due);
  } else {
    step.state.runs.pop_back();
  }
}

/// As take_in_place(). The run has its deadline.
bool Evaluator::take_strict(Run& run, const Take& take, Step& step) {
  const EventPtr& event = step.offer.event();
  if (run.set.empty()) {
    run.set.add(event, take.element, nullptr);
  } else {
    run.set.go_on(event, take.element);
  }
  const nfa::State& state = automaton_.states[static_cast<std::size_t>(take.to)];
  const nfa::StateId from = run.state;
  if (take.edge != nullptr) {
    run.state = take.to;
    run.count = 1;
    run.branches = 0;
    for (nfa::BranchSet in = take.branches; in != 0; in &= in - 1) {
      run.branches |= take.edge->opens[static_cast<std::size_t>(__builtin_ctzll(in))];
    }
  } else if (state.max != dsl::plan::kUnbounded || run.count < state.min) {
    ++run.count;
  }
  if (run.branches == 0) return false;
  const bool enough = run.count >= state.min;
  if (enough && (run.branches & state.accepting) != 0) {
    step.completed.push_back({run.set.head(), false, event->time});
  }
  if (run.count >= state.max && (!enough || state.edges.empty())) return false;
  run.last_time = event->time;
  run.last_sequence = event->sequence;
  note_bound(run, from, take, event);
  if (step.in_place != 0 || step.arrived.size() > 0) {
    if (Run* same = like_arrived(run, step)) {
      same->due = std::max(same->due, run.due);
      same->set.join_new(std::move(run.set));
      return false;
    }
  }
  ++step.in_place;
  return true;
}

}  // namespace cepd::engine
