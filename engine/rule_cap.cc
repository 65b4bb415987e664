/// How many partial matches a rule may have under one key, and which are dropped where there are more
/// (language-details.md section 3).

#include <algorithm>
#include <map>

#include "engine/rule_runtime.h"

namespace cepd::engine {

void RuleRuntime::keep_under_cap(KeyState& key, EventTime now, Workspace& work) {
  const auto too_many = [&](std::uint64_t own) {
    const std::uint64_t in_prefix = prefix_ == nfa::Prefix::kNone ? 0 : count_in_prefix(key, own);
    return own + in_prefix > max_partial_matches();
  };
  if (!too_many(own_at_most(key))) return;
  if (key.index) {
    std::uint64_t count = 0;
    for (const Run& run : key.runs) count = std::min(count + run.set.count(), kManyMatches);
    key.index->set_count(count);
    if (!too_many(count)) return;
  }
  if (evaluator_.sets()) {
    cap_sets(key, now, work);
  } else {
    cap_each(key);
  }
}

std::uint64_t RuleRuntime::own_at_most(const KeyState& key) {
  if (key.index) return key.index->count();
  std::uint64_t count = 0;
  for (const Run& run : key.runs) count = std::min(count + run.set.count(), kManyMatches);
  return count;
}

void RuleRuntime::cap_each(KeyState& key) {
  const auto first_of = [](const Run& run) { return run.set.newest().sequence; };
  while (key.runs.size() > max_partial_matches()) {
    const auto oldest = std::min_element(key.runs.begin(), key.runs.end(),
                                         [&](const Run& a, const Run& b) { return first_of(a) < first_of(b); });
    const std::uint64_t first = first_of(*oldest);
    const auto of_first = [&](const Run& run) { return first_of(run) == first; };
    counts_.over_cap += key.erase_runs([&](const Run& run) {
      if (of_first(run) && trace() != nullptr) trace()->over_cap(run);
      return of_first(run);
    });
    if (key.rare) erase_if(key.rare->expired, of_first);
  }
}

void RuleRuntime::cap_sets(KeyState& key, EventTime now, Workspace& work) {
  const Alive alive = evaluator_.alive(key, now);
  key.erase_runs([&](Run& run) {
    run.set.cut_dead(alive);
    return run.set.empty();
  });
  if (prefix_ != nfa::Prefix::kNone) {
    cut_own_prefixes(key, alive);
    if (cap_starts(key, now, alive, work)) return;
    if (partial_matches(key, now, work.walk) > max_partial_matches()) cap_listed(key, now, work);
    return;
  }
  const bool exact = (!key.rare || (key.rare->marks.starts.empty() && key.rare->marks.used.empty())) &&
                     std::all_of(key.runs.begin(), key.runs.end(), [](const Run& run) { return run.set.flat(); });
  if (exact) {
    cap_flat(key);
  } else if (partial_matches(key, now, work.walk) > max_partial_matches()) {
    cap_listed(key, now, work);
  }
}

/// Sets of first events: the oldest ones stand at their ends.
void RuleRuntime::cap_flat(KeyState& key) {
  std::uint64_t count = 0;
  for (const Run& run : key.runs) count += run.set.count();
  while (count > max_partial_matches()) {
    std::uint64_t oldest = UINT64_MAX;
    for (const Run& run : key.runs) oldest = std::min(oldest, run.set.oldest().sequence);
    key.erase_runs([&](Run& run) {
      const std::uint64_t before = run.set.count();
      run.set.cut(oldest + 1);
      count -= before - run.set.count();
      counts_.over_cap += before - run.set.count();
      return run.set.empty();
    });
  }
}

void RuleRuntime::cap_listed(KeyState& key, EventTime now, Workspace& work) {
  const Alive alive = evaluator_.alive(key, now);
  std::map<std::uint64_t, std::uint64_t> by_first;
  std::uint64_t count = 0;
  for (const SetPart& part : parts_of(key)) {
    work.walk.each(part, true, alive, [&](std::span<const Bound> bound) {
      ++by_first[bound.front().event->sequence];
      ++count;
      return true;
    });
  }
  std::uint64_t oldest_kept = 0;
  for (const auto& [first, of_first] : by_first) {
    oldest_kept = first;
    if (count <= max_partial_matches()) break;
    count -= of_first;
    counts_.over_cap += of_first;
    oldest_kept = first + 1;
  }
  Marks& marks = note_dropped(key, now);
  marks.oldest = std::max(marks.oldest, oldest_kept);
  forget_dropped(key, now, work);
}

std::uint64_t RuleRuntime::partial_matches(const KeyState& key, EventTime watermark, MatchWalk& walk) const {
  if (!evaluator_.sets()) return key.runs.size();
  const Alive alive = evaluator_.alive(key, watermark);
  std::uint64_t count = 0;
  for (const SetPart& part : parts_of(key)) count += walk.count(part, alive).count;
  return count;
}

}  // namespace cepd::engine
