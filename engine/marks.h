#pragma once
/// What AFTER MATCH has dropped of the partial matches of one rule and key, said once instead of at each of them.

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>

namespace cepd::engine {

/// In rising order; most keys have few.
using Sequences = boost::container::small_vector<std::uint64_t, 4>;

/// Sequences of events. All that began before `oldest`, began on one of `starts` or holds one of `used` is dropped.
struct Marks {
  std::uint64_t oldest = 0;
  Sequences starts, used;
  std::size_t forget_at = 64;  ///< how many there may be before the ones of no use are looked for

  bool empty() const { return oldest == 0 && starts.empty() && used.empty(); }
  static void add(Sequences& to, std::uint64_t sequence) {
    const auto at = std::lower_bound(to.begin(), to.end(), sequence);
    if (at == to.end() || *at != sequence) to.insert(at, sequence);
  }
  /// Forgets marks of events before `first`: no partial match that is left began earlier.
  void forget_before(std::uint64_t first) {
    for (auto* marks : {&starts, &used}) {
      marks->erase(marks->begin(), std::lower_bound(marks->begin(), marks->end(), first));
    }
    forget_at = 64 + 2 * (starts.size() + used.size());
  }
};

}  // namespace cepd::engine
