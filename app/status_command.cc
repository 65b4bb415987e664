// `cepd status`: how a running daemon is.
#include <iostream>

#include "app/commands.h"
#include "app/rule_messages.h"
#include "app/settings.h"
#include "app/status_server.h"

namespace cepd::app {

int status_command(const std::string& config, bool json) {
  Diagnostics diagnostics;
  const Settings settings = load_settings(config, diagnostics);
  print_diagnostics(diagnostics);
  if (has_errors(diagnostics)) return kFailed;
  const auto answer = ask_status(settings.daemon.text("run_directory"), json ? StatusForm::kJson : StatusForm::kText);
  if (!answer) {
    std::cerr << "cepd status: " << answer.error().message << "\n";
    return kFailed;
  }
  std::cout << *answer;
  return kGood;
}

}  // namespace cepd::app
