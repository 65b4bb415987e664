/// What becomes of a run that binds the event.

#include <algorithm>
#include <utility>

#include "engine/evaluator_step.h"

namespace cepd::engine {

namespace plan = dsl::plan;
using nfa::BranchSet;
using nfa::Completes;
using nfa::element_bit;

/// Makes the run what it is after the event, but for its events.
void Evaluator::turn(Run& run, const Take& take, const EventPtr& event) const {
  const nfa::State& state = automaton_.states[static_cast<std::size_t>(take.to)];
  run.state = take.to;
  run.violated = 0;
  run.ended = false;
  run.last_time = event->time;
  run.last_sequence = event->sequence;
  if (take.edge == nullptr) {
    run.count = state.max == plan::kUnbounded ? std::min(run.count + 1, state.min) : run.count + 1;
  } else {
    run.members = 0;
    run.count = 1;
    if (!automaton_.groups.empty()) turn_groups(run, *take.edge, event->time);
  }
  // In a repeat of one element it says nothing which of its alternatives were taken.
  if (state.joins()) run.members |= element_bit(take.element);
  run.branches = 0;
  for (BranchSet in = take.branches; in != 0; in &= in - 1) {
    const auto branch = static_cast<std::size_t>(__builtin_ctzll(in));
    run.branches |= take.edge == nullptr ? state.branches[branch].again : take.edge->opens[branch];
  }
  state.each_branch(run.branches & state.counted, [&](const nfa::Branch& branch, BranchSet bit) {
    const bool open = std::all_of(branch.when.begin(), branch.when.end(), [&](const nfa::CountTest& test) {
      const std::uint32_t repeats = run.groups[static_cast<std::size_t>(test.group)].repeats;
      return repeats >= test.min && repeats <= test.max;
    });
    if (!open) run.branches &= ~bit;
  });
}

void Evaluator::turn_groups(Run& run, const nfa::Edge& edge, EventTime time) const {
  run.groups.resize(automaton_.groups.size());
  for (std::size_t i = 0; i < run.groups.size(); ++i) {
    const bool enters = (edge.enters >> i & 1) != 0;
    if (!enters && (edge.repeats >> i & 1) == 0) continue;
    GroupProgress& group = run.groups[i];
    group.repeats = enters ? 1 : std::min(group.repeats + 1, automaton_.groups[i].max_counted);
    if (automaton_.groups[i].within) group.start = time;
  }
}

/// What conditions ahead may read of the run, which was in state `from`, with the event.
void Evaluator::note_bound(Run& run, nfa::StateId from, const Take& take, const EventPtr& event) const {
  run.tallies.changed();
  bool read = true;
  if (sets()) {
    const nfa::LookBack::AtState& ahead = ahead_of(run);
    read = reads(ahead, take.element);
    const auto unread = [&](const Bound& bound) { return (ahead.elements & element_bit(bound.element)) == 0; };
    if (ahead.elements == 0) {
      run.bound.clear();
      run.tallies.forget();
    } else if (ahead.elements != look_back_.states[static_cast<std::size_t>(from)].elements) {
      run.bound.erase(std::remove_if(run.bound.begin(), run.bound.end(), unread), run.bound.end());
    } else if (!run.bound.empty() && unread(run.bound.back())) {
      run.bound.pop_back();  // only the last one may be there for prev() alone
    }
  }
  if (read) run.bound.push_back({take.element, event.get()});
}

/// The run, which may have bound nothing yet, binds the event.
void Evaluator::bind_in_place(Run& run, const Take& take, const EventPtr& event) const {
  if (run.set.empty()) {
    run.set.add(event, take.element, nullptr);
  } else {
    run.set.go_on(event, take.element);
  }
  const nfa::StateId from = run.state;
  turn(run, take, event);
  note_bound(run, from, take, event);
}

/// True when a run that takes the event in this way is over with it, or like no run that has not bound it.
bool Evaluator::stays_in_place(const Take& take, const Step& step) const {
  if (trace_ != nullptr) return false;
  if (automaton_.states[static_cast<std::size_t>(take.to)].last()) return true;
  return !step.state.index && (!sets() || reads(look_back_.states[static_cast<std::size_t>(take.to)], take.element));
}

/// The run binds the event. False when it is over, or one with others that have bound it. Requires stays_in_place(),
/// and that it has no other way.
bool Evaluator::take_in_place(Run& run, const Take& take, Step& step) {
  bind_in_place(run, take, step.offer.event());
  if (!arrives(run, step)) return false;
  step.state.note_due(static_cast<std::size_t>(&run - step.state.runs.data()));
  ++step.in_place;
  return true;
}

/// Likewise, beside the run as it was. What comes of it may be complete, and it may go on. `goes_on`: the run is used
/// after it.
void Evaluator::take(Run& run, const Take& take, bool goes_on, Step& step) {
  Run& next = step.arrived.emplace_back();
  next.count = run.count;
  next.members = run.members;
  next.groups = run.groups;
  next.first_completed = run.first_completed;
  if (goes_on) {
    next.bound.reserve(run.bound.size() + 1);
    next.bound = run.bound;
    next.tallies = run.tallies;
  } else {
    next.bound = std::move(run.bound);
    next.tallies = std::move(run.tallies);
  }
  next.set.add(step.offer.event(), take.element, run.set.empty() ? nullptr : &run.set);
  turn(next, take, step.offer.event());
  note_bound(next, run.state, take, step.offer.event());
  if (trace_ != nullptr) trace_->bound(next);
  if (!arrives(next, step)) step.arrived.pop_back();
}

/// Of the others that have bound the event, the one that nothing tells apart from the run.
Run* Evaluator::like_arrived(const Run& run, Step& step) {
  for (Run& other : step.arrived) {
    if (&other != &run && other.same_place(run)) return &other;
  }
  if (step.in_place == 0) return nullptr;
  for (Run& other : step.state.runs) {
    if (other.last_sequence == run.last_sequence && &other != &run && other.same_place(run)) return &other;
  }
  return nullptr;
}

/// False when a run that has just bound the event is over, or one with others that have.
bool Evaluator::arrives(Run& run, Step& step) {
  const nfa::State& state = state_of(run);
  bool complete = false;
  state.each_branch(run.branches & state.accepting, [&](const nfa::Branch& branch, BranchSet bit) {
    if (!may_end(run, branch)) return;
    const bool full = branch.accept->completes == Completes::kRepeatEnd && branch.accept->greedy == run.state &&
                      run.count == state.max;
    if (full) run.branches &= ~bit;
    complete = complete || full || branch.accept->completes == Completes::kNow;
  });
  if (complete) step.completed.push_back({run.set.head(), false, step.event().time});
  const EventTime open = run.branches == 0 ? kMinTime : open_until(run, true);
  if (open < step.event().time) {
    if (trace_ != nullptr) trace_->over(run, step.offer.event());
    return false;
  }
  set_due(run, open);
  if (!sets() || (step.in_place == 0 && step.arrived.size() < 2)) return true;
  Run* const same = like_arrived(run, step);
  if (same == nullptr) return true;
  same->set.join_new(std::move(run.set));
  set_due(*same, open);
  return false;
}

}  // namespace cepd::engine
