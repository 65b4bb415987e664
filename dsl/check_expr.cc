#include "dsl/check_expr.h"

#include <re2/re2.h>

#include <algorithm>
#include <limits>

namespace cepd::dsl::checking {
namespace {

plan::BinaryOp plan_op(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::kOr:
      return plan::BinaryOp::kOr;
    case ast::BinaryOp::kAnd:
      return plan::BinaryOp::kAnd;
    case ast::BinaryOp::kEq:
      return plan::BinaryOp::kEq;
    case ast::BinaryOp::kNe:
      return plan::BinaryOp::kNe;
    case ast::BinaryOp::kLt:
      return plan::BinaryOp::kLt;
    case ast::BinaryOp::kLe:
      return plan::BinaryOp::kLe;
    case ast::BinaryOp::kGt:
      return plan::BinaryOp::kGt;
    case ast::BinaryOp::kGe:
      return plan::BinaryOp::kGe;
    case ast::BinaryOp::kAdd:
      return plan::BinaryOp::kAdd;
    case ast::BinaryOp::kSub:
      return plan::BinaryOp::kSub;
    case ast::BinaryOp::kMul:
      return plan::BinaryOp::kMul;
    case ast::BinaryOp::kDiv:
      return plan::BinaryOp::kDiv;
    case ast::BinaryOp::kMod:
      return plan::BinaryOp::kMod;
  }
  return plan::BinaryOp::kEq;
}

bool is_null_literal(const Built& built) {
  const auto* constant = std::get_if<plan::Constant>(&built.expr->node);
  return constant != nullptr && constant->kind == Kind::kNull;
}

}  // namespace

bool ElementPlace::excludes(const ElementPlace& other) const {
  for (std::size_t i = 0; i < std::min(alternatives.size(), other.alternatives.size()); ++i) {
    if (alternatives[i].first != other.alternatives[i].first) return false;
    if (alternatives[i].second != other.alternatives[i].second) return true;
  }
  return false;
}

std::vector<std::string> RuleScope::bound_names() const {
  std::vector<std::string> out;
  for (const auto& [name, element] : names) {
    if (elements[element].role == plan::Role::kTake) out.push_back(name);
  }
  return out;
}

bool ExprBuilder::misfit(bool declared, ast::Location where, const std::string& message,
                         const std::string& suggestion) {
  if (declared) {
    scope_.report.error(where, message, suggestion);
  } else {
    scope_.report.warn(where, message, suggestion);
  }
  return !declared;
}

bool ExprBuilder::check_comparison(const Built& a, const Built& b, bool ordered, ast::Location where) {
  if (is_null_literal(a) || is_null_literal(b)) {
    return misfit(false, where, "a comparison with null is never true", "write IS NULL or IS NOT NULL");
  }
  if (a.kinds.empty() || b.kinds.empty() || comparable(a.kinds, b.kinds, ordered)) return true;
  const bool declared = a.declared || b.declared;
  if (comparable(a.kinds, b.kinds, false)) {
    return misfit(declared, where, "values of kind " + to_string(a.kinds & b.kinds) + " have no order");
  }
  return misfit(declared, where,
                "unlike types: " + to_string(a.kinds) + " and " + to_string(b.kinds) + " never compare");
}

bool ExprBuilder::check_condition(const Built& built, ast::Location where) {
  if (built.kinds.overlaps(Kinds::boolean())) return true;
  scope_.report.error(where, "expected a condition, and this is " + with_article(built.kinds));
  return false;
}

plan::ExprPtr ExprBuilder::condition(const ast::Expr& expr) {
  const Built built = build(expr);
  return built && check_condition(built, expr.where) ? built.expr : nullptr;
}

Built ExprBuilder::build(const ast::Expr& expr) {
  struct Visitor {
    ExprBuilder& self;
    ast::Location where;
    Built operator()(const ast::Literal& n) const { return self.literal(n); }
    Built operator()(const ast::ConstantRef& n) const { return self.constant(n, where); }
    Built operator()(const ast::PathRef& n) const { return self.path(n, where); }
    Built operator()(const ast::Unary& n) const { return self.unary(n, where); }
    Built operator()(const ast::Binary& n) const { return self.binary(n, where); }
    Built operator()(const ast::In& n) const { return self.in(n, where); }
    Built operator()(const ast::Between& n) const { return self.between(n, where); }
    Built operator()(const ast::Matches& n) const { return self.matches(n); }
    Built operator()(const ast::IsNull& n) const { return self.is_null(n); }
    Built operator()(const ast::Call& n) const { return self.call(n, where); }
  };
  return std::visit(Visitor{*this, expr.where}, expr.node);
}

Built ExprBuilder::literal(const ast::Literal& literal) {
  plan::Constant constant = constant_of(literal);
  const Kinds kinds = constant.kind;
  return {scope_.set.share.make(std::move(constant)), kinds, false};
}

Built ExprBuilder::constant(const ast::ConstantRef& ref, ast::Location where) {
  const ast::Literal* found = scope_.set.constant(ref.name, where, scope_.report);
  return found == nullptr ? Built{} : literal(*found);
}

Built ExprBuilder::unary(const ast::Unary& node, ast::Location where) {
  const Built operand = build(*node.operand);
  if (!operand) return {};
  if (node.op == ast::UnaryOp::kNot) {
    if (!check_condition(operand, node.operand->where)) return {};
    return {scope_.set.share.make(plan::Unary{plan::UnaryOp::kNot, operand.expr}), Kinds::boolean(), operand.declared};
  }
  if (const auto* constant = std::get_if<plan::Constant>(&operand.expr->node)) {
    // A negative literal is one constant: -5 as well as 5.
    const Value v = constant->value();
    constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
    std::optional<Value> negated;
    if (v.kind() == Kind::kInt && v.as_int() != kMin) negated = Value::integer(-v.as_int());
    if (v.kind() == Kind::kDouble) negated = Value::real(-v.as_double());
    if (v.kind() == Kind::kDuration && v.as_duration().count() != kMin) negated = Value::duration(-v.as_duration());
    if (negated) return {scope_.set.share.make(plan::Constant{negated->kind(), {}, *negated}), operand.kinds, false};
  }
  const Kinds kinds = operand.kinds & (Kinds::number() | Kind::kDuration);
  if (kinds.empty() && !misfit(operand.declared, where,
                               "unlike types: " + with_article(operand.kinds) + " has no negative and gives null")) {
    return {};
  }
  return {scope_.set.share.make(plan::Unary{plan::UnaryOp::kNegate, operand.expr}), kinds, operand.declared};
}

Built ExprBuilder::binary(const ast::Binary& node, ast::Location where) {
  const Built left = build(*node.left);
  const Built right = build(*node.right);
  if (!left || !right) return {};
  const plan::BinaryOp op = plan_op(node.op);
  const bool declared = left.declared || right.declared;
  const auto made = [&](Kinds kinds) {
    return Built{scope_.set.share.make(plan::Binary{op, left.expr, right.expr}), kinds, declared};
  };
  switch (op) {
    case plan::BinaryOp::kOr:
    case plan::BinaryOp::kAnd: {
      const bool left_ok = check_condition(left, node.left->where);
      const bool right_ok = check_condition(right, node.right->where);
      return left_ok && right_ok ? made(Kinds::boolean()) : Built{};
    }
    case plan::BinaryOp::kEq:
    case plan::BinaryOp::kNe:
      return check_comparison(left, right, false, where) ? made(Kinds::boolean()) : Built{};
    case plan::BinaryOp::kLt:
    case plan::BinaryOp::kLe:
    case plan::BinaryOp::kGt:
    case plan::BinaryOp::kGe:
      return check_comparison(left, right, true, where) ? made(Kinds::boolean()) : Built{};
    default:
      break;
  }
  const Kinds kinds = arithmetic(op, left.kinds, right.kinds);
  if (kinds.empty() && !left.kinds.empty() && !right.kinds.empty() &&
      !misfit(declared, where,
              "unlike types: " + to_string(left.kinds) + " and " + to_string(right.kinds) + " here give null")) {
    return {};
  }
  return made(kinds);
}

Built ExprBuilder::in(const ast::In& node, ast::Location) {
  plan::In out;
  out.negated = node.negated;
  const Built operand = build(*node.operand);
  bool ok = static_cast<bool>(operand);
  for (const ast::ExprPtr& each : node.list) {
    const Built item = build(*each);
    if (!item) ok = false;
    if (!item || !operand) continue;
    ok &= check_comparison(operand, item, false, each->where);
    out.list.push_back(item.expr);
  }
  if (!ok) return {};
  out.operand = operand.expr;
  return {scope_.set.share.make(std::move(out)), Kinds::boolean(), operand.declared};
}

Built ExprBuilder::between(const ast::Between& node, ast::Location) {
  const Built operand = build(*node.operand);
  const Built low = build(*node.low);
  const Built high = build(*node.high);
  if (!operand || !low || !high) return {};
  const bool low_ok = check_comparison(operand, low, true, node.low->where);
  const bool high_ok = check_comparison(operand, high, true, node.high->where);
  if (!low_ok || !high_ok) return {};
  return {scope_.set.share.make(plan::Between{operand.expr, low.expr, high.expr, node.negated}), Kinds::boolean(),
          operand.declared};
}

Built ExprBuilder::matches(const ast::Matches& node) {
  const Built operand = build(*node.operand);
  const ast::Literal* literal = std::get_if<ast::Literal>(&node.pattern->node);
  if (const auto* constant = std::get_if<ast::ConstantRef>(&node.pattern->node)) {
    literal = scope_.set.constant(constant->name, node.pattern->where, scope_.report);
    if (literal == nullptr) return {};
  }
  const std::string* pattern = literal == nullptr ? nullptr : std::get_if<std::string>(&literal->value);
  if (pattern == nullptr) {
    scope_.report.error(node.pattern->where, "MATCHES needs a string or a constant that is one",
                        "it is compiled when the rule is loaded; write it like MATCHES \"^a+$\"");
    return {};
  }
  auto regex = scope_.set.regex(*pattern, node.pattern->where, scope_.report);
  if (regex == nullptr || !operand) return {};
  if (!operand.kinds.overlaps(Kind::kString) &&
      !misfit(operand.declared, node.operand->where,
              "unlike types: MATCHES tests strings, and this is " + with_article(operand.kinds))) {
    return {};
  }
  return {scope_.set.share.make(plan::Matches{operand.expr, std::move(regex), node.negated}), Kinds::boolean(),
          operand.declared};
}

Built ExprBuilder::is_null(const ast::IsNull& node) {
  const Built operand = build(*node.operand);
  if (!operand) return {};
  return {scope_.set.share.make(plan::IsNull{operand.expr, node.negated}), Kinds::boolean(), operand.declared};
}

namespace {

struct PathWalk {
  const std::function<void(const ast::PathRef&, bool)>& visit;
  void walk(const ast::ExprPtr& expr) const { std::visit(*this, expr->node); }
  void operator()(const ast::Literal&) const {}
  void operator()(const ast::ConstantRef&) const {}
  void operator()(const ast::PathRef& n) const { visit(n, false); }
  void operator()(const ast::Unary& n) const { walk(n.operand); }
  void operator()(const ast::Binary& n) const {
    walk(n.left);
    walk(n.right);
  }
  void operator()(const ast::In& n) const {
    walk(n.operand);
    for (const ast::ExprPtr& each : n.list) walk(each);
  }
  void operator()(const ast::Between& n) const {
    walk(n.operand);
    walk(n.low);
    walk(n.high);
  }
  void operator()(const ast::Matches& n) const { walk(n.operand); }
  void operator()(const ast::IsNull& n) const { walk(n.operand); }
  void operator()(const ast::Call& n) const {
    for (const ast::ExprPtr& each : n.arguments) {
      if (const auto* path = std::get_if<ast::PathRef>(&each->node)) {
        visit(*path, n.function.text == "count");
      } else {
        walk(each);
      }
    }
  }
};

}  // namespace

void for_each_path(const ast::Expr& expr, const std::function<void(const ast::PathRef&, bool counted)>& visit) {
  std::visit(PathWalk{visit}, expr.node);
}

}  // namespace cepd::dsl::checking
