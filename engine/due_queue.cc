#include "engine/due_queue.h"

#include <algorithm>

namespace cepd::engine {

void DueQueue::set(KeyState& key, EventTime time) {
  const auto placed = [](const Entry& entry, std::size_t slot) {
    entry.key->due_slot = static_cast<std::uint32_t>(slot);
  };
  const std::size_t slot = key.due_slot;
  if (slot == UINT32_MAX) {
    if (time != kMaxTime) heap_.push({time, (*levels_)[key.rule], &key}, placed);
  } else if (time == kMaxTime) {
    key.due_slot = UINT32_MAX;
    heap_.erase(slot, placed);
  } else if (heap_[slot].time != time) {
    heap_[slot].time = time;
    heap_.moved(slot, placed);
  }
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
