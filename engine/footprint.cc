#include "engine/footprint.h"

#include <boost/unordered/unordered_flat_set.hpp>
#include <vector>

namespace cepd::engine {
namespace {

std::size_t bytes_of_cells(std::vector<SetPart> parts) {
  std::size_t bytes = 0;
  boost::unordered_flat_set<const Event*> events;
  MatchWalk().each_cell(std::move(parts), Alive{}, [&](const Cell& cell) {
    bytes += sizeof(Cell);
    if (cell.event != nullptr && events.insert(cell.event.get()).second) bytes += cell.event->bytes();
  });
  return bytes;
}

}  // namespace

std::size_t bytes_of(const PrefixState& state) {
  return sizeof(PrefixState) + bytes_of_cells({{state.set.head().get()}});
}

std::size_t bytes_of(const KeyState& state) {
  std::size_t bytes = sizeof(KeyState);
  std::vector<SetPart> parts;
  const auto add_runs = [&](const Runs& runs) {
    if (runs.size() > 1) bytes += runs.capacity() * sizeof(Run);  // the first one is part of its owner
    for (const Run& run : runs) parts.push_back({run.set.head().get()});
  };
  add_runs(state.runs);
  if (state.rare) {
    bytes += sizeof(KeyState::Rare);
    add_runs(state.rare->expired);
  }
  return bytes + bytes_of_cells(std::move(parts));
}

}  // namespace cepd::engine
