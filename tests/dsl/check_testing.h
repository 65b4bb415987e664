#pragma once
/// Rule text -> checked set, for the tests of dsl/check*.

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "dsl/check.h"
#include "dsl/parse.h"

namespace cepd::dsl {

/// The actions that the tests know.
inline std::vector<ActionSchema> test_actions() {
  return {
      {"log", {{"message", ArgumentType::kText, true, {}, {}, ""}, {"level", ArgumentType::kText, false, {}, {}, ""}}},
      {"alert", {{"text", ArgumentType::kText, true, {}, {}, ""}}, true},
      {"post", {{"url", ArgumentType::kUrl, true, {}, {}, ""}}, true},
      {"discount",
       {{"user", ArgumentType::kText, true, {}, {}, ""},
        {"percent", ArgumentType::kNumber, true, 1, 100, ""},
        {"valid", ArgumentType::kDuration, false, {}, {}, ""},
        {"data", ArgumentType::kAny, false, {}, {}, ""}}},
  };
}

/// Parses and checks files named f1.rules, f2.rules, …; what the parser found comes first.
inline Checked check_files(const std::vector<std::string>& texts, const FieldPlan* before = nullptr) {
  std::vector<ast::File> files;
  Diagnostics unreadable;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Parsed parsed = parse("f" + std::to_string(i + 1) + ".rules", texts[i]);
    unreadable.insert(unreadable.end(), parsed.diagnostics.begin(), parsed.diagnostics.end());
    files.push_back(std::move(parsed.file));
  }
  Checked checked = check(files, {test_actions()}, before);
  if (unreadable.empty()) return checked;
  unreadable.insert(unreadable.end(), checked.diagnostics.begin(), checked.diagnostics.end());
  return {nullptr, unreadable};
}

/// One line for each diagnostic of the severity: `what is underlined`: message (suggestion)
inline std::string lines(const Diagnostics& diagnostics, Severity severity) {
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    if (d.severity != severity) continue;
    // The texts of these tests are ASCII: columns are bytes.
    out += "`" + d.source_line.substr(std::min<std::size_t>(d.column - 1, d.source_line.size()), d.length) +
           "`: " + d.message;
    if (!d.suggestion.empty()) out += " (" + d.suggestion + ")";
    out += "\n";
  }
  return out;
}

inline std::string errors_of_files(const std::vector<std::string>& texts) {
  return lines(check_files(texts).diagnostics, Severity::kError);
}
inline std::string errors(const std::string& text) { return errors_of_files({text}); }
inline std::string warnings(const std::string& text) {
  const Checked checked = check_files({text});
  return has_errors(checked.diagnostics) ? lines(checked.diagnostics, Severity::kError)
                                         : lines(checked.diagnostics, Severity::kWarning);
}

/// The set, which must be without errors; otherwise the errors are thrown for the test to show.
inline std::shared_ptr<const RuleSet> loaded_files(const std::vector<std::string>& texts) {
  Checked checked = check_files(texts);
  if (checked.rules == nullptr) throw std::runtime_error(lines(checked.diagnostics, Severity::kError));
  return checked.rules;
}
inline std::shared_ptr<const RuleSet> loaded(const std::string& text) { return loaded_files({text}); }

}  // namespace cepd::dsl
