#pragma once
/// The keys of a lane that are stored and not in memory, by when something of theirs falls due.

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace cepd::engine {

/// A key goes by the first half of its id (snapshot.h), which another may share: what is read under it is all of both.
/// Some 50 bytes a key.
class ColdKeys {
 public:
  bool empty() const { return due_.empty(); }
  std::size_t size() const { return due_.size(); }
  bool contains(std::uint64_t key) const { return due_.contains(key); }

  /// `due`: nothing of it falls due before; kMaxTime: never. Of several times the earliest counts.
  void add(std::uint64_t key, EventTime due);
  /// It is in memory now.
  void take(std::uint64_t key);

  /// kMaxTime: nothing of any.
  EventTime earliest() const { return heap_.empty() ? kMaxTime : heap_.front().due; }
  /// The one that earliest() is about. Requires that there is one.
  std::uint64_t first() const { return heap_.front().key; }

 private:
  struct Entry {
    EventTime due;
    std::uint64_t key;
    bool operator<(const Entry& other) const { return due > other.due; }  // the standard heaps have the greatest first
  };
  bool is_over(const Entry& entry) const;
  void settle();

  boost::unordered_flat_map<std::uint64_t, EventTime> due_;
  std::vector<Entry> heap_;  // the first one is not over; others may be
};

}  // namespace cepd::engine
