#include "engine/seen_ids.h"

#include <algorithm>

#include "engine/snapshot.h"
#include "state/layout.h"

namespace cepd::engine {
namespace {

using state::Space;

constexpr std::string_view kSeenKey = "seen/";

std::string chunk_key(const PartitionId& partition, std::uint64_t number) {
  std::string key(kSeenKey);
  state::append_ordered(key, static_cast<std::uint32_t>(partition.second));
  state::append_ordered(key, number);
  return key += partition.first.name();
}

}  // namespace

bool SeenIds::add(const PartitionId& partition_id, const MatchId& id, EventTime time, EventTime watermark,
                  std::size_t most) {
  Partition& partition = partitions_[partition_id];
  drop_passed(partition_id, partition, watermark);
  const auto [known, is_new] = partition.times.try_emplace(id, time);
  if (!is_new) {
    if (known->second >= watermark) return false;
    known->second = time;  // of one whose chunk has others that are not passed
  }
  if (partition.chunks.empty() || partition.chunks.back().ids.size() >= kChunk) {
    Chunk chunk;
    chunk.number = partition.chunks.empty() ? 0 : partition.chunks.back().number + 1;
    partition.chunks.push_back(std::move(chunk));
  }
  Chunk& last = partition.chunks.back();
  last.ids.emplace_back(id, time);
  last.latest = std::max(last.latest, time);
  last.changed = true;
  while (partition.times.size() > most && partition.chunks.size() > 1) {
    const std::size_t before = partition.times.size();
    drop_first(partition_id, partition);
    forgotten_ += before - partition.times.size();
  }
  return true;
}

void SeenIds::drop_passed(const PartitionId& id, Partition& partition, EventTime watermark) {
  while (!partition.chunks.empty() && partition.chunks.front().latest < watermark) drop_first(id, partition);
}

void SeenIds::drop_first(const PartitionId& id, Partition& partition) {
  const Chunk& first = partition.chunks.front();
  if (first.stored) gone_.push_back(chunk_key(id, first.number));
  for (const auto& [seen, time] : first.ids) {
    const auto known = partition.times.find(seen);
    // A later chunk has it when it came again after its time was passed.
    if (known != partition.times.end() && known->second == time) partition.times.erase(known);
  }
  partition.chunks.pop_front();
}

void SeenIds::save_chunks(state::WriteBatch& batch) {
  for (const std::string& key : std::exchange(gone_, {})) batch.erase(Space::kEngine, key);
  for (auto& [id, partition] : partitions_) {
    // Only the last ones can have changed.
    for (auto chunk = partition.chunks.rbegin(); chunk != partition.chunks.rend() && chunk->changed; ++chunk) {
      state::Writer out;
      out.number(chunk->ids.size());
      for (const auto& [seen, time] : chunk->ids) {
        out.match_id(seen);
        out.time(time);
      }
      batch.put(Space::kEngine, chunk_key(id, chunk->number), out.take());
      chunk->changed = false;
      chunk->stored = true;
    }
  }
}

Status SeenIds::restore(state::StateBackend& backend) {
  return backend.scan(Space::kEngine, kSeenKey, [&](std::string_view key, std::string_view record) -> Status {
    key.remove_prefix(kSeenKey.size());
    if (key.size() <= 2 * sizeof(std::uint64_t)) return corrupt_record("seen ids");
    const auto number = static_cast<std::int32_t>(state::read_ordered(key));
    Partition& partition = partitions_[{SourceId(key.substr(2 * sizeof(std::uint64_t))), number}];
    Chunk chunk;
    chunk.number = state::read_ordered(key.substr(sizeof(std::uint64_t)));
    chunk.stored = true;
    state::Reader in(record);
    for (std::size_t count = in.count(); count > 0 && in.ok(); --count) {
      const MatchId seen = in.match_id();
      const EventTime time = in.time();
      chunk.ids.emplace_back(seen, time);
      chunk.latest = std::max(chunk.latest, time);
      partition.times[seen] = time;  // chunks come in their order: the last one counts
    }
    if (!in.at_end()) return corrupt_record("seen ids");
    partition.chunks.push_back(std::move(chunk));
    return {};
  });
}

std::size_t SeenIds::size() const {
  std::size_t size = 0;
  for (const auto& [id, partition] : partitions_) size += partition.times.size();
  return size;
}

}  // namespace cepd::engine
