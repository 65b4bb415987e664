#pragma once
/// The warnings of check_warn.h, one analysis a file. Internal to dsl/check_warn*.cc.

#include "dsl/check_facts.h"
#include "dsl/check_steps.h"

namespace cepd::dsl::checking {

/// What each analysis looks at.
struct WarnContext {
  const RuleText& text;
  const plan::Rule& rule;
  const RuleScope& scope;
  const RuleFacts& facts;
  const StepText& steps;
  Reporter& report;
};

/// A part of a top-level AND, and where it is written.
struct Part {
  plan::ExprPtr expr;
  ast::Location where;
};
void add_parts(const plan::ExprPtr& condition, const WrittenCondition& written, std::vector<Part>& out);

void warn_no_bound(const WarnContext& context);            ///< check_warn_end.cc
void warn_early_end(const WarnContext& context);           ///< check_warn_end.cc
void warn_useless_not(const WarnContext& context);         ///< check_warn_not.cc
void warn_hidden_fields(const WarnContext& context);       ///< check_warn.cc
void warn_missing_key(const WarnContext& context);         ///< check_warn_key.cc
void warn_unlike_keys(const WarnContext& context);         ///< check_warn_key.cc
void warn_many_matches(const WarnContext& context);        ///< check_warn_cost.cc
void warn_never(const WarnContext& context);               ///< check_warn_never.cc
void warn_times_that_exclude(const WarnContext& context);  ///< check_warn_times.cc

}  // namespace cepd::dsl::checking
