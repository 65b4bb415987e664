#pragma once
/// What is stored about checkpoints, beside the state itself. Used by checkpoints.h and state_history.h.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "state/backend.h"
#include "state/multiset_hash.h"

namespace cepd::state {

/// Spaces that only checkpoints write: as of the last finished one after each start.
inline constexpr Space kCheckpointSpaces[] = {Space::kEngine, Space::kPartial, Space::kPending, Space::kPositions,
                                              Space::kRules};
/// Spaces that group commits write: always as of the last commit.
inline constexpr Space kLiveSpaces[] = {Space::kOutbox, Space::kDelivered};
bool is_checkpoint_space(Space space);
bool is_live_space(Space space);

/// One finished checkpoint. Numbers grow; one whose barrier was durable is not given again, finished or not.
struct CheckpointInfo {
  std::uint64_t number = 0;
  EventTime time{};                            ///< wall clock, at begin()
  std::uint64_t journal_sequence = 0;          ///< the last entry that it has taken in
  std::uint64_t outbox_next = 0;               ///< sequence of the next action call, as of then
  StateSum checkpointed, live;                 ///< what is in the two kinds of spaces, as of then
  std::uint64_t changes = 0;                   ///< records that it wrote or erased
  std::uint64_t bytes = 0;                     ///< of these, keys and values
  std::uint64_t undo_bytes = 0;                ///< of what it kept to be gone back from
  std::chrono::microseconds duration{0};       ///< from begin() to the end of the last slice
  std::chrono::microseconds longest_slice{0};  ///< for which a group commit may have waited
};

std::string encode(const CheckpointInfo& info);
Result<CheckpointInfo> decode_checkpoint(std::string_view key, std::string_view record);
/// All that can be gone back to, oldest first.
Result<std::vector<CheckpointInfo>> list_checkpoints(StateBackend& backend);

/// A record as it was before it was changed on the way to checkpoint `number`; no value: there was none.
struct UndoRecord {
  std::uint64_t number = 0;
  Space space = Space::kMeta;
  std::string key;
  std::optional<std::string> before;
};
std::string undo_key(std::uint64_t number, Space space, std::string_view key);
void put_undo(WriteBatch& batch, std::uint64_t number, Space space, std::string_view key,
              const std::optional<std::string>& before);
Result<UndoRecord> decode_undo(std::string_view key, std::string_view record);
/// The records whose keys begin with `prefix`, in order, until `most_bytes` are passed; those behind `after`, where it
/// is given.
Result<std::vector<UndoRecord>> read_undo(StateBackend& backend, std::string_view prefix, std::size_t most_bytes,
                                          const UndoRecord* after = nullptr);

/// Sealed records of Space::kMeta.
inline constexpr std::string_view kBegunKey = "begun";        ///< number of the last checkpoint that was begun
inline constexpr std::string_view kLiveKey = "live";          ///< StateSum of the live spaces
inline constexpr std::string_view kRollbackKey = "rollback";  ///< number of the checkpoint that is being gone back to
/// Tells this state, and what was copied, exported or restored of it, from all others: 16 random bytes.
inline constexpr std::string_view kIdentityKey = "identity";
void put_identity(WriteBatch& batch, std::string_view identity);
/// Given now where it has none. Nobody else may write.
Result<std::string> identity_of(StateBackend& backend);
void put_number(WriteBatch& batch, std::string_view key, std::uint64_t number);
Result<std::optional<std::uint64_t>> get_number(StateBackend& backend, std::string_view key);
/// What put_number() stored. Errors: kCorrupt.
Result<std::uint64_t> decode_number(std::string_view key, std::string_view record);
void put_sum(WriteBatch& batch, const StateSum& sum);
Result<std::optional<StateSum>> get_sum(StateBackend& backend);

/// Of all records of the spaces.
Result<StateSum> sum_of(StateBackend& backend, const Space* begin, const Space* end);

}  // namespace cepd::state
