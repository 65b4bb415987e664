#pragma once
/// Doubts about a rule that is correct (language-details.md section 3). Internal to dsl/check*.cc.

#include <vector>

#include "dsl/check_pattern.h"

namespace cepd::dsl::checking {

/// A condition of an element as it was written.
struct WrittenCondition {
  ast::Location where;
  const ast::Expr* expr = nullptr;  ///< null: put together from several alternatives
};

/// The text that a checked rule was made from. Only looks.
struct RuleText {
  const ast::Rule& rule;
  const std::vector<WrittenElement>& elements;
  const std::vector<const ast::Element*>& groups;                ///< of plan::Group, in the order of the text
  const std::vector<std::vector<WrittenCondition>>& conditions;  ///< of each element's conditions, in their order
  const std::optional<Waiting>& waiting;                         ///< Pattern::waiting
};

void warn(const RuleText& text, const plan::Rule& rule, const RuleScope& scope, Reporter& report);

}  // namespace cepd::dsl::checking
