#include "state/mirror_format.h"

#include <openssl/evp.h>
#include <zstd.h>

#include <numeric>
#include <utility>

#include "base/check.h"
#include "state/layout.h"

namespace cepd::state {
namespace {

/// Of this layout; a manifest says that of the records, too.
constexpr std::uint64_t kMirrorVersion = 1;
/// Of changes in one chunk, before compression.
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
/// One record may be larger than a chunk (backend.h); what claims to be more is damage.
constexpr std::uint64_t kLargestChunk = (std::uint64_t{1} << 30) + kChunkBytes + kLongestKey + 32;
constexpr int kLevel = 3;  // zstd's own default: most of what more would save for a part of its time
constexpr std::size_t kHashSize = 32;

// What a change begins with.
constexpr std::uint8_t kPut = 1, kErase = 2;

Error damaged(const std::string& what) { return error(Errc::kCorrupt, what + " does not read back"); }

std::string digits(std::uint64_t number) {
  std::string text = std::to_string(number);
  return std::string(20 - text.size(), '0') + text;
}

}  // namespace

std::uint64_t MirrorManifest::stored_bytes() const {
  return std::accumulate(chunks.begin(), chunks.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Chunk& chunk) { return sum + chunk.bytes; });
}

std::string manifest_name(std::uint64_t number) { return "manifest:" + digits(number); }
std::string chunk_name(std::uint64_t number, std::size_t index) {
  return "chunk:" + digits(number) + ":" + std::to_string(index);
}
std::vector<std::string> chunk_names(std::uint64_t number, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(chunk_name(number, i));
  return names;
}

std::string sha256(std::string_view bytes) {
  std::string hash(kHashSize, '\0');
  CEPD_CHECK(EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(hash.data()), nullptr,
                        EVP_sha256(), nullptr) == 1);
  return hash;
}

std::string encode(const MirrorManifest& manifest) {
  const std::uint64_t number = manifest.checkpoint.number;
  Writer out;
  out.number(kMirrorVersion);
  out.number(kFormatVersion);
  out.number(number);
  out.text(manifest.identity);
  out.number(manifest.previous);
  out.text(encode(manifest.checkpoint));
  out.number(manifest.changes);
  out.number(manifest.bytes);
  out.number(manifest.chunks.size());
  for (const MirrorManifest::Chunk& chunk : manifest.chunks) {
    out.text(chunk.sha256);
    out.number(chunk.bytes);
  }
  return seal(manifest_name(number), out.take());
}

Result<MirrorManifest> decode_manifest(std::uint64_t number, std::string_view record) {
  const std::string what = "the manifest of copy " + std::to_string(number);
  const auto body = unseal(manifest_name(number), record);
  if (!body) return damaged(what);
  Reader in(*body);
  const std::uint64_t version = in.number(), format = in.number();
  if (in.ok() && (version != kMirrorVersion || format != kFormatVersion))
    return error(Errc::kVersion, what + " is of format version " + std::to_string(version) + "." +
                                     std::to_string(format) + ", this cepd reads version " +
                                     std::to_string(kMirrorVersion) + "." + std::to_string(kFormatVersion));
  MirrorManifest manifest;
  const bool is_it = in.number() == number;
  manifest.identity = in.text();
  manifest.previous = in.number();
  auto checkpoint = decode_checkpoint(ordered_key(number), in.text());
  manifest.changes = in.number();
  manifest.bytes = in.number();
  const std::size_t count = in.count();
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    MirrorManifest::Chunk& chunk = manifest.chunks.emplace_back();
    chunk.sha256 = in.text();
    chunk.bytes = in.number();
    if (chunk.sha256.size() != kHashSize) in.fail();
  }
  if (!is_it || !in.at_end() || manifest.previous >= number) return damaged(what);
  if (!checkpoint) return std::move(checkpoint).error().within(what);
  manifest.checkpoint = std::move(*checkpoint);
  return manifest;
}

Status ChunkWriter::add(const WriteBatch::Change& change) {
  CEPD_CHECK(change.kind != WriteBatch::Change::Kind::kClear);
  const bool puts = change.kind == WriteBatch::Change::Kind::kPut;
  Writer out;
  out.byte(puts ? kPut : kErase);
  out.byte(static_cast<std::uint8_t>(change.space));
  out.text(change.key);
  if (puts) out.text(change.value);
  changes_ += out.take();
  return changes_.size() < kChunkBytes ? Status{} : finish();
}

Status ChunkWriter::finish() {
  if (changes_.empty()) return {};
  std::string chunk(ZSTD_compressBound(changes_.size()), '\0');
  const std::size_t size = ZSTD_compress(chunk.data(), chunk.size(), changes_.data(), changes_.size(), kLevel);
  CEPD_CHECK(ZSTD_isError(size) == 0);
  chunk.resize(size);
  changes_.clear();
  return full_(std::move(chunk));
}

Result<std::vector<WriteBatch::Change>> decode_chunk(std::string_view chunk, const MirrorManifest::Chunk& stored) {
  if (chunk.size() != stored.bytes || sha256(chunk) != stored.sha256) return damaged("a chunk");
  const unsigned long long size = ZSTD_getFrameContentSize(chunk.data(), chunk.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > kLargestChunk)
    return damaged("a chunk");
  std::string text(size, '\0');
  if (ZSTD_decompress(text.data(), text.size(), chunk.data(), chunk.size()) != size) return damaged("a chunk");
  std::vector<WriteBatch::Change> changes;
  for (Reader in(text); !in.at_end();) {
    const std::uint8_t kind = in.byte(), space = in.byte();
    const std::string_view key = in.text();
    const std::string_view value = kind == kPut ? in.text() : std::string_view();
    const bool fits =
        in.ok() && (kind == kPut || kind == kErase) && space < kSpaceCount && key_fits(static_cast<Space>(space), key);
    if (!fits) return damaged("a chunk");
    const auto what = kind == kPut ? WriteBatch::Change::Kind::kPut : WriteBatch::Change::Kind::kErase;
    changes.push_back({what, static_cast<Space>(space), std::string(key), std::string(value)});
  }
  return changes;
}

}  // namespace cepd::state
