#include <spdlog/spdlog.h>

#include <csignal>
#include <cstdlib>

#include "app/commands.h"
#include "app/daemon.h"
#include "app/rule_messages.h"
#include "base/fault.h"
#include "state/damage_guard.h"

namespace cepd::app {

int run_command(const std::string& config) {
  Diagnostics diagnostics;
  Settings settings = load_settings(config, diagnostics);
  print_diagnostics(diagnostics);
  if (has_errors(diagnostics)) return kFailed;
  spdlog::set_level(spdlog::level::from_str(settings.daemon.text("log_level")));
  if (const char* faults = std::getenv("CEPD_FAULT")) {
    spdlog::warn("this cepd fails on purpose: CEPD_FAULT={}", faults);
    if (const Status planned = plan_faults(faults); !planned) {
      spdlog::error("CEPD_FAULT: {}", planned.error().message);
      return kWrongUse;
    }
  }

  // A file as large as it may get, or a reader that is gone, is an error of the one who writes, and no end.
  for (const int signal : {SIGXFSZ, SIGPIPE}) std::signal(signal, SIG_IGN);
  state::guard_damaged_files(
      "`cepd state verify` says more; put it back from a copy, or move it away to start with empty state");

  Daemon daemon(std::move(settings), system_clock());
  if (const Status opened = daemon.open(); !opened) {
    spdlog::error("cannot start: {}", opened.error().message);
    return kFailed;
  }
  if (const Status ran = daemon.run(); !ran) {
    spdlog::error("{}", ran.error().message);
    return kFailed;
  }
  return kGood;
}

}  // namespace cepd::app
