#pragma once
/// Syntax trees from a few words, for the random rules.

#include <memory>
#include <string>
#include <utility>

#include "dsl/ast.h"

namespace cepd::reference::build {

namespace ast = dsl::ast;

inline ast::ExprPtr expr(decltype(ast::Expr::node) node) {
  return std::make_shared<const ast::Expr>(ast::Expr{std::move(node), {}});
}
inline ast::ExprPtr number(std::int64_t value) { return expr(ast::Literal{value}); }
inline ast::ExprPtr constant(const std::string& name) { return expr(ast::ConstantRef{name}); }
inline ast::ExprPtr duration(Micros value) { return expr(ast::Literal{value}); }
inline ast::ExprPtr text(std::string value) { return expr(ast::Literal{std::move(value)}); }
inline ast::ExprPtr path(std::vector<FieldPath::Step> steps) {
  return expr(ast::PathRef{false, {std::move(steps)}, false});
}
inline ast::ExprPtr field(const std::string& name) { return path({name}); }
inline ast::ExprPtr field(const std::string& element, const std::string& name) { return path({element, name}); }
inline ast::ExprPtr binary(ast::BinaryOp op, ast::ExprPtr left, ast::ExprPtr right) {
  return expr(ast::Binary{op, std::move(left), std::move(right)});
}
inline ast::ExprPtr negated(ast::ExprPtr operand) { return expr(ast::Unary{ast::UnaryOp::kNot, std::move(operand)}); }
inline ast::ExprPtr is_null(ast::ExprPtr operand, bool negated) {
  return expr(ast::IsNull{std::move(operand), negated});
}
inline ast::ExprPtr call(const std::string& function, std::vector<ast::ExprPtr> arguments) {
  return expr(ast::Call{{function, {}}, std::move(arguments)});
}
inline ast::DurationTerm term(Micros value) { return {value, {}}; }
inline ast::DurationTerm term(const std::string& constant) { return {ast::ConstantRef{constant}, {}}; }
inline ast::Name name(std::string word) { return {std::move(word), {}}; }

}  // namespace cepd::reference::build
