#pragma once
/// Of all partial matches of a set, whatever its form, the one that is taken first (taken_before() in engine/run.h).

#include <boost/unordered/unordered_flat_map.hpp>
#include <span>
#include <vector>

#include "engine/match_set.h"

namespace cepd::engine {

/// Keeps its memory from one search to the next.
class Preferred {
 public:
  /// Empty: none counts. `whole`: of the set that `head` is the newest cell of, else through that cell alone. The span
  /// holds until the next call. Cost: O(cells), whatever the number of partial matches; for those with equal first
  /// events and lengths also how far back they differ.
  std::span<const Bound> find(const Cell& head, bool whole, const Alive& alive);

 private:
  struct Best {
    const Cell* of_list = nullptr;  ///< last cell of the best one of this cell and those below; null: none counts
    const Cell* before = nullptr;   ///< of the best one through this cell alone: the cell before it
    std::uint64_t start = 0;        ///< likewise: its first event
    std::uint32_t length = 0;       ///< likewise; 0: none counts
  };
  bool search(SetPart part, const Alive& alive);
  const Cell* best_of(const Cell* head) const { return head == nullptr ? nullptr : best_.find(head)->second.of_list; }
  const Cell* better(const Cell* a, const Cell* b) const;
  Best through(const Cell& cell, const Alive& alive) const;

  boost::unordered_flat_map<const Cell*, Best> best_;
  std::vector<SetPart> open_;
  std::vector<Bound> path_;
};

}  // namespace cepd::engine
