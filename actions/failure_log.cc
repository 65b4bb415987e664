#include "actions/failure_log.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace cepd::actions {
namespace {
constexpr std::chrono::seconds kBetweenLines{10};
}

FailureLog::FailureLog(std::string action, const Clock& clock) : action_(std::move(action)), clock_(clock) {}

bool FailureLog::may_write(Limit& limit) {
  const auto now = clock_.steady();
  if (limit.written && now - *limit.written < kBetweenLines) {
    ++limit.unwritten;
    return false;
  }
  limit.written = now;
  return true;
}

std::string FailureLog::unwritten(Limit& limit) {
  const auto count = std::exchange(limit.unwritten, 0);
  return count == 0 ? std::string() : " (" + std::to_string(count) + " more not logged before)";
}

void FailureLog::retrying(const std::string& idempotency_key, const std::string& detail,
                          std::chrono::milliseconds wait) {
  ++failed_tries_;
  if (!may_write(retries_)) return;
  spdlog::warn("action {}: {} is tried again in {} ms: {}{}", action_, idempotency_key, wait.count(), detail,
               unwritten(retries_));
}

void FailureLog::opened(unsigned failures) {
  spdlog::warn(
      "action {}: {} attempts in a row failed: its circuit breaker is open, and one call alone is tried now "
      "and then until one gets through",
      action_, failures);
}

void FailureLog::rejected(const std::string& idempotency_key, const std::string& detail) {
  failed_tries_ = 0;
  if (!may_write(rejections_)) return;
  spdlog::error("action {}: {} is given up: {}{}", action_, idempotency_key, detail, unwritten(rejections_));
}

void FailureLog::delivered() {
  if (failed_tries_ == 0) return;
  spdlog::info("action {}: works again after {} failed tries", action_, failed_tries_);
  failed_tries_ = 0;
  retries_ = {};  // the next failure is a first one again
}

}  // namespace cepd::actions
