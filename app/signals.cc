#include "app/signals.h"

#include <csignal>

namespace cepd::app {
namespace {
sigset_t handled() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGHUP, SIGTERM, SIGINT, SIGUSR2}) sigaddset(&set, signal);
  return set;
}
}  // namespace

Signals::Signals() {
  const sigset_t set = handled();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void Signals::start(std::function<void()> woken) {
  thread_ = std::jthread([this, woken = std::move(woken)](const std::stop_token& stop) {
    const sigset_t set = handled();
    while (!stop.stop_requested()) {
      int signal = 0;
      if (sigwait(&set, &signal) != 0) continue;
      if (signal == SIGUSR2) continue;  // only ends the wait
      (signal == SIGHUP ? reload_ : stop_) = true;
      woken();
    }
  });
}

Signals::~Signals() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  pthread_kill(thread_.native_handle(), SIGUSR2);
}

}  // namespace cepd::app
