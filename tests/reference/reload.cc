#include "tests/reference/reload.h"

#include "dsl/print.h"
#include "tests/reference/build_ast.h"

namespace cepd::reference {
namespace {

using namespace build;

ast::Rule* rule_of(std::vector<ast::Statement>& statements, const Reload& reload) {
  std::vector<ast::Rule*> rules;
  for (ast::Statement& statement : statements) {
    if (auto* rule = std::get_if<ast::Rule>(&statement)) rules.push_back(rule);
  }
  return rules.empty() ? nullptr : rules[reload.rule % rules.size()];
}

/// Without the one it has, or with one that most matches do not pass.
void change_having(ast::Rule& rule) {
  if (rule.having) {
    rule.having = nullptr;
  } else if (rule.key.empty()) {
    rule.having = binary(ast::BinaryOp::kEq, number(1), number(2));
  } else {
    rule.having = binary(ast::BinaryOp::kNe, path(rule.key.front().path.steps), number(1));
  }
}

void change_emit(ast::Rule& rule) {
  if (!rule.emit) rule.emit.emplace();
  rule.emit->items.push_back({number(7), name("more"), {}});
}

void change_into(ast::Rule& rule) {
  if (rule.emit) rule.emit->into = std::nullopt;
  if (rule.on_timeout && rule.on_timeout->emit) rule.on_timeout->emit->into = std::nullopt;
}

void change_policy(ast::Rule& rule) {
  const bool skips = !rule.after_match || rule.after_match->policy != ast::Policy::kNoSkip;
  rule.after_match = ast::AfterMatch{skips ? ast::Policy::kNoSkip : ast::Policy::kSkipPastLast, {}, {}};
}

void change_limit(ast::Rule& rule) {
  if (rule.limit) {
    rule.limit = std::nullopt;
  } else {
    rule.limit = ast::Limit{1, term(std::chrono::seconds(3)), {}};
  }
}

void change(std::vector<ast::Statement>& statements, const Reload& reload) {
  ast::Rule* rule = rule_of(statements, reload);
  if (rule == nullptr) return;
  switch (reload.change) {
    case Change::kNothing:
      return;
    case Change::kCopy: {
      ast::Rule copy = *rule;
      copy.name = name("o");  // before all others
      statements.emplace_back(std::move(copy));
      return;
    }
    case Change::kWithout:
      std::erase_if(statements, [&](const ast::Statement& each) { return std::get_if<ast::Rule>(&each) == rule; });
      return;
    case Change::kHaving:
      return change_having(*rule);
    case Change::kEmit:
      return change_emit(*rule);
    case Change::kInto:
      return change_into(*rule);
    case Change::kLimit:
      return change_limit(*rule);
    case Change::kPolicy:
      return change_policy(*rule);
    case Change::kStatus:
      rule->status = rule->status == ast::RuleStatus::kShadow ? ast::RuleStatus::kEnabled : ast::RuleStatus::kShadow;
      return;
  }
}

}  // namespace

std::string rules_after(const Trial& trial, const Reload& reload) {
  std::vector<ast::Statement> statements = trial.rules.statements;
  change(statements, reload);
  std::string text;
  for (const ast::Statement& statement : statements) text += dsl::print(statement) + "\n";
  return refusal(text).empty() ? text : trial.rules.text;
}

std::string text_of(const Trial& trial, const Reload& reload) {
  std::vector<ast::Statement> statements = trial.rules.statements;
  const ast::Rule* rule = rule_of(statements, reload);
  const std::string of = rule == nullptr ? "" : " " + rule->name.text;
  switch (reload.change) {
    case Change::kNothing:
      return "nothing changed";
    case Change::kCopy:
      return "with a copy of" + of;
    case Change::kWithout:
      return "without" + of;
    case Change::kHaving:
      return "another HAVING in" + of;
    case Change::kEmit:
      return "another EMIT in" + of;
    case Change::kInto:
      return "no INTO in" + of;
    case Change::kLimit:
      return "another LIMIT in" + of;
    case Change::kPolicy:
      return "another AFTER MATCH in" + of;
    case Change::kStatus:
      return "another status of" + of;
  }
  return {};
}

}  // namespace cepd::reference
