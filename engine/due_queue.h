#pragma once
/// Deadlines by event time: the watermark costs only what is due. Each part of a key has one entry, for its earliest
/// deadline, and leaves none behind when it is gone.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/key_state.h"
#include "engine/slot_heap.h"

namespace cepd::engine {

class DueQueue {
 public:
  /// Moves the key's deadline to `time`; kMaxTime: it has none.
  void set(KeyPart& key, EventTime time);
  /// The same, but only where that is earlier than what it has.
  void set_earlier(KeyPart& key, EventTime time) {
    if (key.due_slot == UINT32_MAX ? time != kMaxTime : time < heap_[key.due_slot].time) set(key, time);
  }

  /// kMaxTime: it has none.
  EventTime time_of(const KeyPart& key) const {
    return key.due_slot == UINT32_MAX ? kMaxTime : heap_[key.due_slot].time;
  }

  std::optional<EventTime> earliest() const {
    if (heap_.empty()) return std::nullopt;
    return heap_.front().time;
  }
  /// Takes what is due at the earliest time on `level`, in the order of owners and then of keys. Requires that
  /// those of lower levels at that time are taken; that of higher levels stays because what the lower ones make may
  /// still end it. The span holds until the next call.
  std::span<KeyPart* const> take(EventTime time, std::uint32_t level);

 private:
  struct Entry {
    EventTime time;
    std::uint32_t level;
    KeyPart* key;
    bool before(const Entry& other) const { return time != other.time ? time < other.time : level < other.level; }
  };
  std::vector<KeyPart*> taken_;
  SlotHeap<Entry> heap_;  // each key knows its slot
};

}  // namespace cepd::engine
