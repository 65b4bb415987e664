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
    std::uint32_t rule;
    KeyState* key;
  };

  void add(EventTime time, std::uint32_t rule, KeyState& key) {
    ++key.due_entries;
    entries_.push({time, rule, &key});
  }
  std::optional<EventTime> earliest() const {
    if (entries_.empty()) return std::nullopt;
    return entries_.top().time;
  }
  /// Takes all entries of the earliest time, each rule and key once, in the order of rules and then of keys.
  std::vector<Entry> take_earliest();
  void clear() { entries_ = {}; }

 private:
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const { return a.time > b.time; }
  };
  std::priority_queue<Entry, std::vector<Entry>, Later> entries_;
};

/// -1, 0 or 1: the order in which keys report (language-details.md section 5).
int compare_keys(const std::vector<Value>& a, const std::vector<Value>& b);

}  // namespace cepd::engine
