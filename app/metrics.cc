#include "app/metrics.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace cepd::app {
namespace {

/// Lanes that are busy all the time are waited for as seldom as a checkpoint does.
constexpr std::chrono::seconds kWaitForLanesEvery{10};

}  // namespace

Metrics::Metrics(const FigureParts& parts, const PageSources& sources, bool each_rule)
    : parts_(parts),
      sources_(sources),
      each_rule_(each_rule),
      engine_(take_engine_figures(parts.pump.engine(), each_rule, sources.clock)) {}

Status Metrics::serve(const std::string& listen, std::function<void()> wake) {
  auto server = MetricsServer::start(listen, box_, std::move(wake), sources_);
  if (!server) return std::move(server).error();
  server_ = std::move(*server);
  spdlog::info("metrics are at http://{}/metrics", listen);
  return {};
}

Status Metrics::serve_status(const std::string& run_directory, std::function<void()> wake) {
  auto server = StatusServer::start(run_directory, box_, std::move(wake), sources_);
  if (!server) return std::move(server).error();
  status_ = std::move(*server);
  return {};
}

void Metrics::answer() {
  if (!box_.take_request()) return;
  const bool free = sources_.lanes == 1 || parts_.pump.settled();
  if (free || sources_.clock.steady() - engine_.taken >= kWaitForLanesEvery)
    engine_ = take_engine_figures(parts_.pump.engine(), each_rule_, sources_.clock);
  Figures figures = take_figures(parts_, each_rule_, sources_.clock);
  figures.engine = engine_;
  box_.put(std::move(figures));
}

}  // namespace cepd::app
