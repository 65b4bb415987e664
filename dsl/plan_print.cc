#include "dsl/plan_print.h"

#include <re2/re2.h>

#include <algorithm>
#include <vector>

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

void append_property(std::string& out, const plan::FieldRef& ref) {
  switch (ref.property) {
    case plan::Property::kTime:
      out += "@time";
      return;
    case plan::Property::kType:
      out += "@type";
      return;
    case plan::Property::kMade:
      out += "@made";
      return;
    case plan::Property::kField:
      out += to_string(ref.path);
  }
}

class ExprPrinter {
 public:
  explicit ExprPrinter(std::string& out) : text_(out) {}

  void print(const plan::Expr& expr) {
    std::visit([this](const auto& node) { visit(node); }, expr.node);
  }

 private:
  void visit(const plan::Constant& constant) {
    if (constant.kind == Kind::kTimestamp) {
      text_ += "@\"" + format_rfc3339(constant.scalar.as_time()) + "\"";
    } else if (constant.kind == Kind::kDuration) {
      append_text(text_, constant.scalar);
    } else {
      append_json(text_, constant.value());
    }
  }
  void visit(const plan::FieldRef& ref) {
    switch (ref.subject) {
      case plan::Subject::kTested:
        text_ += "tested";
        break;
      case plan::Subject::kPrevious:
        text_ += "prev";
        break;
      case plan::Subject::kFirst:
        text_ += number_text(ref.element) + ".first";
        break;
      case plan::Subject::kLast:
        text_ += number_text(ref.element);
        break;
      case plan::Subject::kIndex:
        text_ += number_text(ref.element) + "[" + std::to_string(ref.index) + "]";
        break;
    }
    text_ += '.';
    append_property(text_, ref);
  }
  void visit(const plan::KeyRef& ref) { text_ += "key" + std::to_string(ref.index); }
  void visit(const plan::EmitRef& ref) { text_ += "emit" + std::to_string(ref.index); }
  void visit(const plan::Aggregate& aggregate) {
    text_ += std::string(name_of(aggregate.kind)) + "(" + number_text(aggregate.element);
    if (aggregate.field) {
      text_ += '.';
      append_property(text_, *aggregate.field);
    }
    if (aggregate.kind == plan::AggregateKind::kPercentile) {
      text_ += ", ";
      append_json(text_, Value::real(aggregate.percentile));
    }
    text_ += ")";
  }
  void visit(const plan::Unary& node) {
    text_ += node.op == plan::UnaryOp::kNot ? "(NOT " : "(-";
    print(*node.operand);
    text_ += ")";
  }
  void visit(const plan::Binary& node) {
    text_ += "(";
    print(*node.left);
    text_ += ' ';
    text_ += op_text(node.op);
    text_ += ' ';
    print(*node.right);
    text_ += ")";
  }
  void visit(const plan::In& node) {
    text_ += "(";
    print(*node.operand);
    text_ += node.negated ? " NOT IN (" : " IN (";
    list(node.list);
    text_ += "))";
  }
  void visit(const plan::Between& node) {
    text_ += "(";
    print(*node.operand);
    text_ += node.negated ? " NOT BETWEEN " : " BETWEEN ";
    print(*node.low);
    text_ += " AND ";
    print(*node.high);
    text_ += ")";
  }
  void visit(const plan::Matches& node) {
    text_ += "(";
    print(*node.operand);
    text_ += node.negated ? " NOT MATCHES " : " MATCHES ";
    append_json_string(text_, node.pattern->pattern());
    text_ += ")";
  }
  void visit(const plan::IsNull& node) {
    text_ += "(";
    print(*node.operand);
    text_ += node.negated ? " IS NOT NULL)" : " IS NULL)";
  }
  void visit(const plan::FunctionCall& node) {
    for (const plan::FunctionInfo& info : plan::functions()) {
      if (info.function == node.function) text_ += info.name;
    }
    text_ += "(";
    list(node.arguments);
    text_ += ")";
  }
  void visit(const plan::Template& node) {
    text_ += "template(";
    bool first = true;
    for (const auto& part : node.parts) {
      if (!first) text_ += ", ";
      first = false;
      if (const auto* literal = std::get_if<std::string>(&part)) {
        append_json_string(text_, *literal);
      } else {
        print(*std::get<ExprPtr>(part));
      }
    }
    text_ += ")";
  }

  void list(const std::vector<ExprPtr>& values) {
    bool first = true;
    for (const ExprPtr& each : values) {
      if (!first) text_ += ", ";
      first = false;
      print(*each);
    }
  }

  std::string& text_;
};

void append_test(std::string& out, const plan::EventTest& test, const FieldPlan& fields) {
  out += print(test.types, fields);
  const char* between = " KEY ";
  for (const plan::FieldRef& ref : test.key) {
    out += between;
    append_property(out, ref);
    between = ", ";
  }
  for (const ExprPtr& condition : test.conditions) {
    out += " [";
    ExprPrinter(out).print(*condition);
    out += ']';
  }
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
  std::string out;
  ExprPrinter(out).print(expr);
  return out;
}

std::string print(const plan::Types& types, const FieldPlan& fields) {
  std::vector<std::string> names;
  for (const TypeId id : types.ids) names.push_back(quoted_if_needed(fields.type(id).name));
  std::sort(names.begin(), names.end());
  std::string out = types.any ? "*" : "";
  for (const std::string& name : names) out += (out.empty() ? "" : " | ") + name;
  return out;
}

std::string print_pattern(const plan::Rule& rule, const FieldPlan& fields) {
  std::string out = "rule " + quoted_if_needed(rule.name) + "\n";
  const auto line = [&](const char* title, const plan::EventTest& test) {
    out += title;
    append_test(out, test, fields);
    out += '\n';
  };
  if (!rule.key.empty()) {
    out += "key ";
    for (std::size_t i = 0; i < rule.key.size(); ++i) out += (i == 0 ? "" : ", ") + to_string(rule.key[i]);
    out += "\n";
  }
  if (rule.from) {
    for (const plan::EventTest& test : *rule.from) line("from ", test);
  }
  for (std::size_t i = 0; i < rule.elements.size(); ++i) {
    const plan::Element& element = rule.elements[i];
    out += "#" + std::to_string(i) + " ";
    if (element.role == plan::Role::kNot) out += "NOT ";
    if (element.role == plan::Role::kUntil) out += "UNTIL ";
    append_test(out, element.test, fields);
    for (const plan::JointCondition& joint : element.joint) {
      out += " [" + print(*joint.condition) + " after " + print_elements(joint.others, "") + "]";
    }
    out += "\n";
  }
  out += "pattern " + print_sequence(rule, rule.pattern) + "\n";
  if (rule.within) out += "within " + format_duration(*rule.within) + "\n";
  for (const plan::EventTest& test : rule.unless) line("unless ", test);
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
  std::vector<std::string> reads;
  const auto add = [&](const plan::FieldRef& ref) {
    if (ref.property != plan::Property::kField) return;
    const std::string path = to_string(ref.path);
    if (!ref.slots.empty() && ref.slots.front().first == kOtherType) {
      // Which types have slots of their own depends on the other rules; the meaning does not.
      reads.push_back("*." + path);
      return;
    }
    for (const auto& [type, slot] : ref.slots) reads.push_back(quoted_if_needed(fields.type(type).name) + "." + path);
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
  std::sort(reads.begin(), reads.end());
  reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
  std::string out;
  for (const std::string& each : reads) out += "reads " + each + "\n";
  return out;
}

std::string meaning(const plan::Rule& rule, const FieldPlan& fields) {
  return print_pattern(rule, fields) + print_reads(rule, fields);
}

}  // namespace cepd::dsl
