#include "engine/footprint.h"

#include <boost/unordered/unordered_flat_set.hpp>
#include <vector>

namespace cepd::engine {

std::size_t bytes_of(const KeyState& state) {
  std::size_t bytes = sizeof(KeyState);
  boost::unordered_flat_set<const void*> seen;
  std::vector<const Cell*> open;
  const auto add_runs = [&](const Runs& runs) {
    if (runs.size() > 1) bytes += runs.capacity() * sizeof(Run);  // the first one is part of its owner
    for (const Run& run : runs) open.push_back(run.set.head().get());
  };
  add_runs(state.runs);
  if (state.rare) {
    bytes += sizeof(KeyState::Rare);
    add_runs(state.rare->expired);
  }
  while (!open.empty()) {
    const Cell* cell = open.back();
    open.pop_back();
    if (cell == nullptr || !seen.insert(cell).second) continue;
    bytes += sizeof(Cell);
    if (cell->event != nullptr && seen.insert(cell->event.get()).second) bytes += cell->event->bytes();
    open.push_back(cell->before.get());
    open.push_back(cell->next.get());
  }
  return bytes;
}

}  // namespace cepd::engine
