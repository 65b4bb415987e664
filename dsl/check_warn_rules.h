#pragma once
/// Doubts about rules beside each other. Internal to dsl/check*.cc.

#include <vector>

#include "dsl/check_set.h"

namespace cepd::dsl::checking {

/// A rule without mistakes.
struct CheckedRule {
  const ast::Rule* text = nullptr;
  const plan::Rule* rule = nullptr;
  Reporter* report = nullptr;
};

/// Reports rules that do what another one does anyway: same input and pattern, the conditions follow, and the same is
/// done with a match. Enabled rules only: a SHADOW rule is often a second version of another.
void warn_about_rules(const std::vector<CheckedRule>& rules, const SetContext& set);

}  // namespace cepd::dsl::checking
