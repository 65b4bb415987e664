#pragma once
#include <cstdint>
#include <map>
#include <utility>

#include "base/ids.h"

namespace cepd {

/// One partition of a source; a source without partitions has number 0 alone.
using PartitionId = std::pair<SourceId, std::int32_t>;
/// By partition, the offset of the last event that was taken from it; -1 where the first one is still to come.
using Positions = std::map<PartitionId, std::int64_t>;

}  // namespace cepd
