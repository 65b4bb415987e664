#include "actions/deliver.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "actions/failure_log.h"
#include "base/back_off.h"
#include "base/check.h"
#include "base/fault.h"

namespace cepd::actions {

using std::chrono::milliseconds;

struct Deliverer::Worker {
  Worker(OpenedAction opened, state::Outbox& records, const Clock& clock, std::uint64_t seed)
      : action(std::move(opened)), outbox(records), failures(action.name, clock), random(seed) {}

  void run(const std::stop_token& stop, const std::function<void(const state::OutboxRecord&)>& before_call) {
    while (const auto record = outbox.take(action.name, stop)) {
      if (before_call) before_call(*record);
      deliver(*record, stop);
    }
  }

  void deliver(const state::OutboxRecord& record, const std::stop_token& stop) {
    for (unsigned attempt = 1;; ++attempt) {
      fault(FaultPoint::kBeforeDelivery);
      const Outcome outcome = action.sink->deliver(record);
      switch (outcome.delivery) {
        case Delivery::kDone:
          failures.delivered();
          failing.store(false, std::memory_order_relaxed);
          delivered.fetch_add(1, std::memory_order_relaxed);
          fault(FaultPoint::kBeforeMark);
          outbox.finish(action.name, record.sequence);
          fault(FaultPoint::kAfterMark);
          return;
        case Delivery::kRejected:
          failures.rejected(record.idempotency_key, outcome.detail);
          failing.store(false, std::memory_order_relaxed);
          rejected.fetch_add(1, std::memory_order_relaxed);
          outbox.finish(action.name, record.sequence);
          return;
        case Delivery::kRetry:
          break;
      }
      milliseconds wait = back_off(attempt, action.retry.first, action.retry.longest,
                                   std::uniform_real_distribution<double>(0, 1)(random));
      if (outcome.retry_after) wait = std::max(wait, std::min(*outcome.retry_after, action.retry.longest));
      retried.fetch_add(1, std::memory_order_relaxed);
      failing.store(true, std::memory_order_relaxed);
      failures.retrying(record.idempotency_key, outcome.detail, wait);
      if (!sleep(wait, stop)) {
        outbox.put_back(action.name, record.sequence);
        return;
      }
    }
  }

  /// False when it was ended by `stop`.
  bool sleep(milliseconds wait, const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, wait, [] { return false; });
    return !stop.stop_requested();
  }

  const OpenedAction action;
  state::Outbox& outbox;
  FailureLog failures;
  std::mt19937_64 random;
  std::atomic<std::uint64_t> delivered{0}, retried{0}, rejected{0};
  std::atomic<bool> failing{false};
  std::mutex mutex;
  std::condition_variable_any never;
  std::jthread thread;  // last: ends before what it uses
};

Deliverer::Deliverer(std::vector<OpenedAction> actions, state::Outbox& outbox, const Clock& clock, std::uint64_t seed)
    : outbox_(outbox) {
  for (auto& action : actions) {
    workers_.push_back(std::make_unique<Worker>(std::move(action), outbox_, clock, seed++));
  }
}

Deliverer::~Deliverer() { stop(); }

void Deliverer::start() {
  for (auto& worker : workers_) {
    CEPD_CHECK(!worker->thread.joinable());
    worker->thread =
        std::jthread([this, w = worker.get()](const std::stop_token& stop) { w->run(stop, before_call_); });
  }
}

void Deliverer::stop() {
  for (auto& worker : workers_) worker->thread.request_stop();
  for (auto& worker : workers_) {
    if (worker->thread.joinable()) worker->thread.join();
  }
}

ActionCounts Deliverer::counts(const std::string& action) const {
  for (const auto& worker : workers_) {
    if (worker->action.name != action) continue;
    return {worker->delivered.load(std::memory_order_relaxed), worker->retried.load(std::memory_order_relaxed),
            worker->rejected.load(std::memory_order_relaxed), worker->failing.load(std::memory_order_relaxed)};
  }
  return {};
}

std::vector<std::string> Deliverer::names() const {
  std::vector<std::string> names;
  for (const auto& worker : workers_) names.push_back(worker->action.name);
  return names;
}

}  // namespace cepd::actions
