#include "tests/plain/after_match.h"

#include <algorithm>

namespace cepd::plain {

namespace plan = dsl::plan;

namespace {

/// Both lists are in sequence order.
bool share_an_event(const std::vector<Bound>& a, const std::vector<Bound>& b) {
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

std::uint64_t sequence_of(const std::vector<Bound>& bound, plan::ElementId element, bool first) {
  std::uint64_t found = 0;
  for (const Bound& each : bound) {
    if (each.element != element) continue;
    found = each.event->sequence;
    if (first) break;
  }
  return found;  // 0 when nothing is bound to it, which the check refuses: then nothing started before it
}

bool drops(const plan::Rule& rule, const std::vector<Bound>& taken, const std::vector<Bound>& bound) {
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

}  // namespace

Taken take_matches(const plan::Rule& rule, std::vector<Candidate> completed, std::vector<Run>& runs,
                   std::vector<Run>& expired) {
  std::sort(completed.begin(), completed.end(),
            [](const Candidate& a, const Candidate& b) { return taken_before(a.bound, b.bound); });
  completed.erase(std::unique(completed.begin(), completed.end(), same_match), completed.end());

  Taken out;
  for (Candidate& candidate : completed) {
    const bool dropped = std::any_of(out.matches.begin(), out.matches.end(), [&](const Candidate& earlier) {
      return drops(rule, earlier.bound, candidate.bound);
    });
    if (dropped) {
      ++out.dropped;
      continue;
    }
    for (auto* partial : {&runs, &expired}) {
      std::erase_if(*partial, [&](const Run& run) { return drops(rule, candidate.bound, run.bound); });
    }
    out.matches.push_back(std::move(candidate));
  }
  return out;
}

bool within_limit(const plan::Limit& limit, EventTime time, std::deque<EventTime>& acted) {
  while (!acted.empty() && acted.front() <= saturating_add(time, -limit.per)) acted.pop_front();
  if (acted.size() >= limit.count) return false;
  acted.push_back(time);
  return true;
}

}  // namespace cepd::plain
