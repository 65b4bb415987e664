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
  using Records = std::vector<state::RecordPtr>;

  Worker(OpenedAction opened, Deliverer& deliverer, const Clock& clock, std::uint64_t seed)
      : action(std::move(opened)),
        owner(deliverer),
        outbox(deliverer.outbox_),
        breaker(action.breaker_failures),
        failures(action.name, clock),
        random(seed) {
    const std::size_t at_once = action.sink->most_at_once();
    outbox.set_limits(action.name, {action.queue_bytes, std::max(state::kMostUnmarked, 4 * at_once)});
  }

  void run(const std::stop_token& stop) {
    while (true) {
      auto taken = outbox.take(action.name, action.sink->most_at_once(), stop);
      if (!taken) {
        if (owner.unreadable_) owner.unreadable_(taken.error());
        return;
      }
      if (taken->empty()) return;
      if (owner.before_call_) {
        for (const auto& record : *taken) owner.before_call_(*record);
      }
      deliver(std::move(*taken), stop);
    }
  }

  /// Until all are delivered or rejected, or it is asked to stop.
  void deliver(Records records, const std::stop_token& stop) {
    while (!records.empty()) {
      breaker.attempt();
      const std::size_t tried = breaker.state() == BreakerState::kClosed ? records.size() : 1;
      fault(FaultPoint::kBeforeDelivery);
      const std::vector<Outcome> outcomes = action.sink->deliver_all(std::span(records).first(tried));
      CEPD_CHECK(!outcomes.empty() && outcomes.size() <= tried);
      const Outcome* failed = settle(records, outcomes);
      if (failed == nullptr) continue;
      if (!sleep(wait_after(*failed), stop)) {
        std::vector<std::uint64_t> left;
        for (const auto& record : records) left.push_back(record->sequence);
        outbox.put_back(action.name, left);
        return;
      }
    }
  }

  /// Takes out of `records` what is done with. The first outcome that is to be retried, if there is one.
  const Outcome* settle(Records& records, const std::vector<Outcome>& outcomes) {
    std::vector<std::uint64_t> finished;
    const Outcome* failed = nullptr;
    std::size_t done = 0, kept = 0;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const Outcome& outcome = outcomes[i];
      if (outcome.delivery == Delivery::kRetry) {
        if (failed == nullptr) {
          failed = &outcome;
          failed_key = records[i]->idempotency_key;
        }
        retried.fetch_add(1, std::memory_order_relaxed);
        std::swap(records[kept++], records[i]);
        continue;
      }
      finished.push_back(records[i]->sequence);
      if (outcome.delivery == Delivery::kDone) {
        ++done;
      } else {
        failures.rejected(records[i]->idempotency_key, outcome.detail);
        rejected.fetch_add(1, std::memory_order_relaxed);
      }
    }
    records.erase(records.begin() + static_cast<std::ptrdiff_t>(kept),
                  records.begin() + static_cast<std::ptrdiff_t>(outcomes.size()));
    if (!finished.empty()) {
      delivered.fetch_add(done, std::memory_order_relaxed);
      breaker.succeeded();
      if (failed == nullptr) {
        if (done > 0) failures.delivered();
        failing.store(false, std::memory_order_relaxed);
      }
      if (done > 0) fault(FaultPoint::kBeforeMark);
      outbox.finish(action.name, finished);
      if (done > 0) fault(FaultPoint::kAfterMark);
    }
    return failed;
  }

  milliseconds wait_after(const Outcome& outcome) {
    const bool opened = breaker.failed();
    milliseconds wait = back_off(breaker.failures(), action.retry.first, action.retry.longest,
                                 std::uniform_real_distribution<double>(0, 1)(random));
    if (outcome.retry_after) wait = std::max(wait, std::min(*outcome.retry_after, action.retry.longest));
    failing.store(true, std::memory_order_relaxed);
    failures.retrying(failed_key, outcome.detail, wait);
    if (opened) failures.opened(breaker.failures());
    return wait;
  }

  /// False when it was ended by `stop`.
  bool sleep(milliseconds wait, const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, wait, [] { return false; });
    return !stop.stop_requested();
  }

  const OpenedAction action;
  Deliverer& owner;
  state::Outbox& outbox;
  Breaker breaker;
  FailureLog failures;
  std::string failed_key;  // of the call that the last failure is about
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
    workers_.push_back(std::make_unique<Worker>(std::move(action), *this, clock, seed++));
  }
}

Deliverer::~Deliverer() { stop(); }

void Deliverer::start() {
  for (auto& worker : workers_) {
    CEPD_CHECK(!worker->thread.joinable());
    worker->thread = std::jthread([w = worker.get()](const std::stop_token& stop) { w->run(stop); });
  }
}

void Deliverer::stop() {
  for (auto& worker : workers_) {
    worker->thread.request_stop();
    worker->action.sink->end_soon();
  }
  for (auto& worker : workers_) {
    if (worker->thread.joinable()) worker->thread.join();
  }
}

ActionCounts Deliverer::counts(const std::string& action) const {
  for (const auto& worker : workers_) {
    if (worker->action.name != action) continue;
    return {worker->delivered.load(std::memory_order_relaxed),
            worker->retried.load(std::memory_order_relaxed),
            worker->rejected.load(std::memory_order_relaxed),
            worker->failing.load(std::memory_order_relaxed),
            worker->breaker.state(),
            worker->breaker.opened()};
  }
  return {};
}

std::vector<std::string> Deliverer::names() const {
  std::vector<std::string> names;
  for (const auto& worker : workers_) names.push_back(worker->action.name);
  return names;
}

}  // namespace cepd::actions
