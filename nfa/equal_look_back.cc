#include "nfa/equal_look_back.h"

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

}  // namespace

std::optional<EqualLookBack> equal_look_back_of(const plan::Rule& rule, plan::ElementSet moved_by) {
  if (moved_by == 0) return std::nullopt;
  for (const Equality& candidate : equalities_of(test_of(rule, __builtin_ctzll(moved_by)))) {
    EqualLookBack out{*candidate.of, {}, {}};
    bool all = true;
    for (plan::ElementSet rest = moved_by; rest != 0 && all; rest &= rest - 1) {
      const int element = __builtin_ctzll(rest);
      const plan::FieldRef* tested = tested_against(out.of, test_of(rule, element));
      all = tested != nullptr;
      if (all) out.elements.emplace_back(plan::ElementId(static_cast<std::uint16_t>(element)), *tested);
    }
    if (!all) continue;
    for (std::size_t i = 0; i < rule.unless.size(); ++i) {
      if (const plan::FieldRef* tested = tested_against(out.of, rule.unless[i])) out.unless.emplace_back(i, *tested);
    }
    return out;
  }
  return std::nullopt;
}

}  // namespace cepd::nfa
