#pragma once
/// Cuts the changes of one checkpoint into bounded transactions, each with the undo records of what it overwrites.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "state/backend.h"
#include "state/multiset_hash.h"

namespace cepd::state {

/// One thread: that of the commits.
class CheckpointSlices {
 public:
  /// What was written up to the last durable slice.
  struct Written {
    StateSum sum;  ///< what is in the checkpoint spaces
    std::uint64_t changes = 0, bytes = 0, undo_bytes = 0;
  };

  /// `before`: what is in the checkpoint spaces now. A slice ends once it has that many changes or bytes.
  CheckpointSlices(StateBackend& backend, std::uint64_t number, const StateSum& before, std::size_t most_changes,
                   std::size_t most_bytes);

  bool done() const { return now_.at == changes_.changes().size(); }
  /// The next changes. Requires done().
  void give(WriteBatch changes);
  std::size_t given_bytes() const { return given_bytes_; }  ///< of the changes that were given last

  /// The next slice of what was given; possibly empty, where nothing is different. Again the same one until durable().
  Result<WriteBatch> next();
  void durable() { now_ = next_; }
  const Written& written() const { return now_.written; }

 private:
  struct Progress {
    std::size_t at = 0;                   ///< the next change
    std::optional<std::string> clearing;  ///< it is a kClear that has got to this key
    Written written;
  };
  class Slice;

  StateBackend& backend_;
  const std::uint64_t number_;
  const std::size_t most_changes_, most_bytes_;
  WriteBatch changes_;
  std::size_t given_bytes_ = 0;
  Progress now_, next_;
};

}  // namespace cepd::state
