#pragma once
/// The configuration file of the daemon: every section, checked.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/open.h"
#include "base/action_schema.h"
#include "base/diagnostic.h"
#include "config/options.h"

namespace cepd::app {

struct Settings {
  config::Node root;
  config::Options rules, engine, daemon, reload, state, journal, mirror, metrics;
  std::optional<std::string> metrics_listen;  ///< ADDRESS:PORT; none: metrics are off
  std::vector<ActionSchema> action_schemas;   ///< what DO may name under this configuration
};

/// Reads and checks `file` without opening anything it names. With an error in `diagnostics` the result must not be
/// used.
Settings load_settings(const std::string& file, Diagnostics& diagnostics);

/// The sources of the configuration, made but not started: nothing is opened before Source::start().
std::vector<std::unique_ptr<adapters::OpenedSource>> make_sources(const Settings& settings, Diagnostics& diagnostics);

/// All option tables there are, in the order of the reference page.
std::vector<config::OptionTable> all_option_tables();

}  // namespace cepd::app
