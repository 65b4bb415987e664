#pragma once
/// Delivers outbox records off the matching thread.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "actions/breaker.h"
#include "actions/open.h"
#include "base/clock.h"
#include "state/outbox.h"

namespace cepd::actions {

struct ActionCounts {
  std::uint64_t delivered = 0;
  std::uint64_t retried = 0;  ///< attempts that did not work and will be made again
  std::uint64_t rejected = 0;
  bool failing = false;  ///< the last attempt did not work and will be made again
  BreakerState breaker = BreakerState::kClosed;
  std::uint64_t breaker_opened = 0;  ///< how often
};

/// One worker thread for each action, so that a slow one does not hold up the others; the calls of one action are
/// delivered in the order of the outbox, one after another or as many at a time as the sink takes. A call is retried
/// until it is delivered or rejected, over restarts too. Once many attempts in a row have failed (Breaker), one call
/// alone is tried after each wait. start() once, stop() once; counts() and names() from any thread.
class Deliverer {
 public:
  /// `seed` is of the jitter in retry waits. `outbox` and `clock` must outlive this object.
  Deliverer(std::vector<OpenedAction> actions, state::Outbox& outbox, const Clock& clock = system_clock(),
            std::uint64_t seed = std::random_device{}());
  ~Deliverer();  // stop()

  /// Before start(): `call` is told of each call just before its first attempt, by the worker's thread.
  void before_call(std::function<void(const state::OutboxRecord&)> call) { before_call_ = std::move(call); }
  /// Before start(): stored calls cannot be read; the worker that found out ends then.
  void unreadable(std::function<void(const Error&)> call) { unreadable_ = std::move(call); }
  void start();
  /// Lets a delivery under way end (Sink::end_soon(), or its time limit), gives up waiting for retries, puts the
  /// rest back into the outbox.
  void stop();
  ActionCounts counts(const std::string& action) const;
  std::vector<std::string> names() const;

 private:
  struct Worker;
  std::vector<std::unique_ptr<Worker>> workers_;
  state::Outbox& outbox_;
  std::function<void(const state::OutboxRecord&)> before_call_;
  std::function<void(const Error&)> unreadable_;
};

}  // namespace cepd::actions
