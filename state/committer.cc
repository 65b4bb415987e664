#include "state/committer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace cepd::state {

Committer::Committer(StateBackend& backend, CommitterOptions options, CommitterCallbacks callbacks)
    : backend_(backend), options_(options), callbacks_(std::move(callbacks)), writer_([this] { run(); }) {}

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
  wake_.notify_one();
}

std::size_t Committer::waiting_bytes() const {
  const std::lock_guard lock(mutex_);
  return group_bytes_ + under_way_bytes_;
}

bool Committer::due(Clock::time_point now) const {
  return !group_.empty() &&
         (hurry_ || stopping_ || group_bytes_ >= options_.most_bytes || now >= first_added_ + options_.max_wait);
}

void Committer::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    while (!due(Clock::now()) && !stopping_) {
      if (group_.empty()) {
        wake_.wait(lock);
      } else {
        wake_.wait_until(lock, first_added_ + options_.max_wait);
      }
    }
    if (group_.empty()) break;  // stopping, and nothing is left

    const WriteBatch group = std::exchange(group_, {});
    Commit done;
    done.through = last_;
    done.changes = group.changes().size();
    done.bytes = under_way_bytes_ = std::exchange(group_bytes_, 0);
    hurry_ = false;
    const Clock::time_point began = Clock::now();
    done.waited = std::chrono::duration_cast<std::chrono::microseconds>(began - first_added_);
    outcome_ = commit(group, lock);
    if (!outcome_) break;
    done.took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began);
    under_way_bytes_ = 0;
    durable_ = done.through;
    changed_.notify_all();
    if (callbacks_.durable) {
      lock.unlock();
      callbacks_.durable(done);
      lock.lock();
    }
  }
  ended_ = true;
  changed_.notify_all();
}

Status Committer::commit(const WriteBatch& group, std::unique_lock<std::mutex>& lock) {
  std::chrono::milliseconds retry_in = options_.first_retry;
  while (true) {
    // Asked for before this attempt: it is the last one.
    const bool last = stopping_;
    lock.unlock();
    Status committed = backend_.commit(group);
    lock.lock();
    if (committed) break;
    failing_ = committed.error();
    retry_ = false;
    if (callbacks_.failed) {
      lock.unlock();
      callbacks_.failed(committed.error(), retry_in);
      lock.lock();
    }
    if (last) return committed;
    wake_.wait_for(lock, retry_in, [this] { return retry_ || stopping_; });
    retry_in = std::min(retry_in * 2, options_.longest_retry);
  }
  if (std::exchange(failing_, std::nullopt) && callbacks_.recovered) {
    lock.unlock();
    callbacks_.recovered();
    lock.lock();
  }
  return {};
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
