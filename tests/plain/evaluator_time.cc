/// What time alone does to a run: bounds of the match, of links and of groups, absence, the end of a GREEDY repeat.

#include <algorithm>

#include "tests/plain/evaluator.h"

namespace cepd::plain {

using nfa::Completes;

/// False when no further event can be taken where the last one was.
bool Evaluator::can_repeat(const Run& run) const {
  const nfa::State& state = state_of(run.state);
  return !run.ended && run.count < state.max && (run.branches & ~state.waiting) != 0 &&
         (state.again != dsl::plan::Contiguity::kStrict || run.adjacent);
}

EventTime Evaluator::inside_until(const Run& run, nfa::GroupSet groups) const {
  EventTime until = kMaxTime;
  for (std::size_t i = 0; groups != 0; ++i, groups >>= 1) {
    if ((groups & 1) != 0) until = std::min(until, saturating_add(run.groups[i].start, *automaton_.groups[i].within));
  }
  return until;
}

EventTime Evaluator::edge_until(const Run& run, const nfa::Edge& edge) const {
  const EventTime inside = inside_until(run, edge.inside);
  return edge.link.within ? std::min(inside, saturating_add(run.last().time, *edge.link.within)) : inside;
}

/// True when neither NEXT nor a NOT has closed the edge.
bool Evaluator::edge_open(const Run& run, const nfa::Edge& edge) const {
  return (edge.branches & run.branches) != 0 && (edge.guards & run.violated) == 0 &&
         (edge.link.contiguity != dsl::plan::Contiguity::kStrict || run.adjacent);
}

/// True when the run would be complete in this branch but for what the branch still waits for.
bool Evaluator::may_end(const Run& run, const nfa::Branch& branch) const {
  return branch.accept && run.count >= state_of(run.state).min && (branch.accept->guards & run.violated) == 0;
}

EventTime Evaluator::bound_end(const Run& run) const {
  return bound_ ? saturating_add(run.first().time, *bound_) : kMaxTime;
}

/// When an absence is complete. Requires may_end.
std::optional<EventTime> Evaluator::absence_due(const Run& run, const nfa::Branch& branch) const {
  if (branch.accept->completes != Completes::kDeadline) return std::nullopt;
  const auto within = branch.accept->within;
  const EventTime own = within ? saturating_add(run.last().time, *within) : kMaxTime;
  return rule_.within ? std::min(own, bound_end(run)) : own;
}

/// The latest time at which an event may still be taken or the run be complete, without the bound of the whole match;
/// kMinTime: that time has passed or never comes.
EventTime Evaluator::open_until(const Run& run) const {
  const nfa::State& state = state_of(run.state);
  EventTime latest = kMinTime;
  if (can_repeat(run)) latest = inside_until(run, state.inside);
  if (run.count < state.min) return latest;
  for (const nfa::Edge& edge : state.edges) {
    if (edge_open(run, edge)) latest = std::max(latest, edge_until(run, edge));
  }
  for (std::size_t i = 0; i < state.branches.size(); ++i) {
    const nfa::Branch& branch = state.branches[i];
    if (!has(run.branches, i) || !may_end(run, branch)) continue;
    switch (branch.accept->completes) {
      case Completes::kNow:
        break;  // it was complete when it came here
      case Completes::kNextEvent:
        if (run.adjacent) latest = kMaxTime;
        break;
      case Completes::kDeadline:
        latest = std::max(latest, *absence_due(run, branch));
        break;
      case Completes::kRepeatEnd:
        latest = kMaxTime;
        break;
    }
  }
  return latest;
}

void Evaluator::set_due(Run& run) const {
  run.due = std::min(bound_end(run), open_until(run));
  const nfa::State& state = state_of(run.state);
  for (std::size_t i = 0; i < state.branches.size(); ++i) {
    if (!has(run.branches, i) || !may_end(run, state.branches[i])) continue;
    if (const auto due = absence_due(run, state.branches[i])) run.due = std::min(run.due, *due);
  }
}

/// Adds what is complete because `now` has passed, once. Returns the branches that this closes.
nfa::BranchSet Evaluator::complete_by(const Run& run, EventTime now, std::vector<Candidate>& completed) const {
  const nfa::State& state = state_of(run.state);
  nfa::BranchSet closed = 0;
  std::optional<EventTime> time;
  for (std::size_t i = 0; i < state.branches.size(); ++i) {
    const nfa::Branch& branch = state.branches[i];
    if (!has(run.branches, i) || !may_end(run, branch)) continue;
    std::optional<EventTime> due = absence_due(run, branch);
    if (branch.accept->completes == Completes::kRepeatEnd && rule_.within) due = bound_end(run);
    if (!due || *due > now) continue;
    closed |= nfa::BranchSet{1} << i;
    time = time ? std::min(*time, *due) : *due;
  }
  if (time) completed.push_back({run.bound, *time});
  return closed;
}

std::vector<Candidate> Evaluator::expire(KeyState& state, EventTime now, std::vector<Run>& expired) const {
  std::vector<Candidate> completed;
  std::vector<Run> after;
  for (Run& run : state.runs) {
    if (run.due > now) {
      after.push_back(std::move(run));
      continue;
    }
    const nfa::BranchSet closed = complete_by(run, now, completed);
    run.branches &= ~closed;
    const EventTime open = open_until(run);
    if (std::min(open, bound_end(run)) > now) {
      set_due(run);
      after.push_back(std::move(run));
    } else if (closed == 0) {
      const bool by_ttl = !rule_.within && open > now;
      if (!by_ttl) expired.push_back(std::move(run));
    }
  }
  state.runs = std::move(after);
  return completed;
}

}  // namespace cepd::plain
