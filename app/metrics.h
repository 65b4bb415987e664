#pragma once
/// /metrics of a running daemon: what its main loop does for it.

#include <functional>
#include <memory>
#include <string>

#include "app/figures.h"
#include "app/metrics_server.h"

namespace cepd::app {

/// By the pump's thread.
class Metrics {
 public:
  /// What `parts` and `sources` name outlives it. `each_rule`: with figures of single rules.
  Metrics(const FigureParts& parts, const PageSources& sources, bool each_rule);

  /// Serves from now on. `listen`, `wake`, errors: as MetricsServer::start().
  Status serve(const std::string& listen, std::function<void()> wake);
  /// Between two batches of messages: for who has asked since the last time. Costs one look where nobody has.
  void answer();

 private:
  const FigureParts parts_;
  const PageSources sources_;
  const bool each_rule_;
  EngineFigures engine_;
  FigureBox box_;
  std::unique_ptr<MetricsServer> server_;  // last: its threads use the box
};

}  // namespace cepd::app
