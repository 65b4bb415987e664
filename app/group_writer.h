#pragma once
/// What the pump does, on its way to the disk: entries of the journal and action calls, durable together in group
/// commits. Senders are answered and actions called when that has happened. And the checkpoints behind them.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "adapters/source.h"
#include "app/measures.h"
#include "base/clock.h"
#include "state/checkpoints.h"
#include "state/committer.h"
#include "state/journal.h"
#include "state/outbox.h"

namespace cepd::app {

struct GroupWriterOptions {
  state::CommitterOptions commit;
  state::CheckpointOptions checkpoint;
  state::DeliverWhen deliver = state::DeliverWhen::kDurable;
};

/// Life: open(); whatever reads the state of the last run; start(); then the rest. All by the pump's thread, but for
/// what the committer's thread does inside.
class GroupWriter {
 public:
  /// Takes back a checkpoint that was not finished. Errors: kCorrupt; those of the backend. All outlive the writer.
  static Result<std::unique_ptr<GroupWriter>> open(state::StateBackend& backend, state::Outbox& outbox,
                                                   GroupWriterOptions options, Measures& measures, const Clock& clock);
  ~GroupWriter();

  /// The last finished checkpoint; none in a new directory.
  std::optional<state::CheckpointInfo> checkpoint() const { return checkpoints_->last(); }
  /// Called by the committer's thread, with the number of each checkpoint that was finished. Before start().
  void on_checkpoint(std::function<void(std::uint64_t)> call) { on_checkpoint_ = std::move(call); }
  /// Begins to write, behind what the journal holds.
  Status start();

  /// The message was taken. `future`: and dropped, as too far ahead of the clock.
  void took(const adapters::Message& message, bool replayable, bool future);
  void idle(const SourceId& source, std::int32_t partition);
  /// The next message that was taken is the first one from there.
  void origin(const SourceId& source, const std::string& origin);
  void begins(const SourcePosition& next);
  /// Is only stored together with something else: as long as nothing came of it, it may as well happen again later.
  void advance(EventTime watermark);
  void reload(std::vector<state::RuleText> files);

  /// Hands over what was done since the last call. `more`: more is about to be done, so that this can wait for it.
  void commit(bool more);
  /// False while commits fail or too much waits for the disk: no input may be taken. Waits until `deadline` for true.
  bool wait_room(std::chrono::steady_clock::time_point deadline) { return committer_->wait_room(deadline); }

  /// Begins a checkpoint of all that was done so far. Its number. What has changed since the one before is added to it,
  /// in any number of calls, and then it is complete.
  std::uint64_t begin_checkpoint();
  void add_to_checkpoint(state::WriteBatch state) { checkpoints_->add(std::move(state)); }
  void complete_checkpoint();
  bool wait_checkpoint(std::uint64_t number, std::chrono::steady_clock::time_point deadline) {
    return checkpoints_->wait_finished(number, deadline);
  }
  /// Why the last attempt to write failed, as long as it does.
  std::optional<Error> failing() const;
  /// Tries again at once.
  void retry_now() { committer_->retry_now(); }

  /// Writes what was handed over, once more where it fails, and ends. Senders that wait are not answered any more.
  Status stop();

 private:
  using Receipts = std::vector<std::shared_ptr<adapters::Receipt>>;

  GroupWriter(state::StateBackend& backend, state::Outbox& outbox, GroupWriterOptions options, Measures& measures,
              const Clock& clock)
      : backend_(backend), outbox_(outbox), options_(options), measures_(measures), clock_(clock) {}

  std::uint64_t append(state::JournalEntry entry) { return journal_->append(std::move(entry), now_); }
  void append_run();
  void append_open();
  void durable(const state::Commit& commit);
  void failed(const Error& reason);
  void works_again();
  void checkpoint_finished(const state::CheckpointInfo& info);

  state::StateBackend& backend_;
  state::Outbox& outbox_;
  const GroupWriterOptions options_;
  Measures& measures_;
  const Clock& clock_;
  std::unique_ptr<state::Checkpoints> checkpoints_;
  std::optional<state::Journal> journal_;
  EventTime now_{};                                               // when the last commit was asked for
  std::optional<state::JournalTook> run_;                         // not yet in the journal
  std::optional<EventTime> advance_;                              // not yet in the journal, behind run_
  bool has_entries_ = false;                                      // the journal holds some that were not handed over
  Receipts receipts_;                                             // of what was not handed over
  std::mutex mutex_;                                              // taken before the outbox's
  std::deque<std::pair<state::CommitTicket, Receipts>> waiting_;  // under mutex_
  std::atomic<bool> failed_ = false;
  std::function<void(std::uint64_t)> on_checkpoint_;
  std::unique_ptr<state::Committer> committer_;  // last: its thread uses the others
};

}  // namespace cepd::app
