#pragma once
/// Keeps what group commits change (outbox, delivered marks) so that it can be gone back from, barrier to barrier.

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "state/backend.h"
#include "state/checkpoint_records.h"

namespace cepd::state {

/// A checkpoint has begun: what was committed before belongs to it.
struct Barrier {
  std::uint64_t number = 0;
  StateSum live;  ///< as of then
};

/// One thread: that of the commits.
class LiveUndo {
 public:
  explicit LiveUndo(StateBackend& backend) : backend_(backend) {}

  /// `begun`: number of the last checkpoint that was begun. `sum`: what is in the live spaces.
  void start(std::uint64_t begun, const StateSum& sum) { now_ = next_ = {begun + 1, sum, std::nullopt}; }

  /// Undo records for the changes of `group` and the sum of what is then in the live spaces, to be committed with it.
  /// A change of kBegunKey in it is a barrier: at most one in a group's life, see durable().
  Result<WriteBatch> beside(const WriteBatch& group);
  /// The group is durable. Returns the last barrier in it.
  std::optional<Barrier> durable();

 private:
  struct Progress {
    std::uint64_t next_checkpoint = 1;  ///< changes are kept under its number
    StateSum sum;
    std::optional<Barrier> barrier;
  };

  StateBackend& backend_;
  Progress now_, next_;
};

}  // namespace cepd::state
