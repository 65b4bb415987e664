#pragma once
/// Which keys have not been touched for longest, roughly: a hand goes round over all of them and passes by those that
/// were touched since it last came by (the second-chance algorithm, Corbató 1968).

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/key_state.h"

namespace cepd::engine {

class KeyClock {
 public:
  void add(KeyEntry& entry) {
    if (free_.empty()) {
      entry.clock_slot_ = static_cast<std::uint32_t>(slots_.size());
      slots_.push_back(&entry);
      return;
    }
    entry.clock_slot_ = free_.back();
    free_.pop_back();
    slots_[entry.clock_slot_] = &entry;
  }
  /// Requires that it is there. No other entry's memory is looked at.
  void erase(KeyEntry& entry) {
    slots_[entry.clock_slot_] = nullptr;
    free_.push_back(entry.clock_slot_);
    entry.clock_slot_ = UINT32_MAX;
  }
  std::size_t slots() const { return slots_.size(); }
  std::size_t size() const { return slots_.size() - free_.size(); }

  /// The entry at the next slot, null where that is free or was touched.
  KeyEntry* next() {
    if (slots_.empty()) return nullptr;
    if (hand_ >= slots_.size()) hand_ = 0;
    KeyEntry* entry = slots_[hand_++];
    if (entry == nullptr || !entry->touched) return entry;
    entry->touched = false;
    return nullptr;
  }

 private:
  std::vector<KeyEntry*> slots_;  // null: free
  std::vector<std::uint32_t> free_;
  std::size_t hand_ = 0;
};

}  // namespace cepd::engine
