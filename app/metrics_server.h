#pragma once
/// Serves /metrics to Prometheus, on this machine only.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/figures.h"
#include "app/metrics_page.h"
#include "base/result.h"
#include "config/options.h"

namespace cepd::app {

/// `metrics:` in the configuration.
const config::OptionTable& metrics_table();

/// Where `metrics.listen` says, as ADDRESS:PORT with a loopback IPv4 address; none for "off". Errors: kInvalidArgument.
Result<std::optional<std::string>> read_listen(const std::string& text);

/// Threads of its own; they read figures through the box and never hold up who puts them there.
class MetricsServer {
 public:
  /// Serves from now on. `listen` as from read_listen(); `wake` as for FigureBox::get(). All outlive the server.
  /// Errors: kIo, the address is in use or may not be used.
  static Result<std::unique_ptr<MetricsServer>> start(const std::string& listen, FigureBox& figures,
                                                      std::function<void()> wake, const PageSources& sources);
  ~MetricsServer();

 private:
  struct Impl;
  explicit MetricsServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cepd::app
