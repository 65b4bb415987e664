#pragma once
/// Checkpoints with the committer that writes them, for tests.
#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "state/checkpoints.h"
#include "state/committer.h"

namespace cepd::state {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

inline Steady::time_point far() { return Steady::now() + 60s; }

class FixedClock final : public Clock {
 public:
  EventTime now() const override { return now_; }
  Steady::time_point steady() const override { return {}; }
  void set(EventTime now) { now_ = now; }

 private:
  EventTime now_ = event_time_us(1'000'000'000);
};

inline CheckpointOptions small() {
  CheckpointOptions options;
  options.keep = 3;
  options.slice_changes = 3;
  return options;
}

/// Checkpoints and the committer that writes them, over a backend that may be made to fail.
class Subject {
 public:
  explicit Subject(StateBackend& backend, CheckpointOptions options = small(), CommitterOptions committing = quick())
      : backend_(backend) {
    auto opened = Checkpoints::open(backend_, options, {}, clock_);
    REQUIRE(opened.has_value());
    checkpoints_ = std::move(*opened);
    committer_ = std::make_unique<Committer>(backend_, committing, CommitterCallbacks{}, checkpoints_.get());
  }
  static CommitterOptions quick() {
    CommitterOptions options;
    options.max_wait = 0us;
    options.first_retry = options.longest_retry = 1h;
    return options;
  }
  Checkpoints* operator->() { return checkpoints_.get(); }
  Committer& committer() { return *committer_; }
  FixedClock& clock() { return clock_; }

  std::uint64_t whole(WriteBatch changes, std::uint64_t journal_sequence = 0) {
    const std::uint64_t number = checkpoints_->begin(journal_sequence, 1);
    checkpoints_->add(std::move(changes));
    checkpoints_->finish();
    REQUIRE(checkpoints_->wait_finished(number, far()));
    return number;
  }
  void add(WriteBatch group) { REQUIRE(committer_->wait_durable(committer_->add(std::move(group)), far())); }
  /// Waits until what follows a checkpoint, the trimming, is done too.
  void settle() {
    while (checkpoints_->has_slice()) std::this_thread::yield();
  }

 private:
  StateBackend& backend_;
  FixedClock clock_;
  std::unique_ptr<Checkpoints> checkpoints_;
  std::unique_ptr<Committer> committer_;
};

inline WriteBatch put(Space space, const std::string& key, const std::string& value) {
  WriteBatch batch;
  batch.put(space, key, value);
  return batch;
}

}  // namespace cepd::state
