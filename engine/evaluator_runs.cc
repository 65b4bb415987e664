/// How partial matches stand in runs: what of a set counts, one run for those that agree, one for each where a rule
/// needs them apart.

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <utility>
#include <vector>

#include "engine/evaluator.h"

namespace cepd::engine {

using nfa::element_bit;

Alive Evaluator::alive(const KeyState& state, EventTime now) const {
  return sets() ? alive_in_sets(state, now) : Alive{};  // of single ones what does not count is gone
}

Alive Evaluator::alive_in_sets(const KeyState& state, EventTime now) const {
  Alive alive;
  if (is_bounded()) alive.oldest_time = saturating_add(now, -bound_);
  alive.oldest_sequence = since_;
  if (state.rare) {
    alive.oldest_sequence = std::max(since_, state.rare->marks.oldest);
    alive.dropped_starts = &state.rare->marks.starts;
    alive.used = &state.rare->marks.used;
  }
  return alive;
}

/// Makes one of runs that wait in the same place: they came to agree after they were made.
void Evaluator::merge(Runs& runs) {
  boost::unordered_flat_map<std::uint64_t, std::vector<std::size_t>> by_hash;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<std::size_t>& alike = by_hash[runs[i].place_hash()];
    const auto same =
        std::find_if(alike.begin(), alike.end(), [&](std::size_t k) { return runs[k].same_place(runs[i]); });
    if (same != alike.end()) {
      Run& into = runs[*same];
      into.set.join(std::move(runs[i].set));
      into.due = std::max(into.due, runs[i].due);
      into.last_time = std::max(into.last_time, runs[i].last_time);
      into.last_sequence = std::max(into.last_sequence, runs[i].last_sequence);
      continue;
    }
    if (kept != i) runs[kept] = std::move(runs[i]);
    alike.push_back(kept++);
  }
  runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(kept), runs.end());
}

void Evaluator::take_over(KeyState& state, EventTime now) const {
  if (state.sets && !sets()) split(state, now);
  if (!state.sets && sets()) {
    for (Run& run : state.runs) {
      const nfa::LookBack::AtState& ahead = ahead_of(run);
      const Bound last = run.bound.back();
      const auto unread = [&](const Bound& bound) { return (ahead.elements & element_bit(bound.element)) == 0; };
      run.bound.erase(std::remove_if(run.bound.begin(), run.bound.end(), unread), run.bound.end());
      if (ahead.last && unread(last)) run.bound.push_back(last);
    }
  }
  state.sets = sets();
  state.index.reset();
  state.runs_due = kMaxTime;
  for (Run& run : state.runs) {
    run.tallies.forget();  // it is about expressions of the earlier rules
    set_due(run, open_until(run, run.last_sequence == state.last_input));
    state.runs_due = std::min(state.runs_due, run.due);
  }
}

void Evaluator::add_singles(Runs& out, SetPart part, const Run& like, const Alive& alive) {
  MatchWalk().each(part, true, alive, [&](std::span<const Bound> bound) {
    Run one;
    for (const Bound& each : bound) {
      MatchSet before = std::exchange(one.set, {});
      one.set.add(EventPtr(each.event), each.element, before.empty() ? nullptr : &before);
    }
    one.bound.assign(bound.begin(), bound.end());
    one.state = like.state;
    one.count = like.count;
    one.members = like.members;
    one.branches = like.branches;
    one.groups = like.groups;
    one.violated = like.violated;
    one.ended = like.ended;
    one.last_time = bound.back().event->time;
    one.last_sequence = bound.back().event->sequence;
    out.push_back(std::move(one));
    return true;
  });
}

void Evaluator::split(KeyState& state, EventTime now) const {
  const Alive alive = alive_in_sets(state, now);
  Runs single;
  for (const Run& run : state.runs) add_singles(single, {run.set.head().get()}, run, alive);
  state.index.reset();
  state.runs = std::move(single);
  state.sets = false;
  if (state.rare) state.rare->marks = {};
}

/// Makes an index where there are many runs, and drops it where there are few again.
void Evaluator::see_to_index(KeyState& state) const {
  if (state.index) {
    if (state.runs.size() < options_.index_runs_from / 2) state.index.reset();
  } else if (state.runs.size() >= options_.index_runs_from && !automaton_.ambiguous && trace_ == nullptr) {
    state.index = std::make_unique<RunIndex>(look_back_, network_.fields(), state.runs);
  }
}

}  // namespace cepd::engine
