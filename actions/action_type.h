#pragma once
/// What open.cc knows of each type of action. Each `<type>_sink.cc` defines its own.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actions/sink.h"
#include "config/options.h"

namespace cepd::actions {

/// A parameter that takes text.
ActionParameter text_parameter(std::string name, bool required, std::string help);

struct ActionType {
  std::string_view name;  ///< also the built-in action's
  std::string_view help;
  std::vector<config::OptionRow> (*rows)();  ///< beyond those common to all actions
  /// Parameters of a call, which may depend on what is configured.
  ActionSchema (*schema)(std::string_view action, const config::Options& options);
  /// Mistakes that the rows cannot express. `entry` is the action's map. May be null.
  void (*check)(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics);
  std::unique_ptr<Sink> (*open)(std::string_view action, const config::Options& options);
};

const ActionType& log_type();
const ActionType& mqtt_type();
const ActionType& redis_type();
const ActionType& file_type();
const ActionType& kafka_type();
const ActionType& webhook_type();
const ActionType& alert_type();
const ActionType& discount_type();

}  // namespace cepd::actions
