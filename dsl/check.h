#pragma once
/// Syntax trees -> checked plan. All mistakes of all files are reported; with any error there is no plan.

#include <memory>
#include <string>
#include <vector>

#include "base/action_schema.h"
#include "base/diagnostic.h"
#include "dsl/ast.h"
#include "dsl/plan.h"

namespace cepd::dsl {

struct CheckOptions {
  std::vector<ActionSchema> actions;  ///< what DO may name
  bool texts = false;                 ///< fill in RuleSet::texts
};

struct Checked {
  std::shared_ptr<const RuleSet> rules;  ///< null when there is an error
  Diagnostics diagnostics;               ///< errors and warnings, by file and place
};

/// Files with parse errors are checked as far as they were read; their `rules` must not be used.
/// `before`: the field plan of the running set, whose ids and slots stay as they are; null for a first set.
Checked check(const std::vector<ast::File>& files, const CheckOptions& options, const FieldPlan* before);

}  // namespace cepd::dsl
