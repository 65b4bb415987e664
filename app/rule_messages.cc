#include "app/rule_messages.h"

#include <algorithm>
#include <boost/algorithm/string/split.hpp>
#include <iostream>

#include "actions/open.h"
#include "app/settings.h"

namespace cepd::app {

void print_diagnostics(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) std::cerr << format(diagnostic);
  const auto errors = std::count_if(diagnostics.begin(), diagnostics.end(),
                                    [](const Diagnostic& d) { return d.severity == Severity::kError; });
  if (errors > 1) std::cerr << errors << " errors\n";
}

std::optional<std::vector<ActionSchema>> known_actions(const std::string& config) {
  if (config.empty()) return actions::built_in_schemas();
  Diagnostics diagnostics;
  Settings settings = load_settings(config, diagnostics);
  print_diagnostics(diagnostics);
  if (has_errors(diagnostics)) return std::nullopt;
  return std::move(settings.action_schemas);
}

std::shared_ptr<const nfa::Network> load_network(const std::string& rules, TestFiles test_files,
                                                 const std::string& config, bool texts) {
  const auto actions = known_actions(config);
  if (!actions) return nullptr;
  Loaded loaded = load_rules(rules, test_files, *actions, nullptr, texts);
  print_diagnostics(loaded.diagnostics);
  if (!loaded.rules) return nullptr;
  return nfa::Network::compile(std::move(loaded.rules));
}

std::optional<FieldPath> field_path_of(const std::string& dotted) {
  std::vector<std::string> names;
  boost::algorithm::split(names, dotted, [](char c) { return c == '.'; });
  FieldPath path;
  for (std::string& name : names) {
    if (name.empty()) return std::nullopt;
    path.steps.emplace_back(std::move(name));
  }
  return path;
}

}  // namespace cepd::app
