#pragma once
/// Doubts about a rule that is correct (language-details.md section 3). Internal to dsl/check*.cc.

#include <vector>

#include "dsl/check_pattern.h"

namespace cepd::dsl::checking {

struct RuleText {
  const ast::Rule& rule;
  const std::vector<WrittenElement>& elements;
  const std::vector<std::vector<ast::Location>>& conditions;  ///< of each element's conditions, in their order
};

void warn(const RuleText& text, const plan::Rule& rule, const RuleScope& scope, Reporter& report);

}  // namespace cepd::dsl::checking
