#include "engine/due_queue.h"

#include <algorithm>

namespace cepd::engine {

void DueQueue::set(KeyPart& key, EventTime time) {
  const auto placed = [](const Entry& entry, std::size_t slot) {
    entry.key->due_slot = static_cast<std::uint32_t>(slot);
  };
  const std::size_t slot = key.due_slot;
  if (slot == UINT32_MAX) {
    if (time != kMaxTime) heap_.push({time, key.level, &key}, placed);
  } else if (time == kMaxTime) {
    key.due_slot = UINT32_MAX;
    heap_.erase(slot, placed);
  } else if (heap_[slot].time != time) {
    heap_[slot].time = time;
    heap_.moved(slot, placed);
  }
}

std::span<KeyPart* const> DueQueue::take(EventTime time, std::uint32_t level) {
  taken_.clear();
  while (!heap_.empty() && heap_.front().time == time && heap_.front().level == level) {
    taken_.push_back(heap_.front().key);
    set(*taken_.back(), kMaxTime);
  }
  std::sort(taken_.begin(), taken_.end(), [](const KeyPart* a, const KeyPart* b) {
    return a->owner != b->owner ? a->owner < b->owner : compare_keys(a->key(), b->key()) < 0;
  });
  return taken_;
}

}  // namespace cepd::engine
