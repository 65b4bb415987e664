#pragma once
/// The parts of conditions that must all be true.

#include <vector>

#include "dsl/plan.h"

namespace cepd::nfa {

inline void add_conjuncts(const dsl::plan::Expr& condition, std::vector<const dsl::plan::Expr*>& out) {
  const auto* both = std::get_if<dsl::plan::Binary>(&condition.node);
  if (both != nullptr && both->op == dsl::plan::BinaryOp::kAnd) {
    add_conjuncts(*both->left, out);
    add_conjuncts(*both->right, out);
    return;
  }
  out.push_back(&condition);
}

/// Of an event's test, without those that join it to other members of an AND.
inline std::vector<const dsl::plan::Expr*> conjuncts_of(const dsl::plan::EventTest& test) {
  std::vector<const dsl::plan::Expr*> out;
  for (const dsl::plan::ExprPtr& condition : test.conditions) add_conjuncts(*condition, out);
  return out;
}

}  // namespace cepd::nfa
