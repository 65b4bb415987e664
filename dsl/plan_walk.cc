#include "dsl/plan_walk.h"

namespace cepd::dsl {
namespace {

/// Calls `each` with a reference to every pointer to a part of the node, in the order in which they are written.
template <class Node, class Each>
void for_each_part(Node& node, const Each& each) {
  using Plain = std::remove_const_t<Node>;
  if constexpr (std::is_same_v<Plain, plan::Unary> || std::is_same_v<Plain, plan::Matches> ||
                std::is_same_v<Plain, plan::IsNull>) {
    each(node.operand);
  } else if constexpr (std::is_same_v<Plain, plan::Binary>) {
    each(node.left);
    each(node.right);
  } else if constexpr (std::is_same_v<Plain, plan::In>) {
    each(node.operand);
    for (auto& item : node.list) each(item);
  } else if constexpr (std::is_same_v<Plain, plan::Between>) {
    each(node.operand);
    each(node.low);
    each(node.high);
  } else if constexpr (std::is_same_v<Plain, plan::FunctionCall>) {
    for (auto& argument : node.arguments) each(argument);
  } else if constexpr (std::is_same_v<Plain, plan::Template>) {
    for (auto& part : node.parts) {
      if (auto* expr = std::get_if<plan::ExprPtr>(&part)) each(*expr);
    }
  } else {
    static_assert(std::is_same_v<Plain, plan::Constant> || std::is_same_v<Plain, plan::FieldRef> ||
                  std::is_same_v<Plain, plan::KeyRef> || std::is_same_v<Plain, plan::EmitRef> ||
                  std::is_same_v<Plain, plan::Aggregate>);
  }
}

}  // namespace

std::vector<plan::ExprPtr> parts_of(const plan::Expr& expr) {
  std::vector<plan::ExprPtr> parts;
  std::visit([&](const auto& node) { for_each_part(node, [&](const plan::ExprPtr& part) { parts.push_back(part); }); },
             expr.node);
  return parts;
}

void walk(const plan::Expr& expr, const std::function<void(const plan::Expr&)>& visit) {
  visit(expr);
  std::visit([&](const auto& node) { for_each_part(node, [&](const plan::ExprPtr& part) { walk(*part, visit); }); },
             expr.node);
}

plan::ExprPtr rewritten(const plan::ExprPtr& expr, const std::function<plan::ExprPtr(const plan::Expr&)>& change) {
  if (plan::ExprPtr other = change(*expr)) return other;
  std::vector<plan::ExprPtr> parts;
  bool changed = false;
  std::visit(
      [&](const auto& node) {
        for_each_part(node, [&](const plan::ExprPtr& part) {
          parts.push_back(rewritten(part, change));
          changed |= parts.back() != part;
        });
      },
      expr->node);
  if (!changed) return expr;
  plan::Expr copy = *expr;
  auto next = parts.begin();
  std::visit([&](auto& node) { for_each_part(node, [&](plan::ExprPtr& part) { part = std::move(*next++); }); },
             copy.node);
  return std::make_shared<const plan::Expr>(std::move(copy));
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
