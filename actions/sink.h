#pragma once
/// A sink carries one kind of action out: log, file, webhook, alert, discount.

#include <chrono>
#include <optional>
#include <string>

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

/// deliver() is called by one worker thread at a time and may block up to its own time limit. The same record may come
/// again after a crash or a retry; record.idempotency_key is then the same.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual Outcome deliver(const state::OutboxRecord& record) = 0;
};

}  // namespace cepd::actions
