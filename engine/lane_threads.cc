#include "engine/lane_threads.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cepd::engine {

LaneThreads::LaneThreads(std::size_t lanes, Bounds bounds, Work work, Report report)
    : bounds_(bounds), work_(std::move(work)), report_(std::move(report)), lanes_(lanes) {
  for (std::size_t lane = 0; lane < lanes; ++lane) threads_.emplace_back([this, lane] { run(lane); });
}

LaneThreads::~LaneThreads() {
  {
    const Lock lock(mutex_);
    stopped_ = true;
  }
  for (const OfLane& lane : lanes_) lane.wake.notify_one();
  threads_.clear();
}

// ---- lanes ----

void LaneThreads::run(std::size_t index) {
  OfLane& lane = lanes_[index];
  std::shared_ptr<const LaneBatch> batch;
  for (;;) {
    {
      Lock lock(mutex_);
      lane.wake.wait(lock, [&] { return stopped_ || (!lane.queue.empty() && may_go_on(lane)); });
      if (stopped_) return;
      batch = lane.queue.front();
    }
    std::vector<LaneMatch> matches = work_(*this, index, *batch);
    {
      const Lock lock(mutex_);
      add(lane, std::move(matches), batch->end_step());
      lane.queue.pop_front();
      wake_others();
    }
    batch.reset();  // not under the lock: its events may go with it
  }
}

void LaneThreads::hand_over(std::size_t index, std::vector<LaneMatch> matches, std::uint64_t step) {
  OfLane& lane = lanes_[index];
  Lock lock(mutex_);
  add(lane, std::move(matches), step);
  wake_others();
  lane.wake.wait(lock, [&] { return stopped_ || may_go_on(lane); });
}

void LaneThreads::add(OfLane& lane, std::vector<LaneMatch> matches, std::uint64_t step) {
  lane.step = step;
  unreported_ += matches.size();
  if (lane.matches.empty()) {
    lane.matches = std::move(matches);
  } else {
    std::move(matches.begin(), matches.end(), std::back_inserter(lane.matches));
  }
}

/// The lane that is furthest behind never waits for another one, so that all of them come to an end. It does wait for
/// the caller while that has something to report.
bool LaneThreads::may_go_on(const OfLane& lane) const {
  return unreported_ < bounds_.matches || !reports_ || (lane.step == least_step() && !reporting_ && !reportable());
}

void LaneThreads::wake_others() const {
  if (caller_waits_for_ && caller_may_go_on()) caller_.notify_one();
  if (unreported_ < bounds_.matches) return;
  for (const OfLane& lane : lanes_) lane.wake.notify_one();
}

std::size_t LaneThreads::longest_queue() const {
  std::size_t longest = 0;
  for (const OfLane& lane : lanes_) longest = std::max(longest, lane.queue.size());
  return longest;
}

std::uint64_t LaneThreads::least_step() const {
  std::uint64_t least = UINT64_MAX;
  for (const OfLane& lane : lanes_) least = std::min(least, lane.step);
  return least;
}

bool LaneThreads::reportable() const {
  const std::uint64_t least = least_step();
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [&](const OfLane& lane) { return !lane.matches.empty() && lane.matches.front().step < least; });
}

// ---- the caller ----

void LaneThreads::give(LaneBatch batch) {
  const auto shared = std::make_shared<const LaneBatch>(std::move(batch));
  Lock lock(mutex_);
  // Not woken for one free place: each time would cost a change of threads.
  if (longest_queue() >= bounds_.batches) wait_for_queues(lock, bounds_.batches / 2);
  for (OfLane& lane : lanes_) {
    lane.queue.push_back(shared);
    if (lane.queue.size() == 1) lane.wake.notify_one();
  }
  report_ready(lock);
}

void LaneThreads::finish() {
  Lock lock(mutex_);
  wait_for_queues(lock, 0);
  report_ready(lock);
}

void LaneThreads::wait() const {
  Lock lock(mutex_);
  reports_ = false;
  caller_waits_for_ = 0;
  for (const OfLane& lane : lanes_) lane.wake.notify_one();
  caller_.wait(lock, [&] { return longest_queue() == 0; });
  caller_waits_for_.reset();
  reports_ = true;
}

std::size_t LaneThreads::queued() const {
  const Lock lock(mutex_);
  return longest_queue();
}

bool LaneThreads::caller_may_go_on() const {
  return longest_queue() <= *caller_waits_for_ || (reports_ && unreported_ >= bounds_.matches && reportable());
}

void LaneThreads::wait_for_queues(Lock& lock, std::size_t most) {
  while (longest_queue() > most) {
    caller_waits_for_ = most;
    caller_.wait(lock, [&] { return caller_may_go_on(); });
    caller_waits_for_.reset();
    if (longest_queue() > most) report_ready(lock);
  }
}

/// What every lane has got past. Not under the lock while it is reported.
void LaneThreads::report_ready(Lock& lock) {
  const std::uint64_t least = least_step();
  std::vector<LaneMatch> ready;
  for (OfLane& lane : lanes_) {
    const auto end = std::partition_point(lane.matches.begin(), lane.matches.end(),
                                          [&](const LaneMatch& match) { return match.step < least; });
    std::move(lane.matches.begin(), end, std::back_inserter(ready));
    lane.matches.erase(lane.matches.begin(), end);
  }
  if (ready.empty()) return;
  const std::size_t count = ready.size();
  reporting_ = true;
  lock.unlock();
  merge(ready);
  report_(std::move(ready));
  lock.lock();
  reporting_ = false;
  const bool too_many = unreported_ >= bounds_.matches;
  unreported_ -= count;
  if (!too_many) return;
  for (const OfLane& lane : lanes_) lane.wake.notify_one();
}

}  // namespace cepd::engine
