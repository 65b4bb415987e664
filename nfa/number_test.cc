#include "nfa/number_test.h"

#include <utility>

namespace cepd::nfa {

namespace plan = dsl::plan;

NumberTest::Place NumberTest::place_of(const plan::FieldRef& field) {
  if (field.property != plan::Property::kField || field.slots.size() != 1) return {};
  return {field.slots.front().first, field.slots.front().second};
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
  if (const auto* number = std::get_if<plan::Constant>(&right->node)) {
    constant = number->scalar;
    if (!constant.is_number()) return;
  } else {
    const auto* field = std::get_if<plan::FieldRef>(&right->node);
    if (field == nullptr || field->subject != plan::Subject::kPrevious) return;
    previous = place_of(*field);
    if (previous.type == kOtherType) return;
  }
  tested_ = tested;
  previous_ = previous;
  constant_ = constant;
  if_less_ = less;
  if_equal_ = equal;
  if_greater_ = greater;
}

}  // namespace cepd::nfa
