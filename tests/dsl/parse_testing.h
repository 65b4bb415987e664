#pragma once
/// What the tests of parser and printer share.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "dsl/parse.h"
#include "dsl/print.h"

namespace cepd::dsl::testing {

/// "2:10+6 expected a duration | write 5m": place, underlined length, message and suggestion of each diagnostic.
inline std::vector<std::string> complaints(std::string text) {
  std::vector<std::string> out;
  for (const Diagnostic& d : parse("test.rules", std::move(text)).diagnostics) {
    out.push_back(std::to_string(d.line) + ":" + std::to_string(d.column) + "+" + std::to_string(d.length) + " " +
                  d.message + (d.suggestion.empty() ? "" : " | " + d.suggestion));
  }
  return out;
}

/// All of them, one a line.
inline std::string joined_complaints(std::string text) {
  std::string out;
  for (const std::string& one : complaints(std::move(text))) out += one + "\n";
  return out;
}

/// The only one.
inline std::string complaint(std::string text) {
  const std::vector<std::string> all = complaints(std::move(text));
  return all.size() == 1 ? all.front() : std::to_string(all.size()) + " diagnostics";
}

/// The file, which must have no mistakes.
inline ast::File parsed(std::string text) {
  Parsed result = parse("test.rules", std::move(text));
  for (const Diagnostic& d : result.diagnostics) FAIL_CHECK(format(d));
  return std::move(result.file);
}

/// The canonical form; also tests that it reads back as itself.
inline std::string canonical(std::string text) {
  std::string once = print(parsed(std::move(text)));
  CHECK_EQ(print(parsed(once)), once);
  return once;
}

/// The only statement of a file.
template <class Statement>
Statement only(std::string text) {
  ast::File file = parsed(std::move(text));
  REQUIRE_EQ(file.statements.size(), 1);
  REQUIRE(std::holds_alternative<Statement>(file.statements.front()));
  return std::get<Statement>(std::move(file.statements.front()));
}

/// The condition of the only element of a bare pattern.
inline ast::ExprPtr condition(const std::string& text) {
  const auto rule = only<ast::Rule>("a[" + text + "]");
  return std::get<ast::EventPattern>(rule.pattern.steps.at(0).choice.alternatives.at(0).members.at(0).item).condition;
}

/// The condition in canonical form.
inline std::string canonical_condition(const std::string& text) {
  std::string out = canonical("a[" + text + "]");
  return out.substr(2, out.size() - 4);  // a[ and ] with the line end
}

}  // namespace cepd::dsl::testing
