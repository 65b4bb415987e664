#include "dsl/print.h"

#include "dsl/print_layout.h"
#include "dsl/print_parts.h"

namespace cepd::dsl {
namespace printing {
namespace {

constexpr std::size_t kIndent = 10;  // under what follows the keyword of a clause

/// One part for each of `items`, with the comma that follows it.
template <class List, class Print, class Where>
std::vector<Part> list_parts(const List& items, Print print_one, Where where) {
  std::vector<Part> out;
  for (const auto& item : items) {
    out.push_back({print_one(item) + (&item == &items.back() ? "" : ","), where(item)});
  }
  return out;
}

std::vector<Part> event_parts(const std::vector<ast::EventPattern>& events) {
  return list_parts(
      events, [](const ast::EventPattern& event) { return print(event); },
      [](const ast::EventPattern& event) { return event.where; });
}

std::string item_text(const ast::Item& item) {
  return print(*item.value) + (item.as ? " AS " + any_word(*item.as) : "");
}

std::vector<Part> emit_parts(const ast::Emit& emit) {
  std::vector<Part> out = list_parts(emit.items, item_text, [](const ast::Item& item) { return item.where; });
  if (emit.into) out.push_back({"INTO " + name(*emit.into), emit.into->where});
  return out;
}

std::string action_text(const ast::Action& action) {
  return any_word(action.name) + "(" +
         list(action.arguments,
              [](const ast::Argument& argument) {
                return (argument.name ? any_word(*argument.name) + ": " : "") + print(*argument.value);
              }) +
         ")";
}

std::vector<Part> action_parts(const std::vector<ast::Action>& actions) {
  return list_parts(actions, action_text, [](const ast::Action& action) { return action.where; });
}

std::string policy_text(const ast::AfterMatch& after) {
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

std::string head_text(const ast::Rule& rule) {
  std::string out = "RULE " + name(rule.name);
  if (rule.status == ast::RuleStatus::kDisabled) out += " DISABLED";
  if (rule.status == ast::RuleStatus::kShadow) out += " SHADOW";
  if (rule.description) out += " " + string(*rule.description);
  return out;
}

/// Each begins after the one before.
ast::Location from_to(const std::vector<ast::Action>& actions) {
  return {actions.front().where.begin, actions.back().where.end};
}

std::string joined(const std::vector<Part>& parts) {
  std::string out;
  for (const Part& part : parts) out += (out.empty() ? "" : " ") + part.text;
  return out;
}

Clause on_timeout(const ast::OnTimeout& timeout) {
  Clause out{"  ON TIMEOUT ", {}, Break::kEach, kIndent};
  out.first_breaks = true;
  if (timeout.emit) out.parts.push_back({"EMIT " + joined(emit_parts(*timeout.emit)), timeout.emit->where});
  if (!timeout.actions.empty()) {
    out.parts.push_back({"DO " + joined(action_parts(timeout.actions)), from_to(timeout.actions)});
  }
  if (out.parts.empty()) out = {"  ", {{"ON TIMEOUT", timeout.where}}};
  return out;
}

std::vector<Part> pattern_parts(const ast::Rule& rule) {
  std::vector<Part> out = steps(rule.pattern);
  if (rule.within) out.push_back({"WITHIN " + duration(*rule.within), rule.within->where});
  std::vector<Part> unless = event_parts(rule.unless);
  if (!unless.empty()) unless.front().text.insert(0, "UNLESS ");
  out.insert(out.end(), unless.begin(), unless.end());
  return out;
}

Layout event_decl(const ast::EventDecl& event) {
  Clause out{"", {}, Break::kEach, 2, 0};
  const std::string begin = "EVENT " + name(event.name) + " (";
  if (event.fields.empty()) return {{"", {{begin + ")", event.where}}}};
  out.parts.push_back({begin, event.name.where});
  for (const ast::FieldDecl& field : event.fields) {
    const bool last = &field == &event.fields.back();
    out.parts.push_back(
        {any_word(field.name) + " " + any_word(field.type) + (field.nullable ? "?" : "") + (last ? "" : ","),
         {field.name.where.begin, field.type.where.end},
         out.parts.size() == 1});
  }
  out.parts.push_back({")", {event.where.end - 1, event.where.end}, true});
  return {std::move(out)};
}

Layout const_decl(const ast::ConstDecl& constant) {
  return {{"", {{"CONST " + constant.name.text + " = " + print(*constant.value), constant.where}}}};
}

struct StatementLayout {
  Layout operator()(const ast::EventDecl& event) const { return event_decl(event); }
  Layout operator()(const ast::ConstDecl& constant) const { return const_decl(constant); }
  Layout operator()(const ast::Rule& rule) const { return layout(rule); }
  Layout operator()(const ast::Test& test) const { return layout(test); }
};

std::string text_of(const Layout& layout) {
  std::vector<Line> lines;
  for (const Clause& clause : layout) append_lines(clause, {}, lines);
  std::string out;
  for (const Line& line : lines) out += (out.empty() ? "" : "\n") + line.text;
  return out;
}

}  // namespace

Layout layout(const ast::Statement& statement) { return std::visit(StatementLayout{}, statement); }

Layout layout(const ast::Rule& rule) {
  if (rule.bare) return {{"", pattern_parts(rule), Break::kEach, 2}};
  Layout out;
  const auto add = [&](const char* prefix, std::vector<Part> parts, Break mode) {
    if (!parts.empty()) out.push_back({prefix, std::move(parts), mode, kIndent});
  };
  out.push_back({"", {{head_text(rule), {rule.where.begin, rule.name.where.end}}}});
  if (rule.from) {
    add("  FROM    ", rule.from->any ? std::vector<Part>{{"*", rule.from->where}} : event_parts(rule.from->inputs),
        Break::kFill);
  }
  add("  KEY     ",
      list_parts(
          rule.key, [](const ast::KeyField& field) { return path(field.path, field.quoted); },
          [](const ast::KeyField& field) { return field.where; }),
      Break::kFill);
  add("  MATCH   ", pattern_parts(rule), Break::kEach);
  if (rule.where_condition) add("  WHERE   ", operands(*rule.where_condition), Break::kEach);
  if (rule.having) add("  HAVING  ", operands(*rule.having), Break::kEach);
  if (rule.after_match)
    add("  AFTER MATCH ", {{policy_text(*rule.after_match), rule.after_match->where}}, Break::kFill);
  if (rule.emit) add("  EMIT    ", emit_parts(*rule.emit), Break::kFill);
  if (rule.limit) {
    add("  LIMIT   ", {{std::to_string(rule.limit->count) + " PER " + duration(rule.limit->per), rule.limit->where}},
        Break::kFill);
  }
  add("  LABELS  ",
      list_parts(
          rule.labels, [](const ast::Label& label) { return any_word(label.name) + ": " + print(*label.value); },
          [](const ast::Label& label) {
            return ast::Location{label.name.where.begin, label.value->where.end};
          }),
      Break::kFill);
  add("  DO      ", action_parts(rule.actions), Break::kFill);
  if (rule.on_timeout) out.push_back(on_timeout(*rule.on_timeout));
  return out;
}

}  // namespace printing

std::string print(const ast::Rule& rule) { return printing::text_of(printing::layout(rule)); }
std::string print(const ast::Statement& statement) { return printing::text_of(printing::layout(statement)); }

std::string print(const ast::File& file) {
  std::string out;
  for (std::size_t i = 0; i < file.statements.size(); ++i) {
    const ast::Statement& statement = file.statements[i];
    // Declarations of one kind stand together.
    const bool together = i > 0 && printing::one_line(statement) && statement.index() == file.statements[i - 1].index();
    if (i > 0 && !together) out += "\n";
    out += print(statement) + "\n";
  }
  return out;
}

}  // namespace cepd::dsl
