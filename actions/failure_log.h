#pragma once
/// Says in the log that an action does not get through, without a line for each try.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"

namespace cepd::actions {

/// The first failure is logged, then at most one line in ten seconds, with how many it stands for; the same for calls
/// that are given up; and once that it works again. For one thread.
class FailureLog {
 public:
  FailureLog(std::string action, const Clock& clock);

  void retrying(const std::string& idempotency_key, const std::string& detail, std::chrono::milliseconds wait);
  /// The circuit breaker has: always a line of its own.
  void opened(unsigned failures);
  void rejected(const std::string& idempotency_key, const std::string& detail);
  void delivered();

 private:
  struct Limit {
    std::optional<std::chrono::steady_clock::time_point> written;
    std::uint64_t unwritten = 0;
  };
  bool may_write(Limit& limit);
  static std::string unwritten(Limit& limit);

  const std::string action_;
  const Clock& clock_;
  Limit retries_, rejections_;
  std::uint64_t failed_tries_ = 0;  // since the last delivery
};

}  // namespace cepd::actions
