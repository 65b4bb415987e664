#include "engine/run.h"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <tuple>

namespace cepd::engine {

bool taken_before(std::span<const Bound> a, std::span<const Bound> b) {
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

bool Run::same_place(const Run& other) const {
  const auto same_event = [](const Bound& a, const Bound& b) {
    return a.element == b.element && a.event->sequence == b.event->sequence;
  };
  return state == other.state && count == other.count && members == other.members && branches == other.branches &&
         violated == other.violated && ended == other.ended && groups == other.groups &&
         std::equal(bound.begin(), bound.end(), other.bound.begin(), other.bound.end(), same_event);
}

std::uint64_t Run::place_hash() const {
  std::size_t hash = 0;
  boost::hash_combine(hash, static_cast<std::size_t>(state));
  boost::hash_combine(hash, count);
  boost::hash_combine(hash, branches);
  boost::hash_combine(hash, violated);
  for (const Bound& each : bound) boost::hash_combine(hash, each.event->sequence);
  return hash;
}

namespace {

/// Equal runs stand together in this order.
int compare(const Run& a, const Run& b) {
  const auto order = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
  const auto facts = [](const Run& run) {
    return std::tie(run.state, run.count, run.members, run.branches, run.violated, run.ended);
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

void remove_equal(Runs& runs) {
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return compare(a, b) < 0; });
  runs.erase(std::unique(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return compare(a, b) == 0; }),
             runs.end());
}

}  // namespace cepd::engine
