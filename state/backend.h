#pragma once
/// Where state is kept: ordered byte keys and values in a few named spaces, changed by atomic batches.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cepd::state {

/// Numbers and names reach the disk and never change (docs/state_format.md).
enum class Space : std::uint8_t {
  kMeta = 0,       ///< format version, instance facts
  kEngine = 1,     ///< what the engine keeps beside keys: field plan, watermarks, limits of sequence numbers
  kPartial = 2,    ///< partial matches, by rule and key
  kPending = 3,    ///< events read and not yet handled (behind the watermark)
  kPositions = 4,  ///< source positions
  kOutbox = 5,     ///< action calls not yet delivered
};
inline constexpr int kSpaceCount = 6;
std::string_view space_name(Space space);  // "meta" "engine" "partial" "pending" "positions" "outbox"

/// Changes that become visible and durable together. Later changes of one key win.
class WriteBatch {
 public:
  struct Change {
    enum class Kind : std::uint8_t { kPut, kErase, kClear } kind;
    Space space;
    std::string key, value;
  };
  void put(Space space, std::string key, std::string value) {
    changes_.push_back({Change::Kind::kPut, space, std::move(key), std::move(value)});
  }
  void erase(Space space, std::string key) { changes_.push_back({Change::Kind::kErase, space, std::move(key), {}}); }
  void clear(Space space) { changes_.push_back({Change::Kind::kClear, space, {}, {}}); }
  const std::vector<Change>& changes() const { return changes_; }
  bool empty() const { return changes_.empty(); }

 private:
  std::vector<Change> changes_;
};

/// Keys are 1 to kLongestKey bytes (longer ones are the caller's to hash); values up to 1 GiB.
inline constexpr std::size_t kLongestKey = 400;

/// One thread at a time.
class StateBackend {
 public:
  virtual ~StateBackend() = default;

  virtual Result<std::optional<std::string>> get(Space space, std::string_view key) = 0;

  /// Calls `visit` for each key that starts with `prefix`, in byte order; stops at its first error and returns it.
  /// The views are valid during the call. `visit` must not use the backend.
  using Visitor = std::function<Status(std::string_view key, std::string_view value)>;
  virtual Status scan(Space space, std::string_view prefix, const Visitor& visit) = 0;

  /// All of `batch` or, with an error, nothing. Durable on return (but for the memory backend).
  virtual Status commit(const WriteBatch& batch) = 0;

  virtual std::string_view name() const = 0;  // "memory", "lmdb"
};

}  // namespace cepd::state
