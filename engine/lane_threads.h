#pragma once
/// The threads of the lanes. Each goes through the batches at its own pace, behind a bounded queue of its own: a slow
/// lane holds up the others only when it is a whole queue behind. Matches come out in the one order, each as soon as
/// every lane has got past its place.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "engine/lane.h"

namespace cepd::engine {

/// Events that every lane goes through, and how far time has come behind them. Immutable once given.
struct LaneBatch {
  std::vector<EventPtr> events;  ///< in the total order, numbered
  EventTime watermark = kMinTime;
  std::uint64_t first_step = 0;  ///< LaneMatch::step of the deadlines before the first event

  /// Each event has a step for the deadlines before it and one of its own; the watermark has the last.
  std::uint64_t end_step() const { return first_step + 2 * events.size() + 1; }
};

/// The caller's functions are called from one thread, which gets all reports; no lane ever calls back into it.
class LaneThreads {
 public:
  struct Bounds {
    std::size_t batches = 8;         ///< queued for one lane, the one at work included
    std::size_t matches = 1U << 14;  ///< not reported: above it the lanes that are ahead wait for the others
  };
  /// Does all of a batch in one lane, on its thread; returns the matches that it has not handed over. Must not throw.
  using Work = std::function<std::vector<LaneMatch>(LaneThreads& threads, std::size_t lane, const LaneBatch& batch)>;
  /// Matches in their order, behind those of earlier calls.
  using Report = std::function<void(std::vector<LaneMatch> matches)>;

  LaneThreads(std::size_t lanes, Bounds bounds, Work work, Report report);
  LaneThreads(const LaneThreads&) = delete;
  LaneThreads& operator=(const LaneThreads&) = delete;
  /// What still is in the queues is not done, what was not reported is lost.
  ~LaneThreads();

  // ---- the caller's ----

  /// Puts the batch into every lane's queue; waits for room. Reports what is ready. Requires the steps behind those of
  /// the last batch.
  void give(LaneBatch batch);
  /// Waits until every lane has done all and reports all.
  void finish();
  /// Waits until every lane has done all, but reports nothing.
  void wait() const;
  /// Batches given that not every lane has done.
  std::size_t queued() const;

  // ---- of Work, on the lane's thread ----

  /// Matches of a batch that is not done yet, which has come to `step`. Waits while there are too many not reported and
  /// other lanes or the caller have to act first.
  void hand_over(std::size_t lane, std::vector<LaneMatch> matches, std::uint64_t step);

 private:
  struct OfLane {
    std::deque<std::shared_ptr<const LaneBatch>> queue;  // the first is at work
    std::vector<LaneMatch> matches;                      // not reported
    std::uint64_t step = 0;                              // all before it is done
    mutable std::condition_variable wake;
  };
  using Lock = std::unique_lock<std::mutex>;

  void run(std::size_t lane);
  void add(OfLane& lane, std::vector<LaneMatch> matches, std::uint64_t step);
  bool may_go_on(const OfLane& lane) const;
  void wake_others() const;
  std::size_t longest_queue() const;
  std::uint64_t least_step() const;
  bool reportable() const;
  bool caller_may_go_on() const;
  void wait_for_queues(Lock& lock, std::size_t most);
  void report_ready(Lock& lock);

  const Bounds bounds_;
  const Work work_;
  const Report report_;
  mutable std::mutex mutex_;  // of all below but the threads
  std::deque<OfLane> lanes_;
  std::size_t unreported_ = 0;
  bool reporting_ = false;  // some of them right now
  bool stopped_ = false;
  mutable std::condition_variable caller_;
  mutable std::optional<std::size_t> caller_waits_for_;  // no queue longer than this
  mutable bool reports_ = true;                          // false: the caller waits and will not report meanwhile
  std::vector<std::jthread> threads_;
};

}  // namespace cepd::engine
