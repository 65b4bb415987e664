#pragma once
/// Where state is kept: ordered byte keys and values in a few named spaces, changed by atomic batches.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cepd::state {

/// Numbers and names reach the disk and never change (docs/state_format.md).
enum class Space : std::uint8_t {
  kMeta = 0,         ///< format version, instance facts
  kEngine = 1,       ///< what the engine keeps beside keys: field plan, watermarks, limits of sequence numbers
  kPartial = 2,      ///< partial matches, by rule and key
  kPending = 3,      ///< events read and not yet handled (behind the watermark)
  kPositions = 4,    ///< source positions
  kOutbox = 5,       ///< action calls not yet delivered
  kJournal = 6,      ///< input and decisions in the order in which they were taken (journal.h)
  kUndo = 7,         ///< what checkpoints have overwritten (checkpoints.h)
  kCheckpoints = 8,  ///< one record for each checkpoint that can be gone back to (checkpoints.h)
  kRules = 9,        ///< texts of the rule files as of the last checkpoint
  kDelivered = 10,   ///< how far the outbox was given out and delivered
};
inline constexpr int kSpaceCount = 11;
std::string_view space_name(Space space);  // "meta", "engine", ...: the enumerator's name without its k

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
  /// The changes of `other` after those that are here.
  void append(WriteBatch other) {
    changes_.insert(changes_.end(), std::make_move_iterator(other.changes_.begin()),
                    std::make_move_iterator(other.changes_.end()));
  }
  /// Takes back all but the first `count` changes.
  void truncate(std::size_t count) {
    changes_.erase(changes_.begin() + static_cast<std::ptrdiff_t>(count), changes_.end());
  }
  std::vector<Change> take() { return std::move(changes_); }
  const std::vector<Change>& changes() const { return changes_; }
  bool empty() const { return changes_.empty(); }
  std::size_t bytes() const;  ///< of keys and values

 private:
  std::vector<Change> changes_;
};

/// Keys are 1 to kLongestKey bytes (longer ones are the caller's to hash), in kUndo kUndoPrefix more; values up to 1
/// GiB.
inline constexpr std::size_t kLongestKey = 400;
inline constexpr std::size_t kUndoPrefix = 9;
bool key_fits(Space space, std::string_view key);

struct SpaceSize {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;  ///< keys and values (memory), or the pages that they take (lmdb)
};

/// Thread-safe: any threads may read beside each other and beside a commit; commits wait for each other. A call sees
/// one state of all spaces, that of before or after a commit. A commit that has to make room (lmdb: a larger map) waits
/// for the reads under way, and reads wait for it: a `visit` that takes long holds up the writer.
class StateBackend {
 public:
  virtual ~StateBackend() = default;

  virtual Result<std::optional<std::string>> get(Space space, std::string_view key) = 0;

  /// Calls `visit` for each key that starts with `prefix`, in byte order; stops at its first error and returns it.
  /// The views are valid during the call. `visit` must not use the backend.
  using Visitor = std::function<Status(std::string_view key, std::string_view value)>;
  virtual Status scan(Space space, std::string_view prefix, const Visitor& visit) = 0;
  /// The same from the first key that is not less than `from`, as long as `visit` returns true.
  using RangeVisitor = std::function<Result<bool>(std::string_view key, std::string_view value)>;
  virtual Status scan_from(Space space, std::string_view from, const RangeVisitor& visit) = 0;
  /// The greatest key, if there is one.
  virtual Result<std::optional<std::string>> last_key(Space space) = 0;
  virtual Result<SpaceSize> size(Space space) = 0;

  /// All of `batch` or, with an error, nothing. Durable on return (but for the memory backend).
  virtual Status commit(const WriteBatch& batch) = 0;

  virtual std::string_view name() const = 0;  // "memory", "lmdb"
};

}  // namespace cepd::state
