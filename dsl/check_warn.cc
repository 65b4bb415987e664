#include "dsl/check_warn.h"

#include <algorithm>

#include "dsl/check_warn_parts.h"

namespace cepd::dsl::checking {

void add_parts(const plan::ExprPtr& condition, const WrittenCondition& written, std::vector<Part>& out) {
  const auto* both = std::get_if<plan::Binary>(&condition->node);
  const auto* text = written.expr == nullptr ? nullptr : std::get_if<ast::Binary>(&written.expr->node);
  if (both == nullptr || text == nullptr || both->op != plan::BinaryOp::kAnd || text->op != ast::BinaryOp::kAnd) {
    out.push_back({condition, written.where});
    return;
  }
  add_parts(both->left, {text->left->where, text->left.get()}, out);
  add_parts(both->right, {text->right->where, text->right.get()}, out);
}

void warn_hidden_fields(const WarnContext& context) {
  for (const auto& [name, index] : context.scope.names) {
    const auto hidden = [&, &called = name](TypeId id) {
      const auto& declared = context.scope.set.fields->type(id).declared;
      return declared &&
             std::any_of(declared->begin(), declared->end(), [&](const DeclaredField& f) { return f.name == called; });
    };
    for (const plan::Element& element : context.rule.elements) {
      const auto& ids = element.test.types.ids;
      const auto type = std::find_if(ids.begin(), ids.end(), hidden);
      if (type == ids.end()) continue;
      const ast::Element& written = *context.text.elements[index].element;
      context.report.warn(written.as ? written.as->where : written.where,
                          "the element " + name + " hides the field " + name + " of " +
                              context.scope.set.fields->type(*type).name + " in paths",
                          "write this." + quoted_if_needed(name) + " for the field, or name the element with AS");
      break;
    }
  }
}

void warn(const RuleText& text, const plan::Rule& rule, const RuleScope& scope, Reporter& report) {
  const RuleFacts facts(rule, scope.set);
  const StepText steps(text, rule, report);
  const WarnContext context{text, rule, scope, facts, steps, report};
  warn_never(context);
  warn_times_that_exclude(context);
  warn_no_bound(context);
  warn_early_end(context);
  warn_useless_not(context);
  warn_hidden_fields(context);
  warn_missing_key(context);
  warn_unlike_keys(context);
  warn_many_matches(context);
}

}  // namespace cepd::dsl::checking
