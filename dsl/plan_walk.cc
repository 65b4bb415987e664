#include "dsl/plan_walk.h"

namespace cepd::dsl {
namespace {

using Parts = std::vector<plan::ExprPtr>;

struct PartsOf {
  Parts operator()(const plan::Constant&) const { return {}; }
  Parts operator()(const plan::FieldRef&) const { return {}; }
  Parts operator()(const plan::KeyRef&) const { return {}; }
  Parts operator()(const plan::EmitRef&) const { return {}; }
  Parts operator()(const plan::Aggregate&) const { return {}; }
  Parts operator()(const plan::Unary& node) const { return {node.operand}; }
  Parts operator()(const plan::Binary& node) const { return {node.left, node.right}; }
  Parts operator()(const plan::In& node) const {
    Parts parts{node.operand};
    parts.insert(parts.end(), node.list.begin(), node.list.end());
    return parts;
  }
  Parts operator()(const plan::Between& node) const { return {node.operand, node.low, node.high}; }
  Parts operator()(const plan::Matches& node) const { return {node.operand}; }
  Parts operator()(const plan::IsNull& node) const { return {node.operand}; }
  Parts operator()(const plan::FunctionCall& node) const { return node.arguments; }
  Parts operator()(const plan::Template& node) const {
    Parts parts;
    for (const auto& part : node.parts) {
      if (const auto* expr = std::get_if<plan::ExprPtr>(&part)) parts.push_back(*expr);
    }
    return parts;
  }
};

}  // namespace

std::vector<plan::ExprPtr> parts_of(const plan::Expr& expr) { return std::visit(PartsOf{}, expr.node); }

void walk(const plan::Expr& expr, const std::function<void(const plan::Expr&)>& visit) {
  visit(expr);
  for (const plan::ExprPtr& part : parts_of(expr)) walk(*part, visit);
}

void for_each_field(const plan::Expr& expr, const std::function<void(const plan::FieldRef&)>& visit) {
  walk(expr, [&](const plan::Expr& each) {
    if (const auto* field = std::get_if<plan::FieldRef>(&each.node)) visit(*field);
    if (const auto* aggregate = std::get_if<plan::Aggregate>(&each.node); aggregate != nullptr && aggregate->field) {
      visit(*aggregate->field);
    }
  });
}

}  // namespace cepd::dsl
