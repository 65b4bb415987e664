#include "dsl/plan_print.h"

#include <re2/re2.h>

#include <set>

#include "base/time.h"
#include "dsl/aggregates.h"
#include "dsl/plan_walk.h"

namespace cepd::dsl {
namespace {

using plan::ExprPtr;

const char* op_text(plan::BinaryOp op) {
  switch (op) {
    case plan::BinaryOp::kOr:
      return "OR";
    case plan::BinaryOp::kAnd:
      return "AND";
    case plan::BinaryOp::kEq:
      return "=";
    case plan::BinaryOp::kNe:
      return "!=";
    case plan::BinaryOp::kLt:
      return "<";
    case plan::BinaryOp::kLe:
      return "<=";
    case plan::BinaryOp::kGt:
      return ">";
    case plan::BinaryOp::kGe:
      return ">=";
    case plan::BinaryOp::kAdd:
      return "+";
    case plan::BinaryOp::kSub:
      return "-";
    case plan::BinaryOp::kMul:
      return "*";
    case plan::BinaryOp::kDiv:
      return "/";
    case plan::BinaryOp::kMod:
      return "%";
  }
  return "?";
}

std::string number_text(plan::ElementId element) { return "#" + std::to_string(static_cast<unsigned>(element)); }

std::string property_text(const plan::FieldRef& ref) {
  switch (ref.property) {
    case plan::Property::kTime:
      return "@time";
    case plan::Property::kType:
      return "@type";
    case plan::Property::kMade:
      return "@made";
    case plan::Property::kField:
      break;
  }
  return to_string(ref.path);
}

class ExprPrinter {
 public:
  std::string text;

  void print(const plan::Expr& expr) {
    std::visit([this](const auto& node) { visit(node); }, expr.node);
  }

 private:
  void visit(const plan::Constant& constant) {
    if (constant.kind == Kind::kTimestamp) {
      text += "@\"" + format_rfc3339(constant.scalar.as_time()) + "\"";
    } else if (constant.kind == Kind::kDuration) {
      append_text(text, constant.scalar);
    } else {
      append_json(text, constant.value());
    }
  }
  void visit(const plan::FieldRef& ref) {
    switch (ref.subject) {
      case plan::Subject::kTested:
        text += "tested";
        break;
      case plan::Subject::kPrevious:
        text += "prev";
        break;
      case plan::Subject::kFirst:
        text += number_text(ref.element) + ".first";
        break;
      case plan::Subject::kLast:
        text += number_text(ref.element);
        break;
      case plan::Subject::kIndex:
        text += number_text(ref.element) + "[" + std::to_string(ref.index) + "]";
        break;
    }
    text += "." + property_text(ref);
  }
  void visit(const plan::KeyRef& ref) { text += "key" + std::to_string(ref.index); }
  void visit(const plan::EmitRef& ref) { text += "emit" + std::to_string(ref.index); }
  void visit(const plan::Aggregate& aggregate) {
    text += std::string(name_of(aggregate.kind)) + "(" + number_text(aggregate.element);
    if (aggregate.field) text += "." + property_text(*aggregate.field);
    if (aggregate.kind == plan::AggregateKind::kPercentile) {
      text += ", ";
      append_json(text, Value::real(aggregate.percentile));
    }
    text += ")";
  }
  void visit(const plan::Unary& node) {
    text += node.op == plan::UnaryOp::kNot ? "(NOT " : "(-";
    print(*node.operand);
    text += ")";
  }
  void visit(const plan::Binary& node) {
    text += "(";
    print(*node.left);
    text += std::string(" ") + op_text(node.op) + " ";
    print(*node.right);
    text += ")";
  }
  void visit(const plan::In& node) {
    text += "(";
    print(*node.operand);
    text += node.negated ? " NOT IN (" : " IN (";
    list(node.list);
    text += "))";
  }
  void visit(const plan::Between& node) {
    text += "(";
    print(*node.operand);
    text += node.negated ? " NOT BETWEEN " : " BETWEEN ";
    print(*node.low);
    text += " AND ";
    print(*node.high);
    text += ")";
  }
  void visit(const plan::Matches& node) {
    text += "(";
    print(*node.operand);
    text += node.negated ? " NOT MATCHES " : " MATCHES ";
    append_json_string(text, node.pattern->pattern());
    text += ")";
  }
  void visit(const plan::IsNull& node) {
    text += "(";
    print(*node.operand);
    text += node.negated ? " IS NOT NULL)" : " IS NULL)";
  }
  void visit(const plan::FunctionCall& node) {
    for (const plan::FunctionInfo& info : plan::functions()) {
      if (info.function == node.function) text += info.name;
    }
    text += "(";
    list(node.arguments);
    text += ")";
  }
  void visit(const plan::Template& node) {
    text += "template(";
    bool first = true;
    for (const auto& part : node.parts) {
      if (!first) text += ", ";
      first = false;
      if (const auto* literal = std::get_if<std::string>(&part)) {
        append_json_string(text, *literal);
      } else {
        print(*std::get<ExprPtr>(part));
      }
    }
    text += ")";
  }

  void list(const std::vector<ExprPtr>& values) {
    bool first = true;
    for (const ExprPtr& each : values) {
      if (!first) text += ", ";
      first = false;
      print(*each);
    }
  }
};

std::string print_test(const plan::EventTest& test, const FieldPlan& fields) {
  std::string out;
  if (test.types.any) out = "*";
  for (const TypeId id : test.types.ids) {
    out += (out.empty() ? "" : " | ") + quoted_if_needed(fields.type(id).name);
  }
  if (!test.key.empty()) {
    out += " KEY ";
    for (std::size_t i = 0; i < test.key.size(); ++i) out += (i == 0 ? "" : ", ") + property_text(test.key[i]);
  }
  for (const ExprPtr& condition : test.conditions) out += " [" + print(*condition) + "]";
  return out;
}

std::string print_elements(plan::ElementSet set, const char* between) {
  std::string out;
  for (std::size_t i = 0; i < plan::kMaxElements; ++i) {
    if ((set >> i & 1) == 0) continue;
    if (!out.empty()) out += between;
    out += "#" + std::to_string(i);
  }
  return out;
}

std::string print_link(const plan::Link& link) {
  std::string out;
  switch (link.contiguity) {
    case plan::Contiguity::kSkipTillNext:
      out = "THEN";
      break;
    case plan::Contiguity::kSkipTillAny:
      out = "THEN ANY";
      break;
    case plan::Contiguity::kStrict:
      out = "NEXT";
      break;
  }
  if (link.within) out += " WITHIN " + format_duration(*link.within);
  if (link.after.count() != 0) out += " AFTER " + format_duration(link.after);
  return out;
}

std::string print_repeat(std::uint32_t min, std::uint32_t max, plan::Contiguity again) {
  if (min == 1 && max == 1) return {};
  std::string out = "{" + std::to_string(min) + ",";
  if (max != plan::kUnbounded) out += std::to_string(max);
  out += "}";
  if (again == plan::Contiguity::kStrict) out += " CONSECUTIVE";
  if (again == plan::Contiguity::kSkipTillAny) out += " COMBINATIONS";
  return out;
}

std::string print_slot(const plan::Slot& slot) {
  std::string out;
  for (const plan::ElementSet member : slot.members) {
    const bool several = (member & (member - 1)) != 0;
    out += (out.empty() ? "" : " AND ") +
           (several ? "(" + print_elements(member, " OR ") + ")" : print_elements(member, ""));
  }
  out += print_repeat(slot.min, slot.max, slot.again);
  if (slot.greedy) out += " GREEDY";
  if (slot.until) out += " UNTIL #" + std::to_string(static_cast<std::size_t>(*slot.until));
  return out;
}

std::string print_sequence(const plan::Rule& rule, const plan::Sequence& sequence) {
  std::string out;
  for (const plan::Step& step : sequence.steps) {
    if (!out.empty()) out += " " + print_link(step.link) + " ";
    if (const auto* slot = std::get_if<plan::SlotId>(&step.item)) {
      out += print_slot(rule.slots[static_cast<std::size_t>(*slot)]);
    } else if (const auto* no = std::get_if<plan::NotStep>(&step.item)) {
      out += "NOT #" + std::to_string(static_cast<std::size_t>(no->element));
    } else if (const auto* group = std::get_if<plan::Group>(&step.item)) {
      out += "(" + print_sequence(rule, group->body);
      if (group->within) out += " WITHIN " + format_duration(*group->within);
      out += ")" + print_repeat(group->min, group->max, group->again);
    } else {
      out += "(";
      for (const plan::Sequence& branch : std::get<plan::Alternatives>(step.item).branches) {
        if (out.back() != '(') out += " OR ";
        out += print_sequence(rule, branch);
      }
      out += ")";
    }
  }
  return out;
}

}  // namespace

std::string print(const plan::Expr& expr) {
  ExprPrinter printer;
  printer.print(expr);
  return std::move(printer.text);
}

std::string print_pattern(const plan::Rule& rule, const FieldPlan& fields) {
  std::string out = "rule " + quoted_if_needed(rule.name) + "\n";
  if (!rule.key.empty()) {
    out += "key ";
    for (std::size_t i = 0; i < rule.key.size(); ++i) out += (i == 0 ? "" : ", ") + to_string(rule.key[i]);
    out += "\n";
  }
  if (rule.from) {
    for (const plan::EventTest& test : *rule.from) out += "from " + print_test(test, fields) + "\n";
  }
  for (std::size_t i = 0; i < rule.elements.size(); ++i) {
    const plan::Element& element = rule.elements[i];
    out += "#" + std::to_string(i) + " ";
    if (element.role == plan::Role::kNot) out += "NOT ";
    if (element.role == plan::Role::kUntil) out += "UNTIL ";
    out += print_test(element.test, fields);
    for (const plan::JointCondition& joint : element.joint) {
      out += " [" + print(*joint.condition) + " after " + print_elements(joint.others, "") + "]";
    }
    out += "\n";
  }
  out += "pattern " + print_sequence(rule, rule.pattern) + "\n";
  if (rule.within) out += "within " + format_duration(*rule.within) + "\n";
  for (const plan::EventTest& test : rule.unless) out += "unless " + print_test(test, fields) + "\n";
  switch (rule.policy) {
    case plan::Policy::kConsume:
      break;
    case plan::Policy::kNoSkip:
      out += "no skip\n";
      break;
    case plan::Policy::kSkipPastLast:
      out += "skip past last\n";
      break;
    case plan::Policy::kSkipToNext:
      out += "skip to next\n";
      break;
    case plan::Policy::kSkipToFirst:
      out += "skip to first " + number_text(rule.policy_element) + "\n";
      break;
    case plan::Policy::kSkipToLast:
      out += "skip to last " + number_text(rule.policy_element) + "\n";
      break;
  }
  return out;
}

std::string print_reads(const plan::Rule& rule, const FieldPlan& fields) {
  std::set<std::string> reads;
  const auto add = [&](const plan::FieldRef& ref) {
    if (ref.property != plan::Property::kField) return;
    const std::string path = to_string(ref.path);
    if (!ref.slots.empty() && ref.slots.front().first == kOtherType) {
      // Which types have slots of their own depends on the other rules; the meaning does not.
      reads.insert("*." + path);
      return;
    }
    for (const auto& [type, slot] : ref.slots) reads.insert(quoted_if_needed(fields.type(type).name) + "." + path);
  };
  const auto add_all = [&](const ExprPtr& expr) { for_each_field(*expr, add); };
  const auto add_test = [&](const plan::EventTest& test) {
    for (const plan::FieldRef& ref : test.key) add(ref);
    for (const ExprPtr& condition : test.conditions) add_all(condition);
  };
  const auto add_items = [&](const List<plan::Item>& items) {
    for (const plan::Item& item : items) add_all(item.value);
  };
  const auto add_actions = [&](const List<plan::Action>& actions) {
    for (const plan::Action& action : actions) {
      for (const plan::ActionArgument& argument : action.arguments) add_all(argument.value);
    }
  };
  if (rule.from) {
    for (const plan::EventTest& test : *rule.from) add_test(test);
  }
  for (const plan::Element& element : rule.elements) {
    add_test(element.test);
    for (const plan::JointCondition& joint : element.joint) add_all(joint.condition);
  }
  for (const plan::EventTest& test : rule.unless) add_test(test);
  for (const ExprPtr& condition : rule.having) add_all(condition);
  add_items(rule.emit);
  add_actions(rule.actions);
  if (rule.on_timeout) {
    add_items(rule.on_timeout->emit);
    add_actions(rule.on_timeout->actions);
  }
  std::string out;
  for (const std::string& each : reads) out += "reads " + each + "\n";
  return out;
}

std::string meaning(const plan::Rule& rule, const FieldPlan& fields) {
  return print_pattern(rule, fields) + print_reads(rule, fields);
}

}  // namespace cepd::dsl
