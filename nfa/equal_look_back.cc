#include "nfa/equal_look_back.h"

#include "dsl/plan_walk.h"
#include "nfa/conjuncts.h"

namespace cepd::nfa {
namespace {

namespace plan = dsl::plan;

/// One conjunct `tested = of`, in either order.
struct Equality {
  const plan::FieldRef* tested = nullptr;
  const plan::FieldRef* of = nullptr;
};

std::vector<Equality> equalities_of(const plan::EventTest& test) {
  std::vector<Equality> out;
  for (const plan::Expr* each : conjuncts_of(test)) {
    const auto* equal = std::get_if<plan::Binary>(&each->node);
    if (equal == nullptr || equal->op != plan::BinaryOp::kEq) continue;
    const auto* left = std::get_if<plan::FieldRef>(&equal->left->node);
    const auto* right = std::get_if<plan::FieldRef>(&equal->right->node);
    if (left == nullptr || right == nullptr) continue;
    if (left->subject != plan::Subject::kTested) std::swap(left, right);
    if (left->subject == plan::Subject::kTested && right->subject != plan::Subject::kTested) {
      out.push_back({left, right});
    }
  }
  return out;
}

const plan::FieldRef* tested_against(const plan::FieldRef& of, const plan::EventTest& test) {
  for (const Equality& each : equalities_of(test)) {
    if (*each.of == of) return each.tested;
  }
  return nullptr;
}

const plan::EventTest& test_of(const plan::Rule& rule, int element) {
  return rule.elements[static_cast<std::size_t>(element)].test;
}

/// One conjunct `tested > of`, or with >=, < or <=, in either order.
struct Inequality {
  const plan::FieldRef* tested = nullptr;
  plan::ExprPtr of;
  bool above = false;
};

/// It says the same of a partial match as long as that waits, and can be had from what that has bound.
bool stays(const plan::Expr& of) {
  bool reads_bound = false, reads_else = false;
  dsl::walk(of, [&](const plan::Expr& each) {
    if (const auto* field = std::get_if<plan::FieldRef>(&each.node)) {
      (field->subject == plan::Subject::kTested ? reads_else : reads_bound) = true;
    }
    reads_bound = reads_bound || std::holds_alternative<plan::Aggregate>(each.node);
    reads_else = reads_else || std::holds_alternative<plan::KeyRef>(each.node) ||
                 std::holds_alternative<plan::EmitRef>(each.node);
  });
  return reads_bound && !reads_else;
}

std::vector<Inequality> inequalities_of(const plan::EventTest& test) {
  std::vector<Inequality> out;
  const auto tested = [](const plan::Expr& side) {
    const auto* field = std::get_if<plan::FieldRef>(&side.node);
    return field != nullptr && field->subject == plan::Subject::kTested ? field : nullptr;
  };
  for (const plan::Expr* each : conjuncts_of(test)) {
    const auto* binary = std::get_if<plan::Binary>(&each->node);
    if (binary == nullptr) continue;
    const bool greater = binary->op == plan::BinaryOp::kGt || binary->op == plan::BinaryOp::kGe;
    if (!greater && binary->op != plan::BinaryOp::kLt && binary->op != plan::BinaryOp::kLe) continue;
    if (const auto* left = tested(*binary->left); left != nullptr && stays(*binary->right)) {
      out.push_back({left, binary->right, greater});
    } else if (const auto* right = tested(*binary->right); right != nullptr && stays(*binary->left)) {
      out.push_back({right, binary->left, !greater});
    }
  }
  return out;
}

const plan::FieldRef* tested_against(const RangeLookBack& range, const plan::EventTest& test) {
  for (const Inequality& each : inequalities_of(test)) {
    if (each.of == range.of && each.above == range.above) return each.tested;
  }
  return nullptr;
}

/// `tested_in(test)`: what of an event is compared, null: nothing. False where some element asks for no such thing.
template <class TestedIn>
bool fill(const plan::Rule& rule, plan::ElementSet moved_by, LookedBackFrom& out, const TestedIn& tested_in) {
  for (plan::ElementSet rest = moved_by; rest != 0; rest &= rest - 1) {
    const int element = __builtin_ctzll(rest);
    const plan::FieldRef* tested = tested_in(test_of(rule, element));
    if (tested == nullptr) return false;
    out.elements.emplace_back(plan::ElementId(static_cast<std::uint16_t>(element)), *tested);
  }
  for (std::size_t i = 0; i < rule.unless.size(); ++i) {
    if (const plan::FieldRef* tested = tested_in(rule.unless[i])) out.unless.emplace_back(i, *tested);
  }
  return true;
}

}  // namespace

std::optional<EqualLookBack> equal_look_back_of(const plan::Rule& rule, plan::ElementSet moved_by) {
  if (moved_by == 0) return std::nullopt;
  for (const Equality& candidate : equalities_of(test_of(rule, __builtin_ctzll(moved_by)))) {
    EqualLookBack out;
    out.of = *candidate.of;
    const auto tested_in = [&](const plan::EventTest& test) { return tested_against(out.of, test); };
    if (fill(rule, moved_by, out, tested_in)) return out;
  }
  return std::nullopt;
}

std::optional<RangeLookBack> range_look_back_of(const plan::Rule& rule, plan::ElementSet moved_by) {
  if (moved_by == 0) return std::nullopt;
  for (const Inequality& candidate : inequalities_of(test_of(rule, __builtin_ctzll(moved_by)))) {
    RangeLookBack out;
    out.of = candidate.of;
    out.above = candidate.above;
    const auto tested_in = [&](const plan::EventTest& test) { return tested_against(out, test); };
    if (fill(rule, moved_by, out, tested_in)) return out;
  }
  return std::nullopt;
}

}  // namespace cepd::nfa
