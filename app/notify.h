#pragma once
/// Messages to the service manager (sd_notify). Without NOTIFY_SOCKET every call does nothing. One thread.

#include <chrono>
#include <optional>
#include <string>

namespace cepd::app {

class ServiceManager {
 public:
  ServiceManager();
  void ready(const std::string& status);
  /// systemd 252 has no notify-reload: the unit is Type=notify and this is sent before, ready() after a reload.
  void reloading();
  void stopping();
  /// WATCHDOG=1 when half the watchdog's time has passed since the last one.
  void alive(std::chrono::steady_clock::time_point now);

 private:
  std::optional<std::chrono::microseconds> watchdog_;
  std::chrono::steady_clock::time_point last_alive_{};
};

}  // namespace cepd::app
