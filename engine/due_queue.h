#pragma once
/// Deadlines by event time: the watermark costs only what is due.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "engine/run.h"

namespace cepd::engine {

class DueQueue {
 public:
  struct Entry {
    EventTime time;
    std::uint32_t level;
    std::uint32_t rule;
    KeyState* key;
  };

  /// Empties the queue; the levels of the rules that it is for from now on, by index.
  void begin(std::vector<std::uint32_t> levels) {
    entries_ = {};
    levels_ = std::move(levels);
  }
  void add(EventTime time, std::uint32_t rule, KeyState& key) {
    ++key.due_entries;
    entries_.push({time, levels_[rule], rule, &key});
  }
  std::optional<EventTime> earliest() const {
    if (entries_.empty()) return std::nullopt;
    return entries_.top().time;
  }
  /// Takes the entries of the earliest time that rules of `level` have, each rule and key once, in the order of rules
  /// and then of keys. Requires that those of lower levels at that time are taken; that of higher levels stay because
  /// what the lower ones make may still end their keys.
  std::vector<Entry> take(EventTime time, std::uint32_t level);

 private:
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.time != b.time ? a.time > b.time : a.level > b.level;
    }
  };
  std::priority_queue<Entry, std::vector<Entry>, Later> entries_;
  std::vector<std::uint32_t> levels_;
};

/// -1, 0 or 1: the order in which keys report (language-details.md section 5).
int compare_keys(const std::vector<Value>& a, const std::vector<Value>& b);

}  // namespace cepd::engine
