/// What time alone does to a run: bounds of the match, of links and of groups, absence, the end of a GREEDY repeat.

#include <algorithm>

#include "engine/evaluator.h"

namespace cepd::engine {

using nfa::Completes;

/// When an absence is complete. Requires may_end.
std::optional<EventTime> Evaluator::absence_due(const Run& run, const nfa::Branch& branch) const {
  if (branch.accept->completes != Completes::kDeadline) return std::nullopt;
  const auto within = branch.accept->within;
  const EventTime own = within ? saturating_add(run.last_time, *within) : kMaxTime;
  return rule_.within ? std::min(own, bound_end(run)) : own;
}

/// The latest time at which an event may still be taken or the run be complete, without the bound of the whole match;
/// kMinTime: that time has passed or never comes.
EventTime Evaluator::open_until(const Run& run, bool adjacent) const {
  const nfa::State& state = state_of(run);
  EventTime latest = kMinTime;
  if (can_repeat(run, adjacent)) latest = inside_until(run, state.inside);
  if (run.count < state.min) return latest;
  for (const nfa::Edge& edge : state.edges) {
    if (edge_open(run, edge, adjacent)) latest = std::max(latest, edge_until(run, edge));
  }
  // What was complete when it came here waits for nothing.
  state.each_branch(run.branches & state.later, [&](const nfa::Branch& branch, nfa::BranchSet) {
    if (!may_end(run, branch)) return;
    switch (branch.accept->completes) {
      case Completes::kNow:
        break;
      case Completes::kNextEvent:
        if (adjacent) latest = kMaxTime;
        break;
      case Completes::kDeadline:
        latest = std::max(latest, *absence_due(run, branch));
        break;
      case Completes::kRepeatEnd:
        latest = kMaxTime;
        break;
    }
  });
  return latest;
}

/// `open`: open_until(run).
void Evaluator::set_due(Run& run, EventTime open) const {
  run.due = std::min(bound_end(run), open);
  const nfa::State& state = state_of(run);
  state.each_branch(run.branches & state.later, [&](const nfa::Branch& branch, nfa::BranchSet) {
    if (!may_end(run, branch)) return;
    if (const auto due = absence_due(run, branch)) run.due = std::min(run.due, *due);
  });
}

/// Adds what is complete because `now` has passed, once. Returns the branches that this closes.
nfa::BranchSet Evaluator::complete_by(Run& run, EventTime now, std::vector<Completed>& completed) const {
  const nfa::State& state = state_of(run);
  nfa::BranchSet closed = 0;
  std::optional<EventTime> time;
  state.each_branch(run.branches & state.later, [&](const nfa::Branch& branch, nfa::BranchSet bit) {
    if (!may_end(run, branch)) return;
    std::optional<EventTime> due = absence_due(run, branch);
    if (branch.accept->completes == Completes::kRepeatEnd && rule_.within) due = bound_end(run);
    if (!due || *due > now) return;
    closed |= bit;
    time = time ? std::min(*time, *due) : *due;
  });
  if (time) completed.push_back({run.set.head(), false, *time});
  return closed;
}

/// False when the run is over.
bool Evaluator::outlives(KeyState& state, std::size_t at, EventTime now, std::vector<Completed>& completed,
                         Runs& expired) {
  Run& run = state.runs[at];
  if (run.due <= now) {
    const nfa::BranchSet closed = complete_by(run, now, completed);
    run.branches &= ~closed;
    const EventTime open = open_until(run, run.last_sequence == state.last_input);
    if (std::min(open, bound_end(run)) <= now) {
      if (closed != 0) return false;
      const bool by_ttl = !rule_.within && open > now;
      if (trace_ != nullptr) trace_->expired(run, by_ttl);
      if (!by_ttl && rule_.on_timeout) expired.push_back(std::move(run));
      return false;
    }
    set_due(run, open);
  }
  if (is_bounded() && sets()) {
    run.set.cut(saturating_add(now, Micros(1) - bound_));
    // Its deadline was that of a partial match that AFTER MATCH has dropped.
    if (run.set.empty()) return false;
  }
  state.note_due(at);
  return true;
}

void Evaluator::expire(KeyState& state, EventTime now, std::vector<Completed>& completed, Runs& expired) {
  const std::size_t complete_before = completed.size();
  const auto stays_at = [&](std::size_t i) {
    const bool stays = outlives(state, i, now, completed, expired);
    if (!stays) state.remove_run(i);
    return stays;
  };
  state.runs_due = kMaxTime;
  if (state.index) {
    for (const std::uint32_t i : state.index->take_due(now)) stays_at(i);
    state.runs_due = state.index->first_due();
  } else {
    for (std::size_t i = 0; i < state.runs.size();) i += stays_at(i) ? 1 : 0;
  }
  mark_completed(state, completed, complete_before);
  for (std::size_t i = complete_before; i < completed.size(); ++i) {
    const std::uint64_t first = completed[i].cell->own_newest().sequence;
    for (Run& run : expired) run.first_completed = run.first_completed || run.set.newest().sequence == first;
  }
}

}  // namespace cepd::engine
