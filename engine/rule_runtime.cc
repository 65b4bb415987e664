#include "engine/rule_runtime.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/after_match.h"

namespace cepd::engine {

namespace plan = dsl::plan;

namespace {

/// So many runs may be looked at for each match to find those that it and earlier ones have left without use.
constexpr std::size_t kRunsPerMatch = 2;
/// What completes together is listed up to so many; of more, only what is taken is looked for.
constexpr std::uint64_t kFewMatches = 8;
/// How many cells are looked at to count what the policy drops.
constexpr std::size_t kCountedCells = 256;

/// Only the matches through its cell.
bool alone(const Completed& completed) { return !completed.whole || completed.cell->next == nullptr; }

}  // namespace

RuleRuntime::RuleRuntime(const nfa::Network& network, const nfa::Prefixes& prefixes, std::uint32_t index,
                         const EngineOptions& options)
    : evaluator_(network, index, options,
                 prefixes.of_rule(index) == nfa::Prefix::kNone ? nullptr : &prefixes[prefixes.of_rule(index)]),
      prefixes_(prefixes),
      index_(index),
      prefix_(prefixes.of_rule(index)) {}

void RuleRuntime::handle(KeyState& key, const Offer& offer, Workspace& work) {
  if (trace() != nullptr) trace()->event(key.key(), offer);
  work.joining = offer.joins_prefix ? offer.event()->sequence : 0;
  evaluator_.advance(key, offer, work.completed, work.outcomes, work.scratch);
  const EventTime now = offer.event()->time;
  finish(key, now, work);
  if (offer.joins_prefix) {
    note_own(key);  // the lane counts when the event is in the prefixes
  } else {
    keep_under_cap(key, now, work);
  }
  forget_marks_of_nothing(key, now, work);
  work.clear();
}

void RuleRuntime::fire(KeyState& key, EventTime now, Workspace& work) {
  if (trace() != nullptr) trace()->deadline(key.key(), now);
  evaluator_.expire(key, now, work.completed, work.expired);
  finish(key, now, work);
  if (evaluator_.facts().limit && key.rare) {
    for (auto* acted : {&key.rare->acted, &key.rare->acted_on_timeout}) {
      while (!acted->empty() && saturating_add(acted->front(), rule().limit->per) <= now) acted->pop_front();
    }
  }
  forget_dropped(key, now, work);
  forget_marks_of_nothing(key, now, work);
  work.clear();
}

EventTime RuleRuntime::due(const KeyState& key) const {
  EventTime due = key.runs_due;
  if (key.runs.empty()) {
    const bool marked = key.rare && !key.rare->marks.empty();
    due = marked ? key.marked_until : kMaxTime;
  }
  if (!evaluator_.facts().limit || !key.rare) return due;
  for (const auto* acted : {&key.rare->acted, &key.rare->acted_on_timeout}) {
    if (!acted->empty()) due = std::min(due, saturating_add(acted->front(), rule().limit->per));
  }
  return due;
}

bool RuleRuntime::take_over(KeyState& key, EventTime watermark) const {
  const bool sets = key.sets;
  evaluator_.take_over(key, watermark);
  bool changed = sets != key.sets;
  if (!rule().on_timeout && key.forget_timeouts()) changed = true;
  // The times that a LIMIT counted go with it.
  if (rule().limit || !key.rare || (key.rare->acted.empty() && key.rare->acted_on_timeout.empty())) return changed;
  key.rare->acted.clear();
  key.rare->acted_on_timeout.clear();
  return true;
}

/// HAVING, AFTER MATCH, LIMIT, in this order; then time-outs of what is left of the expired runs.
void RuleRuntime::finish(KeyState& key, EventTime now, Workspace& work) {
  if (!work.completed.empty()) {
    if (!report_in_order(key, now, work) && !report_preferred(key, now, work)) report_listed(key, now, work);
    forget_dropped(key, now, work);
  }
  if (evaluator_.facts().on_timeout) report_timeouts(key, work);
}

/// Where the complete matches can be visited in the order in which they are taken: visits those that may be. False:
/// they cannot.
bool RuleRuntime::report_in_order(KeyState& key, EventTime now, Workspace& work) {
  const plan::Policy policy = evaluator_.facts().policy;
  const Completed& completed = work.completed.front();
  if (!evaluator_.sets() || work.completed.size() > 1 || !alone(completed) || !Layers::below(*completed.cell)) {
    return false;
  }
  if (policy != plan::Policy::kNoSkip &&
      (evaluator_.facts().having || policy == plan::Policy::kSkipToFirst || policy == plan::Policy::kSkipToLast)) {
    return false;
  }
  const Alive alive = evaluator_.alive(key, now);
  if (!work.layers.look(*completed.cell, alive)) return true;
  if (policy == plan::Policy::kNoSkip) {
    work.layers.each(alive, [&](std::span<const Bound> bound) {
      if (having_holds(key, bound, work)) {
        report_match(key, MatchKind::kMatch, bound, completed.time, work);
      } else {
        ++counts_.by_having;
      }
      return true;
    });
    return true;
  }
  const MatchWalk::Counted complete = count_complete(alive, work);
  std::uint64_t taken = 0;
  if (policy == plan::Policy::kSkipToNext) {
    work.layers.each(alive, [&](std::span<const Bound> bound) {
      ++taken;
      drop(key, bound, now, work);
      report_match(key, MatchKind::kMatch, bound, completed.time, work);
      return false;
    });
  } else {
    // All of them hold the event of the cell.
    const std::span<const Bound> bound = work.layers.first();
    ++taken;
    drop(key, bound, now, work);
    report_match(key, MatchKind::kMatch, bound, completed.time, work);
  }
  count_dropped(complete, taken);
  return true;
}

/// Where the policy takes few of many complete matches: looks for these. False: it is not so.
bool RuleRuntime::report_preferred(KeyState& key, EventTime now, Workspace& work) {
  const plan::Policy policy = evaluator_.facts().policy;
  if (!evaluator_.sets() || evaluator_.facts().having) return false;
  if (policy != plan::Policy::kConsume && policy != plan::Policy::kSkipPastLast) return false;
  std::uint64_t most = 0;
  for (const Completed& completed : work.completed) most += alone(completed) ? completed.cell->count : kFewMatches + 1;
  if (most <= kFewMatches) return false;
  const MatchWalk::Counted complete = count_complete(evaluator_.alive(key, now), work);
  Marks& marks = note_dropped(key, now);
  for (std::uint64_t taken = 0;; ++taken) {
    const Alive alive = evaluator_.alive(key, now);
    work.bound.clear();
    EventTime time{};
    for (const Completed& completed : work.completed) {
      const auto bound = work.preferred.find(*completed.cell, completed.whole, alive);
      if (bound.empty() || (!work.bound.empty() && !taken_before(bound, work.bound))) continue;
      work.bound.assign(bound.begin(), bound.end());
      time = completed.time;
    }
    if (work.bound.empty()) {
      count_dropped(complete, taken);
      return true;
    }
    mark_dropped(rule(), work.bound, marks);
    report_match(key, MatchKind::kMatch, work.bound, time, work);
  }
}

bool RuleRuntime::having_holds(const KeyState& key, std::span<const Bound> bound, Workspace& work) {
  return !evaluator_.facts().having ||
         engine::having_holds(evaluator_.network(), rule(), key.key(), bound, work.scratch, errors());
}

MatchWalk::Counted RuleRuntime::count_complete(const Alive& alive, Workspace& work) const {
  MatchWalk::Counted sum;
  for (const Completed& completed : work.completed) {
    const Cell& cell = *completed.cell;
    MatchWalk::Counted counted;
    if (!alone(completed)) {
      counted = work.walk.count({&cell}, alive, kCountedCells);
    } else if (!alive.is_used(*cell.event)) {
      if (cell.before != nullptr) {
        counted = work.walk.count({cell.before.get(), cell.floor}, alive, kCountedCells);
      } else {
        counted.count = alive.start(Start::of(*cell.event)) ? 1 : 0;
      }
    }
    sum.count = std::min(sum.count + counted.count, kManyMatches);
    sum.all = sum.all && counted.all;
  }
  return sum;
}

void RuleRuntime::count_dropped(const MatchWalk::Counted& complete, std::uint64_t taken) {
  if (complete.count > taken) counts_.by_policy = std::min(counts_.by_policy + complete.count - taken, kManyMatches);
  counts_.more_by_policy = counts_.more_by_policy || !complete.all;
}

/// The complete matches, one by one.
void RuleRuntime::list(const KeyState& key, EventTime now, Workspace& work) {
  const Alive alive = evaluator_.alive(key, now);
  work.bound.clear();
  work.candidates.clear();
  work.ends.clear();
  for (const Completed& completed : work.completed) {
    work.walk.each({completed.cell.get()}, completed.whole, alive, [&](std::span<const Bound> bound) {
      work.bound.insert(work.bound.end(), bound.begin(), bound.end());
      work.ends.emplace_back(work.bound.size(), completed.time);
      return true;
    });
  }
  std::size_t begin = 0;
  for (const auto& [end, time] : work.ends) {
    work.candidates.push_back({std::span(work.bound).subspan(begin, end - begin), time});
    begin = end;
  }
}

void RuleRuntime::report_listed(KeyState& key, EventTime now, Workspace& work) {
  list(key, now, work);
  counts_.by_having += std::erase_if(work.candidates, [&](const Candidate& candidate) {
    if (trace() != nullptr) trace()->complete(candidate);
    if (having_holds(key, candidate.bound, work)) return false;
    if (trace() != nullptr) trace()->by_having(candidate);
    return true;
  });
  const auto take = [&](const Candidate& candidate) {
    drop(key, candidate.bound, now, work);
    report_match(key, MatchKind::kMatch, candidate.bound, candidate.time, work);
  };
  counts_.by_policy += take_matches(rule(), work.candidates, std::ref(take), trace());
}

/// What the policy takes from the partial matches because of a match that was taken.
void RuleRuntime::drop(KeyState& key, std::span<const Bound> taken, EventTime now, Workspace& work) {
  if (rule().policy == plan::Policy::kNoSkip) return;
  if (evaluator_.sets()) {
    if (!key.runs.empty() || work.joining != 0 || waits_in_prefix(key)) {
      mark_dropped(rule(), taken, note_dropped(key, now));
    }
    return;
  }
  const auto gone = [&](const Run& run) {
    const bool dropped = drops(rule(), taken, run.bound);
    if (dropped && trace() != nullptr) trace()->by_policy(run.bound, taken);
    return dropped;
  };
  key.erase_runs(gone);
  erase_if(work.expired, gone);
}

/// Lets go of sets that hold only what was dropped, and of marks that say nothing any more. They do no harm until then:
/// where there are many runs it is done once for many matches, so that a match costs no look at all of them.
void RuleRuntime::forget_dropped(KeyState& key, EventTime now, Workspace& work) const {
  if (!key.rare || key.rare->marks.empty()) return;
  Marks& marks = key.rare->marks;
  const bool all_gone = rule().policy == plan::Policy::kSkipPastLast;
  if (!all_gone && ++marks.asked * kRunsPerMatch < key.runs.size()) return;
  marks.asked = 0;
  const Alive alive = evaluator_.alive(key, now);
  key.erase_runs([&](Run& run) {
    run.set.cut_dead(alive);
    return run.set.empty();
  });
  cut_own_prefixes(key, alive);
  if (key.runs.empty() && work.joining == 0 && !waits_in_prefix(key)) {
    marks = {};
  } else if (marks.size() >= marks.forget_at) {
    forget_marks(key, alive, work);
  }
}

/// Keeps the marks of events that some partial match still holds.
void RuleRuntime::forget_marks(KeyState& key, const Alive& alive, Workspace& work) const {
  Marks& marks = key.rare->marks;
  Sequences starts, used;
  // The event at hand is held by the next one to look.
  if (marks.used.contains(work.joining)) used.insert(work.joining);
  if (marks.starts.contains(work.joining)) starts.insert(work.joining);
  const std::size_t cells = work.walk.each_cell(parts_of(key), alive, [&](const Cell& cell) {
    if (cell.event == nullptr) return;
    const std::uint64_t sequence = cell.event->sequence;
    if (marks.used.contains(sequence)) used.insert(sequence);
    if (cell.before == nullptr && marks.starts.contains(sequence)) starts.insert(sequence);
  });
  marks.starts = std::move(starts);
  marks.used = std::move(used);
  marks.forget_at = 64 + 2 * marks.size() + cells;
}

void RuleRuntime::report_match(KeyState& key, MatchKind kind, std::span<const Bound> bound, EventTime time,
                               Workspace& work) {
  const bool timeout = kind == MatchKind::kTimeout;
  bool suppressed = false;
  if (evaluator_.facts().limit) {
    KeyState::Rare& rare = key.rarely();
    suppressed = !within_limit(*rule().limit, time, timeout ? rare.acted_on_timeout : rare.acted);
  }
  ++(timeout ? counts_.timeouts : counts_.matches);
  if (suppressed) ++counts_.suppressed;
  MatchParts parts{&evaluator_.network(), index_, kind, key.entry, bound, time, suppressed, &errors()};
  if (trace() == nullptr) return work.report(MatchView(parts));
  MatchPtr match = make_match(parts);
  trace()->reported(bound, *match);
  work.report(MatchView(std::move(match), index_));
}

/// A first event leaves a time-out when the last of its partial matches was ended by a bound; of all that bounds ended,
/// the one that got furthest is reported.
void RuleRuntime::report_timeouts(KeyState& key, Workspace& work) {
  if (work.expired.empty() && (!key.rare || key.rare->expired.empty())) return;
  const auto first_of = [](const Run& run) { return run.set.newest().sequence; };
  Runs& remembered = key.rarely().expired;
  std::set<std::uint64_t> ended_now;
  for (Run& run : work.expired) {
    if (run.first_completed) continue;
    ended_now.insert(first_of(run));
    remembered.push_back(std::move(run));
  }
  std::set<std::uint64_t> live;
  for (const Run& run : key.runs) live.insert(first_of(run));
  std::map<std::uint64_t, std::vector<const Run*>> over;
  for (const Run& run : remembered) {
    if (live.count(first_of(run)) == 0) over[first_of(run)].push_back(&run);
  }
  for (const auto& [first, runs] : over) {
    if (ended_now.count(first) == 0) continue;  // the last one was dropped
    EventTime time = kMinTime;
    for (const Run* run : runs) time = std::max(time, run->due);
    const Run& furthest = Evaluator::furthest(runs, evaluator_.automaton());
    report_match(key, MatchKind::kTimeout, furthest.bound, time, work);
  }
  erase_if(remembered, [&](const Run& run) { return over.count(first_of(run)) != 0; });
}

RuleTally& RuleTally::operator+=(const RuleTally& other) {
  tested += other.tested;
  time_ns += other.time_ns;
  matches += other.matches;
  timeouts += other.timeouts;
  by_having += other.by_having;
  by_policy += other.by_policy;
  more_by_policy = more_by_policy || other.more_by_policy;
  suppressed += other.suppressed;
  over_cap += other.over_cap;
  missing_key += other.missing_key;
  expression_errors += other.expression_errors;
  return *this;
}

}  // namespace cepd::engine
