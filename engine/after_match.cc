#include "engine/after_match.h"

#include <algorithm>

namespace cepd::engine {

namespace plan = dsl::plan;

namespace {

/// Both lists are in sequence order.
bool share_an_event(std::span<const Bound> a, std::span<const Bound> b) {
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    if (i->event->sequence == j->event->sequence) return true;
    if (i->event->sequence < j->event->sequence) {
      ++i;
    } else {
      ++j;
    }
  }
  return false;
}

bool same_match(const Candidate& a, const Candidate& b) {
  return !taken_before(a.bound, b.bound) && !taken_before(b.bound, a.bound);
}

std::uint64_t sequence_of(std::span<const Bound> bound, plan::ElementId element, bool first) {
  std::uint64_t found = 0;
  for (const Bound& each : bound) {
    if (each.element != element) continue;
    found = each.event->sequence;
    if (first) break;
  }
  return found;  // 0 when nothing is bound to it, which the check refuses: then nothing started before it
}

}  // namespace

bool drops(const plan::Rule& rule, std::span<const Bound> taken, std::span<const Bound> bound) {
  const std::uint64_t start = bound.front().event->sequence;
  switch (rule.policy) {
    case plan::Policy::kConsume:
      return share_an_event(taken, bound);
    case plan::Policy::kNoSkip:
      return false;
    case plan::Policy::kSkipPastLast:
      return start <= taken.back().event->sequence;
    case plan::Policy::kSkipToNext:
      return start == taken.front().event->sequence;
    case plan::Policy::kSkipToFirst:
      return start < sequence_of(taken, rule.policy_element, true);
    case plan::Policy::kSkipToLast:
      return start < sequence_of(taken, rule.policy_element, false);
  }
  return false;
}

void mark_dropped(const plan::Rule& rule, std::span<const Bound> taken, Marks& marks) {
  switch (rule.policy) {
    case plan::Policy::kConsume:
      for (const Bound& bound : taken) marks.used.insert(bound.event->sequence);
      break;
    case plan::Policy::kNoSkip:
      break;
    case plan::Policy::kSkipPastLast:
      marks.oldest = std::max(marks.oldest, taken.back().event->sequence + 1);
      break;
    case plan::Policy::kSkipToNext:
      marks.starts.insert(taken.front().event->sequence);
      break;
    case plan::Policy::kSkipToFirst:
      marks.oldest = std::max(marks.oldest, sequence_of(taken, rule.policy_element, true));
      break;
    case plan::Policy::kSkipToLast:
      marks.oldest = std::max(marks.oldest, sequence_of(taken, rule.policy_element, false));
      break;
  }
}

std::size_t take_matches(const plan::Rule& rule, std::vector<Candidate>& completed,
                         const std::function<void(const Candidate&)>& take, Trace* trace) {
  if (completed.size() == 1) {
    take(completed.front());
    return 0;
  }
  if (!completed.empty()) {
    std::sort(completed.begin(), completed.end(),
              [](const Candidate& a, const Candidate& b) { return taken_before(a.bound, b.bound); });
    completed.erase(std::unique(completed.begin(), completed.end(), same_match), completed.end());
  }
  boost::container::small_vector<const Candidate*, 4> taken;
  std::size_t dropped = 0;
  for (const Candidate& candidate : completed) {
    if (rule.policy != plan::Policy::kNoSkip) {
      const auto by = std::find_if(taken.begin(), taken.end(), [&](const Candidate* earlier) {
        return drops(rule, earlier->bound, candidate.bound);
      });
      if (by != taken.end()) {
        if (trace != nullptr) trace->by_policy(candidate.bound, (*by)->bound);
        ++dropped;
        continue;
      }
      taken.push_back(&candidate);
    }
    take(candidate);
  }
  return dropped;
}

bool within_limit(const plan::Limit& limit, EventTime time, Times& acted) {
  while (!acted.empty() && acted.front() <= saturating_add(time, -limit.per)) acted.pop_front();
  if (acted.size() >= limit.count) return false;
  acted.push_back(time);
  return true;
}

}  // namespace cepd::engine
