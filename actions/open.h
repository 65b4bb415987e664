#pragma once
/// The actions there are. Each type exists under its own name with its defaults (`log`, `file`, `webhook`, ...); the
/// `actions:` map of the configuration sets them up or adds further names (`type: webhook`).

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "actions/sink.h"
#include "config/options.h"

namespace cepd::actions {

/// Bounds of the wait before a delivery is tried again (base/back_off.h).
struct RetryWaits {
  std::chrono::milliseconds first{500};
  std::chrono::milliseconds longest{60'000};
};

struct OpenedAction {
  std::string name;
  ActionSchema schema;
  RetryWaits retry;
  unsigned breaker_failures = 5;                     ///< attempts in a row, at least 1
  std::size_t queue_bytes = std::size_t{256} << 20;  ///< of waiting calls, as stored
  std::unique_ptr<Sink> sink;
};

/// Rows common to all actions first ("actions.<name>"), then each type's own ("actions.<name> (type: webhook)").
std::vector<config::OptionTable> option_tables();

/// Schemas of the built-in names, for `cepd check` and `cepd test` without a configuration: what a configuration could
/// set up may be left out in a rule.
std::vector<ActionSchema> built_in_schemas();

/// What open_actions() would accept, without opening anything: for `cepd check --config`.
std::vector<ActionSchema> configured_schemas(const config::Node* actions, Diagnostics& diagnostics);

/// Opens all built-in and configured actions (`actions` is the node of the `actions:` map or null), sorted by name.
/// Mistakes go to `diagnostics`; an entry with a mistake is left out. Nothing is connected or created before the first
/// delivery.
std::vector<OpenedAction> open_actions(const config::Node* actions, Diagnostics& diagnostics);

}  // namespace cepd::actions
