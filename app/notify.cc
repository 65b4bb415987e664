#include "app/notify.h"

#include <systemd/sd-daemon.h>

namespace cepd::app {

ServiceManager::ServiceManager() {
  std::uint64_t interval_us = 0;
  if (sd_watchdog_enabled(0, &interval_us) > 0) watchdog_ = std::chrono::microseconds(interval_us);
}

void ServiceManager::ready(const std::string& status) { sd_notify(0, ("READY=1\nSTATUS=" + status).c_str()); }

void ServiceManager::reloading() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();  // CLOCK_MONOTONIC
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  sd_notify(0, ("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(us)).c_str());
}

void ServiceManager::stopping() { sd_notify(0, "STOPPING=1"); }

void ServiceManager::alive(std::chrono::steady_clock::time_point now) {
  if (!watchdog_ || now - last_alive_ < *watchdog_ / 2) return;
  last_alive_ = now;
  sd_notify(0, "WATCHDOG=1");
}

}  // namespace cepd::app
