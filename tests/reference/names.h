#pragma once
/// The names an expression begins its paths with: `a` of `a.price`, of `count(a)` and of `a[0].price`.

#include <set>
#include <string>

#include "dsl/ast.h"

namespace cepd::reference {

std::set<std::string> first_names(const dsl::ast::Expr& expr);

}  // namespace cepd::reference
