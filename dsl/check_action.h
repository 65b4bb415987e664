#pragma once
/// EMIT, LABELS and DO. Internal to dsl/check*.cc.

#include <vector>

#include "dsl/check_expr.h"

namespace cepd::dsl::checking {

struct Items {
  std::vector<plan::Item> items;
  std::vector<Kinds> kinds;  ///< of each item
};

/// What EMIT says, or the key fields where `emit` is null.
Items build_items(RuleScope& scope, const ast::Emit* emit);

std::vector<plan::Item> build_labels(RuleScope& scope, const std::vector<ast::Label>& labels);

/// The calls of DO against the actions there are.
std::vector<plan::Action> build_actions(RuleScope& scope, const std::vector<ast::Action>& actions, const Items& emit,
                                        const std::vector<plan::Item>& labels);

/// What a rule without DO does: a log line with the emitted items (the line's writer puts the rule's name before it).
plan::Action log_action(RuleScope& scope, const Items& emit, bool timeout);

/// A string argument of an action: `{name}` filled in, `{{` a brace.
Built build_template(RuleScope& scope, const ActionNames& names, const std::string& text, ast::Location where);

}  // namespace cepd::dsl::checking
