#pragma once
#include <atomic>
#include <functional>
#include <thread>

namespace cepd::app {

/// Receives SIGHUP, SIGTERM and SIGINT in a thread of its own (sigwait), so that no work is done in a handler.
/// Make it before any other thread: they inherit the blocked signals.
class Signals {
 public:
  Signals();
  ~Signals();

  /// `woken` is called, from the signal thread, after a flag below was set.
  void start(std::function<void()> woken);
  bool stop_asked() const { return stop_; }
  /// True once for any number of SIGHUPs since the last call.
  bool take_reload() { return reload_.exchange(false); }

 private:
  std::atomic<bool> stop_ = false, reload_ = false;
  std::jthread thread_;
};

}  // namespace cepd::app
