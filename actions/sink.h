#pragma once
/// A sink carries one kind of action out: log, file, webhook, alert, discount, ...

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/action_schema.h"
#include "state/outbox.h"

namespace cepd::actions {

enum class Delivery : unsigned char {
  kDone,
  kRetry,     ///< did not work now; may later
  kRejected,  ///< will never work (a 4xx answer): logged, counted and given up
};

struct Outcome {
  Delivery delivery = Delivery::kDone;
  std::string detail = {};  ///< why not, for the log: one line, without secrets
  /// Of a kRetry: the service asked for at least this wait (Retry-After). The deliverer bounds it.
  std::optional<std::chrono::milliseconds> retry_after = std::nullopt;
};

/// Called by one worker thread at a time; may block up to its own time limit. The same record may come again after a
/// crash or a retry; record.idempotency_key is then the same.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual Outcome deliver(const state::OutboxRecord& record) = 0;

  /// How many calls deliver_all() may be given.
  virtual std::size_t most_at_once() const { return 1; }
  /// Delivers in order, with as many on the way at a time as it likes. The outcomes of the first ones, at least of one:
  /// the others were not tried.
  virtual std::vector<Outcome> deliver_all(std::span<const state::RecordPtr> records) {
    return {deliver(*records.front())};
  }
  /// Any thread: what is under way, and each call from now on, should take no longer than about a second.
  virtual void end_soon() {}
};

/// A sink whose service takes many calls at a time.
class BatchSink : public Sink {
 public:
  Outcome deliver(const state::OutboxRecord& record) final {
    const state::RecordPtr alone(&record, [](const state::OutboxRecord*) {});
    return std::move(deliver_all({&alone, 1}).front());
  }
  std::size_t most_at_once() const override { return 1'024; }
  std::vector<Outcome> deliver_all(std::span<const state::RecordPtr> records) override = 0;
};

}  // namespace cepd::actions
