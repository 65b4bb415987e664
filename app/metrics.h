#pragma once
/// /metrics and `cepd status` of a running daemon: what its main loop does for them.

#include <functional>
#include <memory>
#include <string>

#include "app/figures.h"
#include "app/metrics_server.h"
#include "app/status_server.h"

namespace cepd::app {

/// By the pump's thread.
class Metrics {
 public:
  /// What `parts` and `sources` name outlives it. `each_rule`: with figures of single rules.
  Metrics(const FigureParts& parts, const PageSources& sources, bool each_rule);

  /// Serves from now on. `listen`, `wake`, errors: as MetricsServer::start().
  Status serve(const std::string& listen, std::function<void()> wake);
  /// Answers `cepd status` from now on. Errors: as StatusServer::start().
  Status serve_status(const std::string& run_directory, std::function<void()> wake);
  /// Between two batches of messages: for who has asked since the last time. Costs one look where nobody has.
  void answer();

 private:
  const FigureParts parts_;
  const PageSources sources_;
  const bool each_rule_;
  EngineFigures engine_;
  FigureBox box_;
  // Last: their threads use the box.
  std::unique_ptr<MetricsServer> server_;
  std::unique_ptr<StatusServer> status_;
};

}  // namespace cepd::app
