#pragma once
/// The parts of checked expressions.

#include <functional>
#include <vector>

#include "dsl/plan.h"

namespace cepd::dsl {

/// What the node is made of, in the order in which it is written.
std::vector<plan::ExprPtr> parts_of(const plan::Expr& expr);

/// Calls `visit` with the expression and everything in it.
void walk(const plan::Expr& expr, const std::function<void(const plan::Expr&)>& visit);

/// The expression with other parts: `change` gives what stands for a part, or null where it stays and its own parts are
/// looked at.
plan::ExprPtr rewritten(const plan::ExprPtr& expr, const std::function<plan::ExprPtr(const plan::Expr&)>& change);

/// Calls `visit` with every field that the expression reads, those of aggregates too.
void for_each_field(const plan::Expr& expr, const std::function<void(const plan::FieldRef&)>& visit);

}  // namespace cepd::dsl
