#include "app/why_conditions.h"

#include <algorithm>

#include "dsl/plan_walk.h"
#include "dsl/plan_words.h"

namespace cepd::app {

namespace plan = dsl::plan;

namespace {

/// Evaluates and prints the sides of one failed part.
class Sides {
 public:
  Sides(const plan::Rule& rule, const nfa::Scope& scope) : rule_(rule), scope_(scope) {}

  void add_all(const plan::Expr& expr) {
    const bool connective = is_binary(expr, plan::BinaryOp::kAnd) || is_binary(expr, plan::BinaryOp::kOr) ||
                            std::holds_alternative<plan::Unary>(expr.node);
    const std::vector<plan::ExprPtr> parts = dsl::parts_of(expr);
    // A bool field stands alone.
    if (parts.empty()) return add(expr);
    for (const plan::ExprPtr& part : parts) connective ? add_all(*part) : add(*part);
    add_unlike(expr);
  }
  std::string take() { return std::move(out_); }

 private:
  static bool is_binary(const plan::Expr& expr, plan::BinaryOp op) {
    const auto* binary = std::get_if<plan::Binary>(&expr.node);
    return binary != nullptr && binary->op == op;
  }
  Value value_of(const plan::Expr& expr) { return nfa::evaluate(expr, scope_, scratch_, errors_); }

  void append(const std::string& text) {
    if (std::find(said_.begin(), said_.end(), text) != said_.end()) return;
    said_.push_back(text);
    out_ += (out_.empty() ? "" : ", ") + text;
  }
  void add(const plan::Expr& expr) {
    if (std::holds_alternative<plan::Constant>(expr.node)) return;
    append(dsl::in_words(expr, rule_) + " = " + dsl::in_words(value_of(expr)));
  }
  /// A comparison of unlike kinds is unknown: nobody sees that from the values alone.
  void add_unlike(const plan::Expr& expr) {
    const auto* binary = std::get_if<plan::Binary>(&expr.node);
    if (binary == nullptr || binary->op < plan::BinaryOp::kEq || binary->op > plan::BinaryOp::kGe) return;
    const Value left = value_of(*binary->left), right = value_of(*binary->right);
    if (compare(left, right) != Ordering::kUnlike) return;
    append(std::string(kind_name(left.kind())) + " and " + std::string(kind_name(right.kind())) + " do not compare");
  }

  const plan::Rule& rule_;
  const nfa::Scope& scope_;
  Arena scratch_;
  nfa::EvalErrors errors_;
  std::string out_;
  std::vector<std::string> said_;
};

void add_failed(const plan::Expr& condition, const plan::Rule& rule, const nfa::Scope& scope,
                std::vector<FailedPart>& out) {
  Arena scratch;
  nfa::EvalErrors errors;
  if (nfa::evaluate(condition, scope, scratch, errors).is_true()) return;
  if (const auto* binary = std::get_if<plan::Binary>(&condition.node);
      binary != nullptr && binary->op == plan::BinaryOp::kAnd) {
    add_failed(*binary->left, rule, scope, out);
    add_failed(*binary->right, rule, scope, out);
    return;
  }
  Sides sides(rule, scope);
  sides.add_all(condition);
  out.push_back({dsl::in_words(condition, rule), sides.take()});
}

}  // namespace

std::vector<FailedPart> failed_parts(std::span<const plan::ExprPtr> conditions, const plan::Rule& rule,
                                     const nfa::Scope& scope) {
  std::vector<FailedPart> out;
  for (const plan::ExprPtr& condition : conditions) add_failed(*condition, rule, scope, out);
  return out;
}

std::vector<plan::ExprPtr> conditions_of(const plan::Element& element, std::span<const nfa::Bound> bound) {
  plan::ElementSet members = 0;
  for (const nfa::Bound& each : bound) members |= plan::element_bit(each.element);
  std::vector<plan::ExprPtr> out(element.test.conditions.begin(), element.test.conditions.end());
  for (const plan::JointCondition& joint : element.joint) {
    if ((joint.others & ~members) == 0) out.push_back(joint.condition);
  }
  return out;
}

std::string fields_read(const plan::Rule& rule, plan::ElementId element, const Event& event, const FieldPlan& fields) {
  std::vector<FieldPath> paths;
  std::string out;
  const auto add = [&](const plan::FieldRef& ref) {
    if (ref.property != plan::Property::kField) return;
    if (std::find(paths.begin(), paths.end(), ref.path) != paths.end()) return;
    paths.push_back(ref.path);
    out +=
        (out.empty() ? "" : ", ") + to_string(ref.path) + ": " + dsl::in_words(nfa::read_property(ref, event, fields));
  };
  // `own`: the condition is tested on events of the element itself.
  const auto add_from = [&](const plan::ExprPtr& condition, bool own) {
    dsl::walk(*condition, [&](const plan::Expr& each) {
      if (const auto* aggregate = std::get_if<plan::Aggregate>(&each.node)) {
        if (aggregate->field && aggregate->element == element) add(*aggregate->field);
      }
      const auto* ref = std::get_if<plan::FieldRef>(&each.node);
      if (ref == nullptr || ref->subject == plan::Subject::kPrevious) return;
      if (ref->subject == plan::Subject::kTested ? own : ref->element == element) add(*ref);
    });
  };
  for (std::size_t i = 0; i < rule.elements.size(); ++i) {
    const plan::Element& each = rule.elements[i];
    const bool own = i == static_cast<std::size_t>(element);
    for (const plan::ExprPtr& condition : each.test.conditions) add_from(condition, own);
    for (const plan::JointCondition& joint : each.joint) add_from(joint.condition, own);
  }
  for (const plan::EventTest& test : rule.unless) {
    for (const plan::ExprPtr& condition : test.conditions) add_from(condition, false);
  }
  for (const plan::ExprPtr& condition : rule.having) add_from(condition, false);
  return out.empty() ? out : "{" + out + "}";
}

}  // namespace cepd::app
