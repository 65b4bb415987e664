#include "tests/plain/run.h"

#include <algorithm>
#include <tuple>

namespace cepd::plain {

bool taken_before(const std::vector<Bound>& a, const std::vector<Bound>& b) {
  const auto sequence = [](const Bound& bound) { return bound.event->sequence; };
  if (sequence(a.front()) != sequence(b.front())) return sequence(a.front()) < sequence(b.front());
  if (a.size() != b.size()) return a.size() > b.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (sequence(a[i]) != sequence(b[i])) return sequence(a[i]) < sequence(b[i]);
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].element != b[i].element) return a[i].element < b[i].element;
  }
  return false;
}

namespace {

/// Some order in which equal runs stand together.
bool before(const Run& a, const Run& b) {
  const auto facts = [](const Run& run) {
    return std::make_tuple(run.state, run.count, run.members, run.branches, run.violated, run.adjacent, run.ended,
                           run.bound.size());
  };
  if (facts(a) != facts(b)) return facts(a) < facts(b);
  for (std::size_t i = 0; i < a.groups.size(); ++i) {
    const auto group = [&](const Run& run) { return std::make_tuple(run.groups[i].repeats, run.groups[i].start); };
    if (group(a) != group(b)) return group(a) < group(b);
  }
  for (std::size_t i = 0; i < a.bound.size(); ++i) {
    const auto bound = [&](const Run& run) {
      return std::make_tuple(run.bound[i].event->sequence, run.bound[i].element);
    };
    if (bound(a) != bound(b)) return bound(a) < bound(b);
  }
  return false;
}

}  // namespace

void remove_equal(std::vector<Run>& runs) {
  std::sort(runs.begin(), runs.end(), before);
  const auto equal = [](const Run& a, const Run& b) { return !before(a, b) && !before(b, a); };
  runs.erase(std::unique(runs.begin(), runs.end(), equal), runs.end());
}

}  // namespace cepd::plain
