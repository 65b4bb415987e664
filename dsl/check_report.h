#pragma once
/// Where the checks put what they find. Internal to dsl/check*.cc.

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "dsl/ast.h"

namespace cepd::dsl::checking {

/// Diagnostics of one file. Only looks at the file and the list; both outlive it.
class Reporter {
 public:
  Reporter(const ast::File& file, Diagnostics& out);

  void error(ast::Location where, std::string message, std::string suggestion = {}) {
    ++errors_;
    add(Severity::kError, where, std::move(message), std::move(suggestion));
  }
  void warn(ast::Location where, std::string message, std::string suggestion = {}) {
    add(Severity::kWarning, where, std::move(message), std::move(suggestion));
  }

  /// What stands here cannot be judged, because a statement that it names could not be read. Counts as an error.
  void unsure() { ++errors_; }

  std::size_t errors() const { return errors_; }
  /// Whether something within `where` has been reported.
  bool has_reported_in(ast::Location where) const;
  /// More errors than a person mends in one go: what follows is counted and not shown. Long searches for a suggestion
  /// can be left out.
  bool full() const { return errors_shown_ >= kMost; }

  const std::string& file() const { return file_.name; }
  /// What is written at `where`.
  std::string_view text_at(ast::Location where) const;
  /// `where` made as much larger as it takes to hold both parentheses of each pair.
  ast::Location with_parentheses(ast::Location where) const;
  /// "cart.rules:3:7"
  std::string place(ast::Location where) const;
  unsigned line(ast::Location where) const;

 private:
  static constexpr std::size_t kMost = 200;

  void add(Severity severity, ast::Location where, std::string message, std::string suggestion);
  std::size_t line_number(std::size_t at) const;

  const ast::File& file_;
  std::vector<std::size_t> lines_;  // where they begin
  Diagnostics& out_;
  std::size_t errors_ = 0;
  std::vector<ast::Location> places_;  // of all that was shown
  std::size_t errors_shown_ = 0, warnings_shown_ = 0;
};

}  // namespace cepd::dsl::checking
