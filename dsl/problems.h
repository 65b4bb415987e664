#pragma once
/// The mistakes found in one text, before they have lines and columns. Internal to dsl/.

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "dsl/ast.h"

namespace cepd::dsl::syntax {

class Problems {
 public:
  /// More than a person mends in one go; also bounds the time spent on a file that is no rule file at all.
  static constexpr std::size_t kMax = 100;

  /// A second report of the same place and message is dropped: the grammar may read a place twice.
  void add(ast::Location where, std::string message, std::string suggestion = {});

  bool empty() const { return all_.empty(); }
  bool full() const { return all_.size() >= kMax; }
  /// Whether one was found in [begin, end).
  bool any_in(std::size_t begin, std::size_t end) const;

  /// In the order of the text.
  Diagnostics diagnostics(const std::string& file, std::string_view text) const;

 private:
  struct Problem {
    ast::Location where;
    std::string message, suggestion;
  };
  std::vector<Problem> all_;
};

}  // namespace cepd::dsl::syntax
