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

/// Calls `visit` with every field that the expression reads, those of aggregates too.
void for_each_field(const plan::Expr& expr, const std::function<void(const plan::FieldRef&)>& visit);

}  // namespace cepd::dsl
