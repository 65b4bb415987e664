#include "tests/reference/names.h"

namespace cepd::reference {
namespace {

namespace ast = dsl::ast;

struct Collector {
  std::set<std::string>& names;

  void at(const ast::ExprPtr& expr) { std::visit(*this, expr->node); }

  void operator()(const ast::Literal&) {}
  void operator()(const ast::ConstantRef&) {}
  void operator()(const ast::PathRef& ref) {
    if (!ref.from_this) names.insert(std::get<std::string>(ref.path.steps.front()));
  }
  void operator()(const ast::Unary& unary) { at(unary.operand); }
  void operator()(const ast::Binary& binary) {
    at(binary.left);
    at(binary.right);
  }
  void operator()(const ast::In& in) {
    at(in.operand);
    for (const ast::ExprPtr& each : in.list) at(each);
  }
  void operator()(const ast::Between& between) {
    at(between.operand);
    at(between.low);
    at(between.high);
  }
  void operator()(const ast::Matches& matches) { at(matches.operand); }
  void operator()(const ast::IsNull& test) { at(test.operand); }
  void operator()(const ast::Call& call) {
    for (const ast::ExprPtr& each : call.arguments) at(each);
  }
};

}  // namespace

std::set<std::string> first_names(const ast::Expr& expr) {
  std::set<std::string> out;
  std::visit(Collector{out}, expr.node);
  return out;
}

}  // namespace cepd::reference
