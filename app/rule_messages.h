#pragma once
/// What the commands that work on rule files share: loading with messages to standard error.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/rule_files.h"
#include "nfa/network.h"

namespace cepd::app {

/// Prints all of them, errors first where they came first, and a count.
void print_diagnostics(const Diagnostics& diagnostics);

/// The actions that rules may name: of the configuration, or without one the built-in ones. Prints what is wrong and
/// returns nothing then.
std::optional<std::vector<ActionSchema>> known_actions(const std::string& config);

/// Loads, checks and compiles; prints diagnostics (warnings too) and returns null when there is an error.
/// texts: CheckOptions::texts.
std::shared_ptr<const nfa::Network> load_network(const std::string& rules, TestFiles test_files,
                                                 const std::string& config, bool texts = false);

/// `payload.kind` -> its steps; nothing when a name is empty. For options that name a field.
std::optional<FieldPath> field_path_of(const std::string& dotted);

}  // namespace cepd::app
