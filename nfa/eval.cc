#include "nfa/eval.h"

#include <re2/re2.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <string>
#include <variant>

#include "base/check.h"
#include "nfa/aggregate.h"
#include "nfa/arithmetic.h"
#include "nfa/functions.h"
#include "nfa/tally.h"

namespace cepd::nfa {
namespace {

namespace plan = dsl::plan;

const Event* nth(std::span<const Bound> list, plan::ElementId element, std::int64_t n) {
  for (const Bound& bound : list) {
    if (bound.element == element && n-- == 0) return bound.event;
  }
  return nullptr;
}

const Event* nth_last(std::span<const Bound> list, plan::ElementId element, std::int64_t n) {
  for (auto bound = list.rbegin(); bound != list.rend(); ++bound) {
    if (bound->element == element && n-- == 0) return bound->event;
  }
  return nullptr;
}

/// The element's first or last event.
const Event* end_of(const plan::FieldRef& node, const Scope& scope) {
  const bool first = node.subject == plan::Subject::kFirst;
  if (Tallies* kept = tallies_of(scope)) {
    return first ? kept->first(node.element, scope.bound) : kept->last(node.element, scope.bound);
  }
  return first ? nth(scope.bound, node.element, 0) : nth_last(scope.bound, node.element, 0);
}

const Event* subject(const plan::FieldRef& node, const Scope& scope) {
  switch (node.subject) {
    case plan::Subject::kTested:
      return scope.tested;
    case plan::Subject::kPrevious:
      return scope.bound.empty() ? nullptr : scope.bound.back().event;
    case plan::Subject::kFirst:
    case plan::Subject::kLast:
      return end_of(node, scope);
    case plan::Subject::kIndex:
      // -(index + 1) exists for the smallest index too.
      return node.index >= 0 ? nth(scope.bound, node.element, node.index)
                             : nth_last(scope.bound, node.element, -(node.index + 1));
  }
  return nullptr;
}

/// One evaluation. Conditions are small trees, so it recurses; the parser bounds their depth.
class Evaluator {
 public:
  Evaluator(const Scope& scope, Arena& scratch, EvalErrors& errors)
      : scope_(scope), scratch_(scratch), errors_(errors) {}

  Value eval(const plan::Expr& expr) {
    // Most comparisons and what stands on their sides, without the jump table of a visit.
    if (const auto* field = std::get_if<plan::FieldRef>(&expr.node)) return (*this)(*field);
    if (const auto* constant = std::get_if<plan::Constant>(&expr.node)) return constant->value();
    if (const auto* binary = std::get_if<plan::Binary>(&expr.node)) return (*this)(*binary);
    return std::visit(*this, expr.node);
  }

  Value operator()(const plan::Constant& node) const { return node.value(); }
  Value operator()(const plan::FieldRef& node) const { return read_field(node, scope_); }
  Value operator()(const plan::KeyRef& node) const {
    CEPD_CHECK(node.index < scope_.key.size());
    return scope_.key[node.index];
  }
  Value operator()(const plan::EmitRef& node) const {
    CEPD_CHECK(node.index < scope_.emit.size());
    return scope_.emit[node.index].value;
  }
  Value operator()(const plan::Aggregate& node) { return aggregate(node, scope_, scratch_, errors_); }

  Value operator()(const plan::Unary& node) {
    const Value operand = eval(*node.operand);
    return node.op == plan::UnaryOp::kNot ? inverted(truth(operand)) : negate(operand, errors_);
  }

  Value operator()(const plan::Binary& node) {
    switch (node.op) {
      case plan::BinaryOp::kAnd:
        return decide(node, false);
      case plan::BinaryOp::kOr:
        return decide(node, true);
      case plan::BinaryOp::kEq:
      case plan::BinaryOp::kNe:
      case plan::BinaryOp::kLt:
      case plan::BinaryOp::kLe:
      case plan::BinaryOp::kGt:
      case plan::BinaryOp::kGe:
        return compared(node.op, eval(*node.left), eval(*node.right));
      default: {
        const Value left = eval(*node.left);
        return arithmetic(node.op, left, eval(*node.right), errors_);
      }
    }
  }

  /// As a = x OR a = y OR …
  Value operator()(const plan::In& node) {
    const Value operand = eval(*node.operand);
    Value result = Value::boolean(false);
    for (const plan::ExprPtr& item : node.list) {
      const Value equal = compared(plan::BinaryOp::kEq, operand, eval(*item));
      if (equal.is_true()) {
        result = equal;
        break;
      }
      if (equal.is_null()) result = equal;
    }
    return node.negated ? inverted(result) : result;
  }

  /// As a >= low AND a <= high.
  Value operator()(const plan::Between& node) {
    const Value operand = eval(*node.operand);
    Value result = compared(plan::BinaryOp::kGe, operand, eval(*node.low));
    if (result.is_null() || result.is_true()) {
      const Value below = compared(plan::BinaryOp::kLe, operand, eval(*node.high));
      if (!below.is_true()) result = below;
    }
    return node.negated ? inverted(result) : result;
  }

  Value operator()(const plan::Matches& node) {
    const Value operand = eval(*node.operand);
    if (operand.is_null()) return operand;
    if (operand.kind() != Kind::kString) return failed(errors_);
    const std::string_view text = operand.text();
    const bool found = RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *node.pattern);
    return Value::boolean(found != node.negated);
  }

  Value operator()(const plan::IsNull& node) { return Value::boolean(eval(*node.operand).is_null() != node.negated); }

  Value operator()(const plan::FunctionCall& node) {
    if (node.function == plan::Function::kIf || node.function == plan::Function::kCoalesce) return lazy(node);
    boost::container::small_vector<Value, 8> arguments;
    for (const plan::ExprPtr& argument : node.arguments) arguments.push_back(eval(*argument));
    return call_function(node.function, {arguments.data(), arguments.size()}, scratch_, errors_);
  }

  Value operator()(const plan::Template& node) {
    std::string text;
    for (const auto& part : node.parts) {
      if (const auto* literal = std::get_if<std::string>(&part)) {
        text += *literal;
      } else {
        append_text(text, eval(*std::get<plan::ExprPtr>(part)));
      }
    }
    return Value::string(scratch_.copy(text));
  }

 private:
  /// A condition's value: true, false or null for unknown.
  Value truth(const Value& v) { return v.kind() == Kind::kBool || v.is_null() ? v : failed(errors_); }
  static Value inverted(const Value& v) { return v.is_null() ? v : Value::boolean(!v.as_bool()); }

  /// AND is decided by a false side, OR by a true one; undecided, an unknown side makes it unknown.
  Value decide(const plan::Binary& node, bool by) {
    const Value left = truth(eval(*node.left));
    if (!left.is_null() && left.as_bool() == by) return left;
    const Value right = truth(eval(*node.right));
    if (!right.is_null() && right.as_bool() == by) return right;
    return left.is_null() ? left : right;
  }

  Value compared(plan::BinaryOp op, const Value& a, const Value& b) {
    const Ordering order = compare(a, b);
    if (order == Ordering::kNull) return Value::null();
    if (order == Ordering::kUnlike) return failed(errors_);
    if (op == plan::BinaryOp::kEq) return Value::boolean(order == Ordering::kEqual);
    if (op == plan::BinaryOp::kNe) return Value::boolean(order != Ordering::kEqual);
    if (a.kind() == Kind::kBool || a.kind() == Kind::kJson) return failed(errors_);  // these have no order
    switch (op) {
      case plan::BinaryOp::kLt:
        return Value::boolean(order == Ordering::kLess);
      case plan::BinaryOp::kLe:
        return Value::boolean(order != Ordering::kGreater);
      case plan::BinaryOp::kGt:
        return Value::boolean(order == Ordering::kGreater);
      default:
        return Value::boolean(order != Ordering::kLess);
    }
  }

  /// `if` and `coalesce` compute only what they give: what they leave out must not count as an error.
  Value lazy(const plan::FunctionCall& node) {
    if (node.function == plan::Function::kIf) {
      return eval(*node.arguments[truth(eval(*node.arguments[0])).is_true() ? 1 : 2]);
    }
    for (const plan::ExprPtr& argument : node.arguments) {
      if (const Value v = eval(*argument); !v.is_null()) return v;
    }
    return Value::null();
  }

  const Scope& scope_;
  Arena& scratch_;
  EvalErrors& errors_;
};

/// Where `ref` stands in events of `type`.
std::optional<std::uint32_t> slot_of(const plan::FieldRef& ref, TypeId type) {
  const auto& slots = ref.slots;
  if (slots.empty()) return std::nullopt;
  if (slots.front().first == type) return slots.front().second;  // most are read from one type
  if (slots.size() > 1) {
    const auto it =
        std::lower_bound(slots.begin(), slots.end(), type, [](const auto& slot, TypeId id) { return slot.first < id; });
    if (it != slots.end() && it->first == type) return it->second;
  }
  if (slots.front().first == kOtherType) return slots.front().second;
  return std::nullopt;
}

}  // namespace

Value evaluate(const plan::Expr& expr, const Scope& scope, Arena& scratch, EvalErrors& errors) {
  return Evaluator(scope, scratch, errors).eval(expr);
}

bool holds(std::span<const plan::ExprPtr> conditions, const Scope& scope, Arena& scratch, EvalErrors& errors) {
  Evaluator evaluator(scope, scratch, errors);
  return std::all_of(conditions.begin(), conditions.end(), [&](const plan::ExprPtr& condition) {
    const Value v = evaluator.eval(*condition);
    if (v.kind() != Kind::kBool && !v.is_null()) ++errors.count;
    return v.is_true();
  });
}

Value read_field(const plan::FieldRef& ref, const Scope& scope) {
  const Event* event = subject(ref, scope);
  return event == nullptr ? Value::null() : read_property(ref, *event, *scope.fields);
}

Value read_property(const plan::FieldRef& ref, const Event& event, const FieldPlan& fields) {
  switch (ref.property) {
    case plan::Property::kTime:
      return Value::timestamp(event.time);
    case plan::Property::kType:
      return Value::string(event.type == kOtherType ? event.other_type() : fields.type(event.type).name);
    case plan::Property::kMade:
      return Value::boolean(event.maker() != nullptr);
    case plan::Property::kField:
      break;
  }
  const auto slot = slot_of(ref, event.type);
  return slot ? event.field(*slot) : Value::null();
}

}  // namespace cepd::nfa
