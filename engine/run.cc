#include "engine/run.h"

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

}  // namespace cepd::engine
