#pragma once
/// Delivers outbox records off the matching thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actions/open.h"
#include "state/outbox.h"

namespace cepd::actions {

/// Wait before retry number `attempt` (from 1): exponential from `first`, at most `longest`, times a factor in [0.5, 1] drawn by
/// `random` (a number in [0, 1)). Equal jitter after "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015).
std::chrono::milliseconds back_off(unsigned attempt, std::chrono::milliseconds first, std::chrono::milliseconds longest, double random);

struct ActionCounts {
  std::uint64_t delivered = 0, retried = 0, rejected = 0;
};

/// One worker thread for each action, so that a slow one does not hold up the others. start() once, stop() once.
class Deliverer {
 public:
  Deliverer(std::vector<OpenedAction> actions, state::Outbox& outbox);
  ~Deliverer();  // stop()

  void start();
  /// Lets a delivery under way end, gives up waiting for retries, puts the rest back into the outbox.
  void stop();
  ActionCounts counts(const std::string& action) const;
  std::vector<std::string> names() const;

 private:
  struct Worker;
  std::vector<std::unique_ptr<Worker>> workers_;
  state::Outbox& outbox_;
};

}  // namespace cepd::actions
