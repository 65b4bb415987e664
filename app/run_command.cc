#include <spdlog/spdlog.h>

#include <cstdlib>

#include "app/commands.h"
#include "app/daemon.h"
#include "app/rule_messages.h"
#include "base/fault.h"

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
