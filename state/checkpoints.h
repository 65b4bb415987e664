#pragma once
/// Checkpoints of a running daemon: consistent copies of the state at one place of the input, written by the
/// committer's thread in slices between group commits, the last few of which can be gone back to (state_history.h).
///
/// A checkpoint takes the place of the one before it. What it overwrites is first kept as an undo record, in the same
/// transaction, so that a checkpoint that was not finished is undone at the next start, and finished ones in reverse
/// order. What group commits change (outbox, delivered marks) is kept in the same way, from barrier to barrier.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "state/backend.h"
#include "state/checkpoint_records.h"
#include "state/checkpoint_slices.h"
#include "state/committer.h"
#include "state/live_undo.h"

namespace cepd::state {

struct CheckpointOptions {
  std::size_t keep = 10;  ///< how many can be gone back to; at least 1
  /// Bounds of one slice, and so of how long a group commit waits for it.
  std::size_t slice_changes = 2'000;
  std::size_t slice_bytes = std::size_t{512} << 10;
  /// The journal keeps what the oldest kept checkpoint does not need for this long, and up to so many bytes.
  std::chrono::microseconds journal_retain{0};
  std::uint64_t journal_retain_bytes = std::uint64_t{1} << 30;
};

/// Each may be empty. Called by the writer thread, as CommitterCallbacks are.
struct CheckpointCallbacks {
  std::function<void(const CheckpointInfo&)> finished;
  std::function<void(const Error&, std::chrono::milliseconds retry_in)> failed;
  std::function<void()> recovered;  ///< the first slice after failed ones was written
};

/// begin(), add() and finish() by one thread (the pump), in this order; the getters by any; the rest by the committer
/// that has this as its duty. Groups for it must not touch the checkpoint spaces.
class Checkpoints final : public WriterDuty {
 public:
  /// Undoes what was not finished, and ends a rollback that was cut off. Before the committer. The clock is for what
  /// the journal retains. Errors: kCorrupt; those of the backend. `backend` and `clock` outlive it.
  static Result<std::unique_ptr<Checkpoints>> open(StateBackend& backend, CheckpointOptions options,
                                                   CheckpointCallbacks callbacks, const Clock& clock);

  /// The barrier: what was added to the committer before it belongs to this checkpoint. Not while one is under way.
  /// `journal_sequence` is of the last entry that the state to come has taken in. Returns its number.
  std::uint64_t begin(std::uint64_t journal_sequence, std::uint64_t outbox_next);
  /// Changes of the checkpoint spaces, in any number of calls; later ones of a key win. They are written, in the order
  /// of their keys, once all are there. What is as it was costs a read and no write.
  void add(WriteBatch changes);
  /// No more changes come.
  void finish();

  bool under_way() const { return under_way_; }  ///< begun and not finished
  std::size_t held_bytes() const;                ///< added to the one that is under way
  /// True once `number` is finished and durable; false at `deadline`.
  bool wait_finished(std::uint64_t number, std::chrono::steady_clock::time_point deadline);
  /// The last finished one; none in a new directory.
  std::optional<CheckpointInfo> last() const;
  /// Why the last slice failed, while slices fail.
  std::optional<Error> failing() const;

  void attach(Committer& committer) override { committer_ = &committer; }
  Result<WriteBatch> beside(const WriteBatch& group) override;
  void group_durable() override;
  bool has_slice() const override { return has_slice_; }
  Result<WriteBatch> slice() override;
  void slice_durable() override;
  void slice_failed(const Error& reason, std::chrono::milliseconds retry_in) override;

 private:
  using Steady = std::chrono::steady_clock;
  /// What the last slice() was part of, and what is left to do when no checkpoint is under way.
  enum class Work : std::uint8_t { kNone, kTakeIn, kWrite, kFinish, kDropUndo, kTrimJournal };
  /// Of a checkpoint that is kept, what trimming asks of it.
  struct Kept {
    std::uint64_t number, journal_sequence;
  };

  Checkpoints(StateBackend& backend, CheckpointOptions options, CheckpointCallbacks callbacks, const Clock& clock)
      : backend_(backend), options_(options), callbacks_(std::move(callbacks)), clock_(clock), live_(backend) {}

  Status load();
  /// The records of the spaces are those that were stored, as far as that is soon seen. Errors: kCorrupt.
  Status check(const StateSum& stored, const Space* begin, const Space* end, const std::string& what) const;
  Work next_work() const;  // with mutex_, writer thread
  void take_in();
  Result<WriteBatch> finishing_slice();
  Result<WriteBatch> trimming_slice(Work work);
  std::optional<CheckpointInfo> work_done();  // with mutex_; the checkpoint that it finished

  StateBackend& backend_;
  const CheckpointOptions options_;
  const CheckpointCallbacks callbacks_;
  const Clock& clock_;
  Committer* committer_ = nullptr;

  std::atomic<bool> has_slice_ = false, under_way_ = false;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<WriteBatch::Change>> added_;
  std::size_t added_bytes_ = 0;
  bool all_added_ = false;
  std::uint64_t begun_ = 0;
  CheckpointInfo current_;  // the one under way
  Steady::time_point began_;
  std::optional<CheckpointInfo> last_;
  std::optional<Error> failing_;

  // The writer thread's own, once it runs.
  LiveUndo live_;
  std::optional<CheckpointSlices> slices_;  // from the barrier to the end
  std::vector<WriteBatch::Change> taking_;  // of added_, moving into slices_
  std::size_t taken_ = 0;
  StateSum checkpointed_;  // as of the last finished checkpoint
  std::deque<Kept> kept_;  // oldest first
  Work trimming_ = Work::kNone, work_ = Work::kNone;
  bool more_to_trim_ = false;
  Steady::time_point slice_began_;
};

}  // namespace cepd::state
