#include "engine/preferred.h"

#include <algorithm>

namespace cepd::engine {

/// Of two matches, by their last cells. Null is no match.
const Cell* Preferred::better(const Cell* a, const Cell* b) const {
  if (a == nullptr || b == nullptr) return a == nullptr ? b : a;
  const auto best = [&](const Cell* cell) -> const Best& { return best_.find(cell)->second; };
  if (best(a).start != best(b).start) return best(a).start < best(b).start ? a : b;
  if (best(a).length != best(b).length) return best(a).length > best(b).length ? a : b;
  // Where they differ first is found last.
  const Cell* by_position = nullptr;
  const Cell* by_element = nullptr;
  for (const Cell *x = a, *y = b; x != y; x = best(x).before, y = best(y).before) {
    if (x->event->sequence != y->event->sequence) by_position = x->event->sequence < y->event->sequence ? a : b;
    if (x->element != y->element) by_element = x->element < y->element ? a : b;
  }
  return by_position != nullptr ? by_position : by_element != nullptr ? by_element : a;
}

Preferred::Best Preferred::through(const Cell& cell, const Alive& alive) const {
  Best best;
  if (cell.event == nullptr || alive.is_used(*cell.event)) return best;
  if (cell.before == nullptr) {
    if (!alive.start(Start::of(*cell.event))) return best;
    best.start = cell.event->sequence;
    best.length = 1;
  } else if (const Cell* before = best_of(cell.before.get()); before != nullptr) {
    const Best& earlier = best_.find(before)->second;
    best.before = before;
    best.start = earlier.start;
    best.length = earlier.length + 1;
  }
  return best;
}

/// Fills best_ for the cells of the part and all below them.
bool Preferred::search(SetPart part, const Alive& alive) {
  open_.assign(1, part);
  const auto known = [&](const Cell* cell) { return cell == nullptr || best_.contains(cell); };
  while (!open_.empty()) {
    const auto [cell, floor] = open_.back();
    if (known(cell)) {
      open_.pop_back();
      continue;
    }
    const Cell* older = cell->older(floor);
    if (!alive.any_up_to(cell->newest)) {
      best_[cell] = {};
    } else if (!known(cell->before.get())) {
      open_.push_back({cell->before.get(), cell->floor});
    } else if (!known(older)) {
      open_.push_back({older, floor});
    } else {
      const Best best = through(*cell, alive);
      best_[cell] = best;
      const Cell* own = cell->event == nullptr ? best_of(cell->before.get()) : best.length > 0 ? cell : nullptr;
      const Cell* of_list = better(own, best_of(older));
      best_[cell].of_list = of_list;
    }
  }
  return best_of(part.head) != nullptr;
}

std::span<const Bound> Preferred::find(const Cell& head, bool whole, const Alive& alive) {
  best_.clear();
  path_.clear();
  const Cell* last = nullptr;
  if (whole) {
    if (search({&head}, alive)) last = best_of(&head);
  } else {
    if (head.before != nullptr) search({head.before.get(), head.floor}, alive);
    const Best best = through(head, alive);
    best_[&head] = best;
    if (best.length > 0) last = &head;
  }
  for (; last != nullptr; last = best_.find(last)->second.before) path_.push_back({last->element, last->event.get()});
  std::reverse(path_.begin(), path_.end());
  return path_;
}

}  // namespace cepd::engine
