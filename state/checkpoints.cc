#include "state/checkpoints.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/fault.h"
#include "state/journal.h"
#include "state/layout.h"
#include "state/undo.h"

namespace cepd::state {
namespace {

/// Up to this much every record is looked at when the state is opened, which takes some 0.1 s.
constexpr std::uint64_t kCheckedRecords = 50'000;
constexpr std::uint64_t kCheckedBytes = std::uint64_t{32} << 20;

}  // namespace

Result<std::unique_ptr<Checkpoints>> Checkpoints::open(StateBackend& backend, CheckpointOptions options,
                                                       CheckpointCallbacks callbacks, const Clock& clock) {
  CEPD_CHECK(options.keep > 0 && options.slice_changes > 0 && options.slice_bytes > 0);
  std::unique_ptr<Checkpoints> checkpoints(new Checkpoints(backend, options, std::move(callbacks), clock));
  CEPD_TRY(checkpoints->load());
  return Result<std::unique_ptr<Checkpoints>>(std::move(checkpoints));
}

Status Checkpoints::load() {
  CEPD_TRY(finish_rollback(backend_));
  const auto begun = get_number(backend_, kBegunKey);
  if (!begun) return begun.error();
  auto kept = list_checkpoints(backend_);
  if (!kept) return std::move(kept).error();
  for (const CheckpointInfo& info : *kept) kept_.push_back({info.number, info.journal_sequence});
  if (!kept->empty()) last_ = kept->back();
  begun_ = std::max(begun->value_or(0), last_ ? last_->number : 0);
  // Numbers are given once, so that what group commits have kept on the way to it stays in its order.
  if (!last_ || begun_ > last_->number) CEPD_TRY(undo_unfinished(backend_, begun_));

  auto live = get_sum(backend_);
  if (!live) return std::move(live).error();
  if (*live) {
    CEPD_TRY(check(**live, std::begin(kLiveSpaces), std::end(kLiveSpaces), "the stored action calls are"));
  } else {
    auto sum = sum_of(backend_, std::begin(kLiveSpaces), std::end(kLiveSpaces));
    if (!sum) return std::move(sum).error();
    *live = *sum;
  }
  live_.start(begun_, **live);
  if (last_) {
    checkpointed_ = last_->checkpointed;
    return check(checkpointed_, std::begin(kCheckpointSpaces), std::end(kCheckpointSpaces), "the state is");
  }
  auto sum = sum_of(backend_, std::begin(kCheckpointSpaces), std::end(kCheckpointSpaces));
  if (!sum) return std::move(sum).error();
  if (sum->records > 0) return error(Errc::kCorrupt, "the stored state is of no checkpoint");
  checkpointed_ = *sum;
  return {};
}

Status Checkpoints::check(const StateSum& stored, const Space* begin, const Space* end, const std::string& what) const {
  if (stored.records > kCheckedRecords || stored.bytes > kCheckedBytes) return {};
  const auto found = sum_of(backend_, begin, end);
  if (!found) return found.error();
  if (*found == stored) return {};
  return error(Errc::kCorrupt,
               what + " not what was stored, it is damaged: `cepd state verify` says which checkpoints " +
                   "are good, and `cepd state rollback` goes back to one; or put it back from a copy, " +
                   "or move it away to start with empty state");
}

std::uint64_t Checkpoints::begin(std::uint64_t journal_sequence, std::uint64_t outbox_next) {
  CEPD_CHECK(committer_ != nullptr && !under_way_);
  WriteBatch barrier;
  {
    const std::lock_guard lock(mutex_);
    under_way_ = true;
    all_added_ = false;
    current_ = {};
    current_.number = ++begun_;
    current_.time = clock_.now();
    current_.journal_sequence = journal_sequence;
    current_.outbox_next = outbox_next;
    began_ = Steady::now();
    put_number(barrier, kBegunKey, begun_);
  }
  committer_->add(std::move(barrier));
  return begun_;
}

void Checkpoints::add(WriteBatch changes) {
  CEPD_CHECK(under_way_);
  if (changes.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    CEPD_CHECK(!all_added_);
    added_bytes_ += changes.bytes();
    added_.push_back(changes.take());
    has_slice_ = has_slice_ || slices_.has_value();
  }
  committer_->wake();
}

void Checkpoints::finish() {
  CEPD_CHECK(under_way_);
  {
    const std::lock_guard lock(mutex_);
    all_added_ = true;
    has_slice_ = has_slice_ || slices_.has_value();
  }
  committer_->wake();
}

std::size_t Checkpoints::held_bytes() const {
  const std::lock_guard lock(mutex_);
  return added_bytes_;
}

bool Checkpoints::wait_finished(std::uint64_t number, Steady::time_point deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [&] { return last_ && last_->number >= number; });
}

std::optional<CheckpointInfo> Checkpoints::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

std::optional<Error> Checkpoints::failing() const {
  const std::lock_guard lock(mutex_);
  return failing_;
}

Result<WriteBatch> Checkpoints::beside(const WriteBatch& group) { return live_.beside(group); }

void Checkpoints::group_durable() {
  const auto barrier = live_.durable();
  if (!barrier) return;
  const std::lock_guard lock(mutex_);
  CEPD_CHECK(barrier->number == current_.number);
  current_.live = barrier->live;
  slices_.emplace(backend_, barrier->number, checkpointed_, options_.slice_changes, options_.slice_bytes);
  has_slice_ = next_work() != Work::kNone;
}

Checkpoints::Work Checkpoints::next_work() const {
  if (!slices_) return trimming_;
  if (taken_ < taking_.size() || !added_.empty()) return Work::kTakeIn;
  if (!all_added_) return trimming_;
  return slices_->done() ? Work::kFinish : Work::kWrite;
}

Result<WriteBatch> Checkpoints::slice() {
  slice_began_ = Steady::now();
  {
    const std::lock_guard lock(mutex_);
    work_ = next_work();
  }
  switch (work_) {
    case Work::kTakeIn:
      take_in();
      return WriteBatch();
    case Work::kWrite:
      fault(FaultPoint::kBeforeSlice);
      return slices_->next();
    case Work::kFinish:
      fault(FaultPoint::kBeforeFinish);
      return finishing_slice();
    case Work::kDropUndo:
    case Work::kTrimJournal:
      return trimming_slice(work_);
    case Work::kNone:
      break;
  }
  return WriteBatch();
}

void Checkpoints::take_in() {
  // Much cheaper than to write them.
  for (std::size_t left = 8 * options_.slice_changes; left > 0; --left) {
    if (taken_ == taking_.size()) {
      const std::lock_guard lock(mutex_);
      taking_.clear();
      taken_ = 0;
      if (added_.empty()) return;
      taking_ = std::move(added_.front());
      added_.pop_front();
    }
    slices_->take_in(std::move(taking_[taken_++]));
  }
}

Result<WriteBatch> Checkpoints::finishing_slice() {
  const std::lock_guard lock(mutex_);
  const CheckpointSlices::Written& written = slices_->written();
  current_.checkpointed = written.sum;
  current_.changes = written.changes;
  current_.bytes = written.bytes;
  current_.undo_bytes = written.undo_bytes;
  current_.duration = std::chrono::duration_cast<std::chrono::microseconds>(Steady::now() - began_);
  WriteBatch batch;
  batch.put(Space::kCheckpoints, ordered_key(current_.number), encode(current_));
  for (std::size_t i = 0; i + options_.keep <= kept_.size(); ++i)
    batch.erase(Space::kCheckpoints, ordered_key(kept_[i].number));
  return batch;
}

Result<WriteBatch> Checkpoints::trimming_slice(Work work) {
  WriteBatch batch;
  Result<bool> more = false;
  if (work == Work::kDropUndo) {
    more = drop_undo(backend_, batch, kept_.front().number, options_.slice_changes);
  } else {
    auto size = backend_.size(Space::kJournal);
    if (!size) return std::move(size).error();
    const EventTime older_than = size->bytes > options_.journal_retain_bytes
                                     ? EventTime::max()
                                     : saturating_add(clock_.now(), -options_.journal_retain);
    more = trim_journal(backend_, batch, kept_.front().journal_sequence, older_than, options_.slice_changes);
  }
  if (!more) return std::move(more).error();
  more_to_trim_ = *more;
  return batch;
}

std::optional<CheckpointInfo> Checkpoints::work_done() {
  switch (work_) {
    case Work::kWrite:
      fault(FaultPoint::kAfterSlice);
      slices_->durable();
      break;
    case Work::kFinish:
      fault(FaultPoint::kAfterFinish);
      checkpointed_ = slices_->written().sum;
      slices_.reset();
      added_bytes_ = 0;
      kept_.push_back({current_.number, current_.journal_sequence});
      while (kept_.size() > options_.keep) kept_.pop_front();
      trimming_ = Work::kDropUndo;
      last_ = current_;
      under_way_ = false;
      return current_;
    case Work::kDropUndo:
      if (!more_to_trim_) trimming_ = Work::kTrimJournal;
      break;
    case Work::kTrimJournal:
      if (!more_to_trim_) trimming_ = Work::kNone;
      break;
    case Work::kTakeIn:
    case Work::kNone:
      break;
  }
  return std::nullopt;
}

void Checkpoints::slice_durable() {
  std::optional<CheckpointInfo> finished;
  bool recovered = false;
  {
    const std::lock_guard lock(mutex_);
    // Taking in writes nothing.
    if (work_ != Work::kTakeIn) recovered = std::exchange(failing_, std::nullopt).has_value();
    if (work_ == Work::kTakeIn || work_ == Work::kWrite) {
      const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Steady::now() - slice_began_);
      current_.longest_slice = std::max(current_.longest_slice, took);
    }
    finished = work_done();
    has_slice_ = next_work() != Work::kNone;
  }
  if (recovered && callbacks_.recovered) callbacks_.recovered();
  if (!finished) return;
  changed_.notify_all();
  if (callbacks_.finished) callbacks_.finished(*finished);
}

void Checkpoints::slice_failed(const Error& reason, std::chrono::milliseconds retry_in) {
  {
    const std::lock_guard lock(mutex_);
    failing_ = reason;
  }
  if (callbacks_.failed) callbacks_.failed(reason, retry_in);
}

}  // namespace cepd::state
