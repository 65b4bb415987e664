#pragma once
/// What AFTER MATCH has dropped of the partial matches of one rule and key, said once instead of at each of them.

#include <cstddef>
#include <cstdint>

#include "engine/sequences.h"

namespace cepd::engine {

/// Sequences of events. All that began before `oldest`, began on one of `starts` or holds one of `used` is dropped.
struct Marks {
  std::uint64_t oldest = 0;
  Sequences starts, used;
  std::size_t forget_at = 64;  ///< how many there may be before the ones of no use are looked for
  std::size_t asked = 0;       ///< how often something was dropped since the last look for runs without use

  bool empty() const { return oldest == 0 && starts.empty() && used.empty(); }
  std::size_t size() const { return starts.size() + used.size(); }
};

}  // namespace cepd::engine
