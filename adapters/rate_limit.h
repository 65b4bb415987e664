#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace cepd::adapters {

/// Lets a log line through at most once in `every` and counts those between. For one thread.
class RateLimit {
 public:
  explicit RateLimit(std::chrono::milliseconds every) : every_(every) {}

  /// How many cases a line written now stands for (at least one), or nothing when it must wait. Counts this case.
  std::optional<std::uint64_t> pass(std::chrono::steady_clock::time_point now) {
    ++waiting_;
    return due(now);
  }
  /// The same without a new case: nothing either when none waits.
  std::optional<std::uint64_t> due(std::chrono::steady_clock::time_point now) {
    if (waiting_ == 0 || now < next_) return std::nullopt;
    next_ = now + every_;
    return std::exchange(waiting_, 0);
  }
  std::uint64_t waiting() const { return waiting_; }

 private:
  const std::chrono::milliseconds every_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::time_point::min();
  std::uint64_t waiting_ = 0;
};

}  // namespace cepd::adapters
