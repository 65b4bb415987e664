/// cepd reload: signals the running daemon and says how it went.

#include <csignal>
#include <cstring>
#include <iostream>
#include <thread>

#include "app/commands.h"
#include "app/control.h"
#include "app/rule_messages.h"
#include "app/settings.h"

namespace cepd::app {

int reload_command(const std::string& config, Micros wait) {
  Diagnostics diagnostics;
  const Settings settings = load_settings(config, diagnostics);
  print_diagnostics(diagnostics);
  if (has_errors(diagnostics)) return kFailed;
  const std::string& directory = settings.daemon.text("run_directory");
  const Result<int> process = running_process(directory);
  if (!process) {
    std::cerr << "cepd reload: " << process.error().message << "\n";
    return kFailed;
  }
  const std::uint64_t before = last_outcome(directory).value_or(ReloadOutcome{}).number;
  if (::kill(*process, SIGHUP) != 0) {
    std::cerr << "cepd reload: cannot signal process " << *process << ": " << std::strerror(errno) << "\n";
    return kFailed;
  }
  const auto deadline = std::chrono::steady_clock::now() + wait;
  while (std::chrono::steady_clock::now() < deadline) {
    const auto outcome = last_outcome(directory);
    if (outcome && outcome->number > before) {
      (outcome->good ? std::cout : std::cerr) << outcome->text;
      return outcome->good ? kGood : kFailed;
    }
    if (!running_process(directory)) {
      std::cerr << "cepd reload: the daemon ended before it had reloaded\n";
      return kFailed;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::cerr << "cepd reload: process " << *process << " has not reloaded after " << format_duration(wait) << "\n";
  return kFailed;
}

}  // namespace cepd::app
