#pragma once
/// Cuts the changes of one checkpoint into bounded transactions, each with the undo records of what it overwrites.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "state/backend.h"
#include "state/checkpoint_records.h"
#include "state/multiset_hash.h"

namespace cepd::state {

/// One thread: that of the commits. First all changes are taken in, then they are written in the order of their keys:
/// in any other, each slice would write most pages of the tree anew.
class CheckpointSlices {
 public:
  /// What was written up to the last durable slice.
  struct Written {
    StateSum sum;  ///< what is in the checkpoint spaces
    std::uint64_t changes = 0, bytes = 0, undo_bytes = 0;
  };

  /// `before`: what is in the checkpoint spaces now. A slice ends once it has looked at so many records or bytes.
  CheckpointSlices(StateBackend& backend, std::uint64_t number, const StateSum& before, std::size_t most_changes,
                   std::size_t most_bytes);

  /// Later changes of one key win. Before the first next().
  void take_in(WriteBatch::Change change);

  bool done() const { return now_.at == spaces_.size(); }
  /// The next slice; possibly empty, where nothing is different. Again the same one until durable().
  Result<WriteBatch> next();
  void durable();
  const Written& written() const { return now_.written; }

 private:
  /// What keys have after the checkpoint; no value: nothing.
  using Changes = std::map<std::string, std::optional<std::string>, std::less<>>;
  struct SpaceChanges {
    bool cleared = false;  ///< what is stored and not in `changes` goes
    Changes changes;
  };
  struct Progress {
    std::size_t at = 0;  ///< in spaces_
    std::string from;    ///< its first key that was not looked at
    Written written;
  };
  class Slice;

  Status next_of_cleared(Slice& slice);
  Status next_of_changed(Slice& slice);
  void next_space();

  StateBackend& backend_;
  const std::uint64_t number_;
  const std::size_t most_changes_, most_bytes_;
  std::array<SpaceChanges, std::size(kCheckpointSpaces)> spaces_;  // by place in kCheckpointSpaces
  Progress now_, next_;
};

}  // namespace cepd::state
