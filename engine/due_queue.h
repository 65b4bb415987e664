#pragma once
/// Deadlines by event time: the watermark costs only what is due. Each part of a key has one entry, for its earliest
/// deadline, and leaves none behind when it is gone.
///
/// Most deadlines are as far away as a WITHIN is long, so that they come in order: those of each length stand in a line
/// of their own, where a new one goes to the end and the first is the next to be due. What fits in no line stands in a
/// heap.

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
    if (key.due_slot == UINT32_MAX ? time != kMaxTime : time < entry_of(key).time) set(key, time);
  }

  /// How many entries it has, those that are gone and not forgotten yet included.
  std::size_t size() const;
  /// kMaxTime: there is none.
  EventTime earliest() const { return earliest_; }
  /// Takes what is due at the earliest time on `level`, in the order of owners and then of keys. Requires that
  /// those of lower levels at that time are taken; that of higher levels stays because what the lower ones make may
  /// still end it. The span holds until the next call.
  std::span<KeyPart* const> take(EventTime time, std::uint32_t level);

 private:
  struct Entry {
    EventTime time;
    std::uint32_t level;
    KeyPart* key;  ///< in a line, null: it is gone
    bool before(const Entry& other) const { return time != other.time ? time < other.time : level < other.level; }
  };
  /// In order.
  struct Line {
    std::vector<Entry> entries;  ///< those before `begin` are gone; that one and the last are not
    std::size_t begin = 0;
    std::size_t gone = 0;      ///< how many, those before `begin` included
    std::uint32_t number = 0;  ///< of the first of `entries`, counted on and on

    bool empty() const { return begin == entries.size(); }
    const Entry& front() const { return entries[begin]; }
  };
  // KeyPart::due_slot: the line, kLines for the heap, and the number or slot there.
  static constexpr unsigned kSlotBits = 28;
  static constexpr std::uint32_t kSlotMask = (1U << kSlotBits) - 1, kLines = 3;

  static std::uint32_t line_of(const KeyPart& key) { return key.due_slot >> kSlotBits; }
  static std::size_t place_in(const Line& line, const KeyPart& key) { return (key.due_slot - line.number) & kSlotMask; }
  static std::uint32_t slot_in(std::uint32_t line, std::uint32_t number) {
    return line << kSlotBits | (number & kSlotMask);
  }
  const Entry& entry_of(const KeyPart& key) const {
    if (line_of(key) == kLines) return heap_[key.due_slot & kSlotMask];
    const Line& line = lines_[line_of(key)];
    return line.entries[place_in(line, key)];
  }
  void add(const Entry& entry);
  void erase(KeyPart& key);
  EventTime find_earliest() const;
  void tidy(std::uint32_t number);

  EventTime earliest_ = kMaxTime;  // asked for at every event
  std::vector<KeyPart*> taken_;
  std::vector<Line> lines_;
  SlotHeap<Entry> heap_;  // each key knows its slot
};

}  // namespace cepd::engine
