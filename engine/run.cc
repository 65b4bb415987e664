#include "engine/run.h"

#include <algorithm>
#include <tuple>

namespace cepd::engine {

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

/// Equal runs stand together in this order.
int compare(const Run& a, const Run& b) {
  const auto order = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
  const auto facts = [](const Run& run) {
    return std::tie(run.state, run.count, run.members, run.branches, run.violated, run.adjacent, run.ended);
  };
  if (const int by = order(a.bound.size(), b.bound.size()); by != 0) return by;
  if (const int by = order(facts(a), facts(b)); by != 0) return by;
  for (std::size_t i = 0; i < a.groups.size(); ++i) {
    if (const int by = order(a.groups[i].repeats, b.groups[i].repeats); by != 0) return by;
    if (const int by = order(a.groups[i].start, b.groups[i].start); by != 0) return by;
  }
  for (std::size_t i = 0; i < a.bound.size(); ++i) {
    if (const int by = order(a.bound[i].event->sequence, b.bound[i].event->sequence); by != 0) return by;
    if (const int by = order(a.bound[i].element, b.bound[i].element); by != 0) return by;
  }
  return 0;
}

}  // namespace

void remove_equal(std::vector<Run>& runs) {
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return compare(a, b) < 0; });
  runs.erase(std::unique(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return compare(a, b) == 0; }),
             runs.end());
}

}  // namespace cepd::engine
