/// cepd check, test and explain: what works on rule files alone.

#include <iostream>

#include "app/commands.h"
#include "app/rule_messages.h"
#include "app/settings.h"
#include "app/test_runner.h"
#include "dsl/language.h"
#include "nfa/explain.h"

namespace cepd::app {
namespace {

/// Everything in the configuration that can be checked without opening it; false when something is wrong.
bool check_config(const std::string& file, std::string& rule_directory) {
  Diagnostics diagnostics;
  const Settings settings = load_settings(file, diagnostics);
  if (!has_errors(diagnostics)) make_sources(settings, diagnostics);
  print_diagnostics(diagnostics);
  if (has_errors(diagnostics)) return false;
  rule_directory = settings.rules.text("directory");
  return true;
}

std::size_t count_of(const dsl::RuleSet& rules, dsl::plan::Status status) {
  std::size_t count = 0;
  for (const dsl::plan::Rule& rule : rules.rules) count += rule.status == status ? 1 : 0;
  return count;
}

}  // namespace

int check_command(const CheckArguments& arguments) {
  if (arguments.config_reference) {
    std::cout << config::print_reference(all_option_tables());
    return kGood;
  }
  if (!arguments.language.empty()) {
    const auto actions = known_actions(arguments.config);
    if (!actions) return kFailed;
    std::cout << (arguments.language == "json" ? dsl::language_json(*actions) : dsl::textmate_grammar(*actions));
    return kGood;
  }
  std::string path = arguments.path;
  if (!arguments.config.empty()) {
    std::string configured;
    if (!check_config(arguments.config, configured)) return kFailed;
    if (path.empty()) path = configured;
  }
  if (path.empty()) {
    std::cerr << "cepd check: name a rule file or directory, or a --config\n";
    return kWrongUse;
  }
  const auto network = load_network(path, TestFiles::kInclude, arguments.config);
  if (!network) return kFailed;
  const dsl::RuleSet& rules = network->rules();
  std::cout << path << ": " << count_of(rules, dsl::plan::Status::kEnabled) << " rules";
  if (const auto shadow = count_of(rules, dsl::plan::Status::kShadow); shadow > 0)
    std::cout << ", " << shadow << " shadow";
  if (!rules.disabled.empty()) std::cout << ", " << rules.disabled.size() << " disabled";
  std::cout << ", " << rules.tests.size() << " tests: good\n";
  return kGood;
}

int test_command(const TestArguments& arguments) {
  const auto network = load_network(arguments.path, TestFiles::kInclude, arguments.config);
  if (!network) return kFailed;
  std::size_t failed = 0;
  for (const dsl::plan::Test& test : network->rules().tests) {
    const TestOutcome outcome = run_test(network, test);
    std::cout << (outcome.passed ? "pass " : "FAIL ") << outcome.name << " (" << outcome.rule << ", " << outcome.file
              << ":" << outcome.line << ")\n"
              << outcome.report;
    failed += outcome.passed ? 0 : 1;
  }
  const std::size_t all = network->rules().tests.size();
  std::cout << all - failed << " passed, " << failed << " failed\n";
  return failed == 0 ? kGood : kFailed;
}

int explain_command(const ExplainArguments& arguments) {
  const auto network = load_network(arguments.path, TestFiles::kLeaveOut, arguments.config, true);
  if (!network) return kFailed;
  const auto& rules = network->rules().rules;
  std::vector<std::string> names;
  bool found = false;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    names.push_back(rules[i].name);
    if (!arguments.rule.empty() && rules[i].name != arguments.rule) continue;
    found = true;
    std::cout << (arguments.dot ? nfa::explain_dot(*network, i) : nfa::explain(*network, i));
  }
  if (arguments.rule.empty() && !arguments.dot) std::cout << nfa::explain_sharing(*network);
  if (found || arguments.rule.empty()) return kGood;
  std::cerr << "cepd explain: no rule " << arguments.rule << " in " << arguments.path << "\n";
  if (const std::string hint = did_you_mean(arguments.rule, names); !hint.empty()) std::cerr << "  " << hint << "\n";
  return kFailed;
}

}  // namespace cepd::app
