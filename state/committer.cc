#include "state/committer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/fault.h"

namespace cepd::state {

Committer::Committer(StateBackend& backend, CommitterOptions options, CommitterCallbacks callbacks, WriterDuty* duty)
    : backend_(backend), duty_(duty), options_(options), callbacks_(std::move(callbacks)) {
  if (duty_ != nullptr) duty_->attach(*this);
  writer_ = std::thread([this] { run(); });
}

Committer::~Committer() { static_cast<void>(stop()); }

CommitTicket Committer::add(WriteBatch batch) {
  const std::lock_guard lock(mutex_);
  CEPD_CHECK(!ended_);
  if (batch.empty()) return last_;
  const std::size_t bytes = batch.bytes();
  const bool first = group_.empty();
  if (first) {
    first_added_ = Clock::now();
    group_ = std::move(batch);
  } else {
    group_.append(std::move(batch));
  }
  group_bytes_ += bytes;
  // With max_wait 0 each commit takes what came during the one before it.
  if (first || group_bytes_ >= options_.most_bytes) wake_.notify_one();
  return ++last_;
}

void Committer::hurry() {
  const std::lock_guard lock(mutex_);
  if (group_.empty()) return;
  hurry_ = true;
  wake_.notify_one();
}

bool Committer::wait_room(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline,
                             [this] { return !failing_ && group_bytes_ + under_way_bytes_ < options_.most_bytes; });
}

CommitTicket Committer::durable() const {
  const std::lock_guard lock(mutex_);
  return durable_;
}

bool Committer::wait_durable(CommitTicket ticket, Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [&] { return durable_ >= ticket || ended_; });
  return durable_ >= ticket;
}

std::optional<Error> Committer::failing() const {
  const std::lock_guard lock(mutex_);
  return failing_;
}

void Committer::retry_now() {
  const std::lock_guard lock(mutex_);
  retry_ = failing_.has_value();
  next_slice_ = {};
  wake_.notify_one();
}

void Committer::wake() {
  const std::lock_guard lock(mutex_);
  wake_.notify_one();
}

std::size_t Committer::waiting_bytes() const {
  const std::lock_guard lock(mutex_);
  return group_bytes_ + under_way_bytes_;
}

bool Committer::group_due(Clock::time_point now) const {
  return !group_.empty() &&
         (hurry_ || stopping_ || group_bytes_ >= options_.most_bytes || now >= first_added_ + options_.max_wait);
}

bool Committer::slice_due(Clock::time_point now) const {
  return duty_ != nullptr && !stopping_ && duty_->has_slice() && now >= next_slice_;
}

std::chrono::milliseconds Committer::next_retry(std::chrono::milliseconds before) const {
  return before.count() == 0 ? options_.first_retry : std::min(before * 2, options_.longest_retry);
}

void Committer::wait_for_work(Lock& lock) {
  while (true) {
    const Clock::time_point now = Clock::now();
    if (stopping_ || group_due(now) || slice_due(now)) return;
    auto until = Clock::time_point::max();
    if (!group_.empty()) until = first_added_ + options_.max_wait;
    if (duty_ != nullptr && duty_->has_slice()) until = std::min(until, next_slice_);
    if (until == Clock::time_point::max()) {
      wake_.wait(lock);
    } else {
      wake_.wait_until(lock, until);
    }
  }
}

void Committer::run() {
  Lock lock(mutex_);
  while (true) {
    wait_for_work(lock);
    if (group_due(Clock::now())) {
      outcome_ = commit_group(lock);
      if (!outcome_) break;
    } else if (slice_due(Clock::now())) {
      commit_slice(lock);
    }
    if (stopping_ && group_.empty()) break;
  }
  ended_ = true;
  changed_.notify_all();
}

Status Committer::commit_group(Lock& lock) {
  WriteBatch group = std::exchange(group_, {});
  Commit done;
  done.through = last_;
  done.changes = group.changes().size();
  done.bytes = under_way_bytes_ = std::exchange(group_bytes_, 0);
  hurry_ = false;
  const Clock::time_point began = Clock::now();
  done.waited = std::chrono::duration_cast<std::chrono::microseconds>(began - first_added_);
  CEPD_TRY(commit(std::move(group), lock));
  done.took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began);
  under_way_bytes_ = 0;
  durable_ = done.through;
  changed_.notify_all();
  if (callbacks_.durable) {
    lock.unlock();
    callbacks_.durable(done);
    lock.lock();
  }
  return {};
}

Status Committer::commit_with_slice(WriteBatch& group) {
  auto slice = duty_->slice();
  if (!slice) return std::move(slice).error();
  const std::size_t own = group.changes().size();
  group.append(std::move(*slice));
  Status committed = group.empty() ? Status{} : backend_.commit(group);
  group.truncate(own);
  return committed;
}

Status Committer::try_commit(WriteBatch& group, bool& complete, bool with_slice) {
  if (duty_ != nullptr && !complete) {
    auto beside = duty_->beside(group);
    if (!beside) return std::move(beside).error();
    group.append(std::move(*beside));
  }
  complete = true;
  fault(FaultPoint::kBeforeGroup);
  // One sync of the disk for both. What makes the slice fail need not concern the group.
  Status sliced = with_slice ? commit_with_slice(group) : error(Errc::kInternal, "no slice");
  if (!sliced) CEPD_TRY(backend_.commit(group));
  fault(FaultPoint::kAfterGroup);
  if (with_slice) note_slice(sliced);
  if (duty_ != nullptr) duty_->group_durable();
  return {};
}

Status Committer::commit(WriteBatch group, Lock& lock) {
  std::chrono::milliseconds retry_in{0};
  bool complete = false;
  while (true) {
    // Asked for before this attempt: it is the last one.
    const bool last = stopping_;
    const bool with_slice = !failing_ && slice_due(Clock::now());
    lock.unlock();
    Status committed = try_commit(group, complete, with_slice);
    lock.lock();
    if (committed) break;
    failing_ = committed.error();
    retry_ = false;
    retry_in = next_retry(retry_in);
    if (callbacks_.failed) {
      lock.unlock();
      callbacks_.failed(committed.error(), retry_in);
      lock.lock();
    }
    if (last) return committed;
    // Where the disk is full, a slice that only removes something makes room.
    if (slice_due(Clock::now())) commit_slice(lock);
    wake_.wait_for(lock, retry_in, [this] { return retry_ || stopping_; });
  }
  if (std::exchange(failing_, std::nullopt) && callbacks_.recovered) {
    lock.unlock();
    callbacks_.recovered();
    lock.lock();
  }
  return {};
}

void Committer::commit_slice(Lock& lock) {
  lock.unlock();
  WriteBatch alone;
  note_slice(commit_with_slice(alone));
  lock.lock();
}

void Committer::note_slice(const Status& written) {
  std::chrono::milliseconds retry_in{0};
  if (written) {
    duty_->slice_durable();
  } else {
    duty_->slice_failed(written.error(), retry_in = next_retry(slice_retry_));
  }
  const std::lock_guard lock(mutex_);
  slice_retry_ = retry_in;
  next_slice_ = written ? Clock::time_point{} : Clock::now() + retry_in;
}

Status Committer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_one();
  }
  if (writer_.joinable()) writer_.join();
  return outcome_;
}

}  // namespace cepd::state
