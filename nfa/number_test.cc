#include "nfa/number_test.h"

#include <utility>

#include "dsl/plan_walk.h"

namespace cepd::nfa {

namespace plan = dsl::plan;

NumberTest::Place NumberTest::place_of(const plan::FieldRef& field) {
  if (field.property != plan::Property::kField || field.slots.size() != 1) return {};
  return {field.slots.front().first, field.slots.front().second};
}

/// An int and a double.
bool NumberTest::unlike_compared(const Value& left, const Value& right) const {
  const Ordering order = compare(left, right);
  return order == Ordering::kLess ? if_less_ : order == Ordering::kGreater ? if_greater_ : if_equal_;
}

/// Aggregates are read, and nothing but bound events: the value changes only when one more is bound.
bool NumberTest::aggregates_bound_events(const plan::Expr& side) {
  bool aggregates = false, else_read = false;
  dsl::walk(side, [&](const plan::Expr& each) {
    const auto* field = std::get_if<plan::FieldRef>(&each.node);
    aggregates = aggregates || std::holds_alternative<plan::Aggregate>(each.node);
    else_read = else_read || (field != nullptr && field->subject == plan::Subject::kTested) ||
                std::holds_alternative<plan::KeyRef>(each.node) || std::holds_alternative<plan::EmitRef>(each.node);
  });
  return aggregates && !else_read;
}

NumberTest::NumberTest(const plan::EventTest& test) {
  if (test.conditions.size() != 1) return;
  const auto* comparison = std::get_if<plan::Binary>(&test.conditions.front()->node);
  if (comparison == nullptr) return;
  bool less = false, equal = false, greater = false;
  switch (comparison->op) {
    case plan::BinaryOp::kEq:
      equal = true;
      break;
    case plan::BinaryOp::kNe:
      less = greater = true;
      break;
    case plan::BinaryOp::kLt:
      less = true;
      break;
    case plan::BinaryOp::kLe:
      less = equal = true;
      break;
    case plan::BinaryOp::kGt:
      greater = true;
      break;
    case plan::BinaryOp::kGe:
      greater = equal = true;
      break;
    default:
      return;
  }
  const plan::Expr* left = comparison->left.get();
  const plan::Expr* right = comparison->right.get();
  const auto is_tested = [](const plan::Expr& side) {
    const auto* field = std::get_if<plan::FieldRef>(&side.node);
    return field != nullptr && field->subject == plan::Subject::kTested;
  };
  if (!is_tested(*left)) {
    std::swap(left, right);
    std::swap(less, greater);
  }
  if (!is_tested(*left)) return;
  const Place tested = place_of(std::get<plan::FieldRef>(left->node));
  if (tested.type == kOtherType) return;
  Place previous;
  Value constant;
  const plan::Expr* aggregated = nullptr;
  if (const auto* number = std::get_if<plan::Constant>(&right->node)) {
    constant = number->scalar;
    if (!constant.is_number()) return;
  } else if (const auto* field = std::get_if<plan::FieldRef>(&right->node)) {
    if (field->subject != plan::Subject::kPrevious) return;
    previous = place_of(*field);
    if (previous.type == kOtherType) return;
  } else if (aggregates_bound_events(*right)) {
    aggregated = right;
  } else {
    return;
  }
  tested_ = tested;
  previous_ = previous;
  constant_ = constant;
  aggregated_ = aggregated;
  if_less_ = less;
  if_equal_ = equal;
  if_greater_ = greater;
}

}  // namespace cepd::nfa
