#include "dsl/print.h"

#include "dsl/print_parts.h"

namespace cepd::dsl {
namespace {

using printing::any_word;
using printing::list;
using printing::name;

std::string events(const std::vector<ast::EventPattern>& list_of) {
  return list(list_of, [](const ast::EventPattern& event) { return print(event); });
}

std::string print_emit(const ast::Emit& emit) {
  std::string out = list(emit.items, [](const ast::Item& item) {
    return print(*item.value) + (item.as ? " AS " + any_word(*item.as) : "");
  });
  if (emit.into) out += " INTO " + name(*emit.into);
  return out;
}

std::string print_actions(const std::vector<ast::Action>& actions) {
  return list(actions, [](const ast::Action& action) {
    return any_word(action.name) + "(" +
           list(action.arguments,
                [](const ast::Argument& argument) {
                  return (argument.name ? any_word(*argument.name) + ": " : "") + print(*argument.value);
                }) +
           ")";
  });
}

std::string print_policy(const ast::AfterMatch& after) {
  const std::string element = after.element ? " " + name(*after.element) : "";
  switch (after.policy) {
    case ast::Policy::kConsume:
      return "CONSUME";
    case ast::Policy::kNoSkip:
      return "NO SKIP";
    case ast::Policy::kSkipPastLast:
      return "SKIP PAST LAST";
    case ast::Policy::kSkipToNext:
      return "SKIP TO NEXT";
    case ast::Policy::kSkipToFirst:
      return "SKIP TO FIRST" + element;
    case ast::Policy::kSkipToLast:
      return "SKIP TO LAST" + element;
  }
  return {};
}

std::string print_on_timeout(const ast::OnTimeout& timeout) {
  std::string out = "\n  ON TIMEOUT";
  if (timeout.emit) out += " EMIT " + print_emit(*timeout.emit);
  if (!timeout.actions.empty()) out += " DO " + print_actions(timeout.actions);
  return out;
}

std::string print_head(const ast::Rule& rule) {
  std::string out = "RULE " + name(rule.name);
  if (rule.status == ast::RuleStatus::kDisabled) out += " DISABLED";
  if (rule.status == ast::RuleStatus::kShadow) out += " SHADOW";
  if (rule.description) out += " " + printing::string(*rule.description);
  return out;
}

std::string print_pattern(const ast::Rule& rule) {
  std::string out = print(rule.pattern);
  if (rule.within) out += " WITHIN " + printing::duration(*rule.within);
  if (!rule.unless.empty()) out += " UNLESS " + events(rule.unless);
  return out;
}

struct StatementPrinter {
  std::string operator()(const ast::EventDecl& event) const {
    return "EVENT " + name(event.name) + " (" +
           list(event.fields,
                [](const ast::FieldDecl& field) {
                  return any_word(field.name) + " " + any_word(field.type) + (field.nullable ? "?" : "");
                }) +
           ")";
  }
  std::string operator()(const ast::ConstDecl& constant) const {
    return "CONST " + constant.name.text + " = " + print(*constant.value);
  }
  std::string operator()(const ast::Rule& rule) const { return print(rule); }
  std::string operator()(const ast::Test& test) const { return printing::test(test); }
};

bool one_line(const ast::Statement& statement) {
  return std::holds_alternative<ast::EventDecl>(statement) || std::holds_alternative<ast::ConstDecl>(statement);
}

}  // namespace

std::string print(const ast::Rule& rule) {
  if (rule.bare) return print_pattern(rule);
  std::string out = print_head(rule);
  if (rule.from) out += "\n  FROM    " + (rule.from->any ? "*" : events(rule.from->inputs));
  if (!rule.key.empty()) {
    out += "\n  KEY     " +
           list(rule.key, [](const ast::KeyField& field) { return printing::path(field.path, field.quoted); });
  }
  out += "\n  MATCH   " + print_pattern(rule);
  if (rule.where_condition) out += "\n  WHERE   " + print(*rule.where_condition);
  if (rule.having) out += "\n  HAVING  " + print(*rule.having);
  if (rule.after_match) out += "\n  AFTER MATCH " + print_policy(*rule.after_match);
  if (rule.emit) out += "\n  EMIT    " + print_emit(*rule.emit);
  if (rule.limit) {
    out += "\n  LIMIT   " + std::to_string(rule.limit->count) + " PER " + printing::duration(rule.limit->per);
  }
  if (!rule.labels.empty()) {
    out += "\n  LABELS  " +
           list(rule.labels, [](const ast::Label& label) { return any_word(label.name) + ": " + print(*label.value); });
  }
  if (!rule.actions.empty()) out += "\n  DO      " + print_actions(rule.actions);
  if (rule.on_timeout) out += print_on_timeout(*rule.on_timeout);
  return out;
}

std::string print(const ast::Statement& statement) { return std::visit(StatementPrinter{}, statement); }

std::string print(const ast::File& file) {
  std::string out;
  for (std::size_t i = 0; i < file.statements.size(); ++i) {
    const ast::Statement& statement = file.statements[i];
    // Declarations of one kind stand together.
    const bool together = i > 0 && one_line(statement) && statement.index() == file.statements[i - 1].index();
    if (i > 0 && !together) out += "\n";
    out += print(statement) + "\n";
  }
  return out;
}

}  // namespace cepd::dsl
