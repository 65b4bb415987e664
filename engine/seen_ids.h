#pragma once
/// Which ids of events (`dedup` of a source) have come, so that an event that comes again is not one more. An id is
/// kept until its partition's watermark has passed the event's time: a redelivery after that is late anyway.
///
/// Kept in chunks in the order in which they came; a chunk is stored once and goes as a whole (docs/state_format.md).
/// What is known depends on nothing but the events that came, in their order.

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/positions.h"
#include "base/result.h"
#include "base/time.h"
#include "state/backend.h"

namespace cepd::engine {

class SeenIds {
 public:
  /// False: the id has come before, with a time that is not before `watermark`. Else it is remembered. Over `most` (at
  /// least one chunk) those that came first are forgotten. Requires `time` not before `watermark`, which never falls.
  bool add(const PartitionId& partition, const MatchId& id, EventTime time, EventTime watermark, std::size_t most);

  /// Puts into `batch` what has changed since the last call; `watermark` is that of a partition.
  template <class WatermarkOf>
  void save(state::WriteBatch& batch, WatermarkOf watermark) {
    for (auto& [id, partition] : partitions_) drop_passed(id, partition, watermark(id));
    save_chunks(batch);
  }
  /// For a new one. Errors: kCorrupt; those of the backend.
  Status restore(state::StateBackend& backend);

  std::size_t size() const;                               ///< ids that are kept
  std::uint64_t forgotten() const { return forgotten_; }  ///< over `most`, since this was made

  static constexpr std::size_t kChunk = 1024;  ///< ids

 private:
  struct Chunk {
    std::uint64_t number = 0;  // counted up in a partition
    EventTime latest = kMinTime;
    bool stored = false, changed = false;  // since it was stored
    std::vector<std::pair<MatchId, EventTime>> ids;
  };
  struct Partition {
    std::deque<Chunk> chunks;
    boost::unordered_flat_map<MatchId, EventTime, MatchIdHash> times;
  };

  void drop_passed(const PartitionId& id, Partition& partition, EventTime watermark);
  void drop_first(const PartitionId& id, Partition& partition);
  void save_chunks(state::WriteBatch& batch);

  std::map<PartitionId, Partition> partitions_;
  std::vector<std::string> gone_;  // keys of stored chunks
  std::uint64_t forgotten_ = 0;
};

}  // namespace cepd::engine
