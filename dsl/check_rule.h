#pragma once
/// RULE -> plan::Rule. Internal to dsl/check*.cc.

#include "dsl/check_set.h"

namespace cepd::dsl::checking {

/// Adds the types that `rule` names to the plan. All rules of a set are registered before the first is checked, so that
/// fields read from any type (`*`) find all of them.
void register_types(const ast::Rule& rule, SetContext& set);

/// Checks one rule. The plan is only complete where `note.sound` comes out true.
plan::Rule check_rule(const ast::Rule& rule, SetContext& set, Reporter& report, RuleNote& note);

}  // namespace cepd::dsl::checking
