#include "dsl/plan_words.h"

#include <re2/re2.h>

#include <algorithm>

#include "base/check.h"
#include "dsl/aggregates.h"
#include "dsl/print.h"

namespace cepd::dsl {
namespace {

ast::ExprPtr make(decltype(ast::Expr::node) node) {
  return std::make_shared<const ast::Expr>(ast::Expr{std::move(node), {}});
}

ast::ExprPtr literal(const Value& value) {
  ast::Literal out;
  switch (value.kind()) {
    case Kind::kNull:
      break;
    case Kind::kBool:
      out.value = value.as_bool();
      break;
    case Kind::kInt:
      out.value = value.as_int();
      break;
    case Kind::kDouble:
      out.value = value.as_double();
      break;
    case Kind::kTimestamp:
      out.value = value.as_time();
      break;
    case Kind::kDuration:
      out.value = value.as_duration();
      break;
    case Kind::kString:
    case Kind::kJson:
      out.value = std::string(value.text());
      break;
  }
  return make(out);
}

/// Back to the syntax tree, which knows where parentheses and back quotes are needed.
class ToTree {
 public:
  explicit ToTree(const plan::Rule& rule) : rule_(rule) {}

  ast::ExprPtr tree(const plan::Expr& expr) const { return std::visit(*this, expr.node); }

  ast::ExprPtr operator()(const plan::Constant& node) const { return literal(node.value()); }
  ast::ExprPtr operator()(const plan::FieldRef& node) const {
    switch (node.subject) {
      case plan::Subject::kTested:
        return field(node, {});
      case plan::Subject::kPrevious:
        return call("prev", {field(node, {})});
      case plan::Subject::kFirst:
        return call("first", {field(node, {name(node.element)})});
      case plan::Subject::kLast:
        return field(node, {name(node.element)});
      case plan::Subject::kIndex:
        return field(node, {name(node.element), node.index});
    }
    return nullptr;
  }
  ast::ExprPtr operator()(const plan::KeyRef& node) const { return make(ast::PathRef{false, rule_.key[node.index]}); }
  ast::ExprPtr operator()(const plan::EmitRef& node) const {
    return make(ast::PathRef{false, FieldPath::of(rule_.emit[node.index].name)});
  }
  ast::ExprPtr operator()(const plan::Aggregate& node) const {
    std::vector<ast::ExprPtr> arguments;
    arguments.push_back(node.field ? field(*node.field, {name(node.element)})
                                   : make(ast::PathRef{false, FieldPath::of(name(node.element))}));
    if (node.kind == plan::AggregateKind::kPercentile) arguments.push_back(literal(Value::real(node.percentile)));
    return call(std::string(name_of(node.kind)), std::move(arguments));
  }
  ast::ExprPtr operator()(const plan::Unary& node) const {
    const bool negation = node.op == plan::UnaryOp::kNot;
    return make(ast::Unary{negation ? ast::UnaryOp::kNot : ast::UnaryOp::kNegate, tree(*node.operand)});
  }
  ast::ExprPtr operator()(const plan::Binary& node) const {
    // One list of operators, written down twice.
    static_assert(static_cast<int>(ast::BinaryOp::kMod) == static_cast<int>(plan::BinaryOp::kMod));
    return make(ast::Binary{static_cast<ast::BinaryOp>(node.op), tree(*node.left), tree(*node.right)});
  }
  ast::ExprPtr operator()(const plan::In& node) const {
    return make(ast::In{tree(*node.operand), trees(node.list), node.negated});
  }
  ast::ExprPtr operator()(const plan::Between& node) const {
    return make(ast::Between{tree(*node.operand), tree(*node.low), tree(*node.high), node.negated});
  }
  ast::ExprPtr operator()(const plan::Matches& node) const {
    return make(ast::Matches{tree(*node.operand), literal(Value::string(node.pattern->pattern())), node.negated});
  }
  ast::ExprPtr operator()(const plan::IsNull& node) const {
    return make(ast::IsNull{tree(*node.operand), node.negated});
  }
  ast::ExprPtr operator()(const plan::FunctionCall& node) const {
    const auto& table = plan::functions();
    const auto info = std::find_if(table.begin(), table.end(),
                                   [&](const plan::FunctionInfo& each) { return each.function == node.function; });
    CEPD_CHECK(info != table.end());
    return call(std::string(info->name), trees(node.arguments));
  }
  ast::ExprPtr operator()(const plan::Template&) const {
    CEPD_CHECK(!"a template stands in no condition");
    return nullptr;
  }

 private:
  static ast::ExprPtr call(std::string function, std::vector<ast::ExprPtr> arguments) {
    return make(ast::Call{{std::move(function), {}}, std::move(arguments)});
  }
  std::vector<ast::ExprPtr> trees(const std::vector<plan::ExprPtr>& list) const {
    std::vector<ast::ExprPtr> out;
    for (const plan::ExprPtr& each : list) out.push_back(tree(*each));
    return out;
  }
  std::string name(plan::ElementId element) const { return rule_.elements[static_cast<std::size_t>(element)].name; }

  /// `before`: the element that the field is of, none for the event tested.
  ast::ExprPtr field(const plan::FieldRef& ref, std::vector<FieldPath::Step> before) const {
    ast::PathRef out;
    out.path.steps = std::move(before);
    switch (ref.property) {
      case plan::Property::kTime:
        out.path.steps.emplace_back("ts");
        break;
      case plan::Property::kType:
        out.path.steps.emplace_back("type");
        break;
      case plan::Property::kMade:  // no text says it
        out.path.steps.emplace_back("made by a rule");
        break;
      case plan::Property::kField: {
        const auto* first = std::get_if<std::string>(&ref.path.steps.front());
        if (out.path.empty() && first != nullptr) out.from_this = names_element(*first) && ref.path.steps.size() > 1;
        out.quoted = ref.path.steps.size() == 1 && (*first == "ts" || *first == "type");
        out.path.steps.insert(out.path.steps.end(), ref.path.steps.begin(), ref.path.steps.end());
        break;
      }
    }
    return make(out);
  }
  bool names_element(const std::string& word) const {
    return std::any_of(rule_.elements.begin(), rule_.elements.end(),
                       [&](const plan::Element& element) { return element.name == word; });
  }

  const plan::Rule& rule_;
};

}  // namespace

std::string in_words(const plan::Expr& expr, const plan::Rule& rule) { return print(*ToTree(rule).tree(expr)); }

std::string in_words(const plan::Types& types, const FieldPlan& fields) {
  std::string out = types.any ? "*" : "";
  for (const TypeId id : types.ids) out += (out.empty() ? "" : " | ") + quoted_if_needed(fields.type(id).name);
  return out;
}

std::string in_words(const Value& value) {
  return value.kind() == Kind::kJson ? std::string(value.text()) : print(*literal(value));
}

}  // namespace cepd::dsl
