#pragma once
/// The actions there are. `log`, `file`, `webhook`, `alert` and `discount` exist under these names with their defaults; the `actions:`
/// map of the configuration sets them up or adds further names (`type: webhook`).

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actions/sink.h"
#include "base/clock.h"
#include "config/options.h"

namespace cepd::actions {

struct OpenedAction {
  std::string name;
  ActionSchema schema;
  std::unique_ptr<Sink> sink;
};

std::vector<config::OptionTable> option_tables();

/// Schemas of the built-in names with their defaults: for `cepd check` and `cepd test` without a configuration.
std::vector<ActionSchema> built_in_schemas();

/// What open_actions() would accept, without opening anything: for `cepd check --config`.
std::vector<ActionSchema> configured_schemas(const config::Node* actions, Diagnostics& diagnostics);

/// Opens all built-in and configured actions (`actions` is the node of the `actions:` map or null). Mistakes go to `diagnostics`.
std::vector<OpenedAction> open_actions(const config::Node* actions, const Clock& clock, Diagnostics& diagnostics);

}  // namespace cepd::actions
