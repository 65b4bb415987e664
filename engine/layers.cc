#include "engine/layers.h"

#include <algorithm>

namespace cepd::engine {

const Cell* Layers::oldest_before(const Cell& cell) {
  if (cell.floor == 0) return cell.list != nullptr ? cell.list->oldest : cell.before.get();
  const Cell* oldest = cell.before.get();
  while (const Cell* older = oldest->older(cell.floor)) oldest = older;
  return oldest;
}

bool Layers::fits(const Cell& cell) {
  if (!below(cell) || cell.floor != 0) return false;
  if (cell.next == nullptr) return true;
  const Cell& older = *cell.next;
  if (!older.layered || older.event->sequence >= cell.event->sequence) return false;
  if (cell.before == nullptr || older.before == nullptr) return cell.before == older.before;
  if (cell.list == nullptr) return older.list == nullptr && older.before == cell.before;
  // The list may have had one cell when the older one was made.
  return older.list == cell.list || (older.list == nullptr && older.before.get() == cell.list->oldest);
}

const Cell* Layers::newest_unused(SetPart part, const Alive& alive) {
  if (part.head->cut) return nullptr;
  for (const Cell* cell = part.head; cell != nullptr && alive.any_up_to(cell->newest); cell = cell->older(part.floor)) {
    if (!alive.is_used(*cell->event)) return cell;
  }
  return nullptr;
}

const Cell* Layers::oldest_first(const Cell& head, const Cell* oldest, const Alive& alive) {
  const Cell* top = newest_unused({&head}, alive);
  for (; top != nullptr && top->before != nullptr; top = newest_unused({top->before.get()}, alive)) {
    oldest = oldest_before(*top);
  }
  if (top == nullptr) return nullptr;
  for (; !counts(*oldest, alive); oldest = oldest->newer) {
    if (oldest == top) return nullptr;
  }
  return oldest;
}

bool Layers::look(const Cell& cell, const Alive& alive) {
  layers_.clear();
  if (alive.is_used(*cell.event)) return false;
  layers_.push_back({&cell, &cell, nullptr, nullptr});
  for (const Cell* top = &cell; top->before != nullptr;) {
    const Cell* oldest = oldest_before(*top);
    top = newest_unused({top->before.get(), top->floor}, alive);
    if (top == nullptr) return false;
    layers_.push_back({oldest, top, nullptr, nullptr});
  }
  std::reverse(layers_.begin(), layers_.end());
  const Cell* earlier = nullptr;
  for (Layer& layer : layers_) {
    if (earlier != nullptr) layer.first = after(layer.first, *earlier);
    for (; !counts(*layer.first, alive); layer.first = layer.first->newer) {
      if (layer.first == layer.top) return false;  // only among first events
    }
    earlier = layer.first;
  }
  return true;
}

std::span<const Bound> Layers::first() {
  path_.clear();
  for (const Layer& layer : layers_) path_.push_back({layer.first->element, layer.first->event.get()});
  return path_;
}

}  // namespace cepd::engine
