#pragma once
/// Keeps an action whose receiver does not work from being called all the time.

#include <atomic>
#include <cstdint>

namespace cepd::actions {

enum class BreakerState : unsigned char {
  kClosed,    ///< calls go out
  kHalfOpen,  ///< one call is on its way, on trial
  kOpen,      ///< no call goes out before the wait is over
};

/// Opens when so many attempts in a row have failed; then one call is tried after each wait, and the first that gets
/// through closes it. One thread changes it; the getters are for any.
class Breaker {
 public:
  /// `failures`: at least 1.
  explicit Breaker(unsigned failures) : most_failures_(failures) {}

  /// An attempt begins, after the wait.
  void attempt() {
    if (state() == BreakerState::kOpen) state_ = BreakerState::kHalfOpen;
  }
  void succeeded() {
    failures_ = 0;
    state_ = BreakerState::kClosed;
  }
  /// True when it has opened, having been closed.
  bool failed() {
    const bool was_closed = state() == BreakerState::kClosed;
    if (++failures_ < most_failures_) return false;
    state_ = BreakerState::kOpen;
    if (was_closed) ++opened_;
    return was_closed;
  }

  unsigned failures() const { return failures_; }  ///< attempts in a row; by the thread that changes it
  BreakerState state() const { return state_; }
  std::uint64_t opened() const { return opened_; }  ///< how often it has opened, having been closed

 private:
  const unsigned most_failures_;
  unsigned failures_ = 0;
  std::atomic<BreakerState> state_ = BreakerState::kClosed;
  std::atomic<std::uint64_t> opened_ = 0;
};

}  // namespace cepd::actions
