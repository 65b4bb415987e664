#pragma once
/// How a copy of a checkpoint is laid out: chunks of changes, compressed, and a manifest that says what they must be.
/// Prose in docs/state_format.md.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "state/backend.h"
#include "state/checkpoint_records.h"

namespace cepd::state {

struct MirrorManifest {
  struct Chunk {
    std::string sha256;       ///< 32 bytes: of the chunk as it is stored
    std::uint64_t bytes = 0;  ///< of it
    bool operator==(const Chunk&) const = default;
  };
  std::string identity;        ///< of the state (identity_of())
  std::uint64_t previous = 0;  ///< the copy that this one changes; 0: it has all
  CheckpointInfo checkpoint;   ///< what the state is then: its sums check the whole of the chain
  std::vector<Chunk> chunks;
  std::uint64_t changes = 0;
  std::uint64_t bytes = 0;  ///< of their keys and values, before compression

  std::uint64_t stored_bytes() const;
};

std::string manifest_name(std::uint64_t number);
std::string chunk_name(std::uint64_t number, std::size_t index);
std::vector<std::string> chunk_names(std::uint64_t number, std::size_t count);

std::string encode(const MirrorManifest& manifest);
/// Errors: kCorrupt; kVersion: made by a cepd whose state this one does not read.
Result<MirrorManifest> decode_manifest(std::uint64_t number, std::string_view record);

/// Gathers changes into chunks. `full(chunk)` is called with each.
class ChunkWriter {
 public:
  using Full = std::function<Status(std::string chunk)>;
  explicit ChunkWriter(Full full) : full_(std::move(full)) {}

  Status add(const WriteBatch::Change& change);  ///< no kClear
  Status finish();

 private:
  const Full full_;
  std::string changes_;
};

/// Errors: kCorrupt: it is not what the manifest says, or does not read back.
Result<std::vector<WriteBatch::Change>> decode_chunk(std::string_view chunk, const MirrorManifest::Chunk& stored);
std::string sha256(std::string_view bytes);  // 32 bytes

}  // namespace cepd::state
