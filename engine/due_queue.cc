#include "engine/due_queue.h"

#include <algorithm>

namespace cepd::engine {

namespace {
constexpr std::size_t kWidth = 4;
}

void DueQueue::put(std::size_t slot, const Entry& entry) {
  heap_[slot] = entry;
  entry.key->due_slot = static_cast<std::uint32_t>(slot);
}

void DueQueue::up(std::size_t slot) {
  const Entry entry = heap_[slot];
  while (slot > 0 && entry.before(heap_[(slot - 1) / kWidth])) {
    put(slot, heap_[(slot - 1) / kWidth]);
    slot = (slot - 1) / kWidth;
  }
  put(slot, entry);
}

void DueQueue::down(std::size_t slot) {
  const Entry entry = heap_[slot];
  for (;;) {
    const std::size_t first = slot * kWidth + 1;
    if (first >= heap_.size()) break;
    std::size_t least = first;
    for (std::size_t child = first + 1; child < std::min(first + kWidth, heap_.size()); ++child) {
      if (heap_[child].before(heap_[least])) least = child;
    }
    if (!heap_[least].before(entry)) break;
    put(slot, heap_[least]);
    slot = least;
  }
  put(slot, entry);
}

void DueQueue::set(KeyState& key, EventTime time) {
  if (key.due_slot == UINT32_MAX) {
    if (time == kMaxTime) return;
    heap_.push_back({time, (*levels_)[key.rule], &key});
    up(heap_.size() - 1);
    return;
  }
  const std::size_t slot = key.due_slot;
  if (time == kMaxTime) {
    key.due_slot = UINT32_MAX;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (last.key == &key) return;
    put(slot, last);
  } else {
    if (heap_[slot].time == time) return;
    heap_[slot].time = time;
  }
  up(slot);
  down(slot);
}

std::span<KeyState* const> DueQueue::take(EventTime time, std::uint32_t level) {
  taken_.clear();
  while (!heap_.empty() && heap_.front().time == time && heap_.front().level == level) {
    taken_.push_back(heap_.front().key);
    set(*taken_.back(), kMaxTime);
  }
  std::sort(taken_.begin(), taken_.end(), [](const KeyState* a, const KeyState* b) {
    return a->rule != b->rule ? a->rule < b->rule : compare_keys(a->key(), b->key()) < 0;
  });
  return taken_;
}

}  // namespace cepd::engine
