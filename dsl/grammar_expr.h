#pragma once
/// Conditions and values (language.md section 4). Only for grammar.cc.

#include <cmath>

#include "dsl/bounds.h"
#include "dsl/grammar_name.h"

namespace cepd::dsl::syntax {

/// Most operators on the way from an expression to a leaf. Chains of one operator count, too: trees are walked by
/// recursion.
inline constexpr unsigned kMaxDepth = 1000;

/// An expression under construction.
struct Draft {
  ast::Expr expr;
  unsigned depth = 0;
};

inline ast::ExprPtr finish(Draft&& draft) { return std::make_shared<const ast::Expr>(std::move(draft.expr)); }

/// False when the tree would get too deep.
inline bool deepen(Draft& draft, unsigned depth, Progress& progress) {
  draft.depth = std::max(draft.depth, depth) + 1;
  if (draft.depth <= kMaxDepth) return true;
  progress.error(draft.expr.where, "this expression is too long: more than " + std::to_string(kMaxDepth) + " operators",
                 "put parts of it in parentheses, or use IN");
  progress.refuse();
  return false;
}

/// An operator and what stands right of it.
struct Tail {
  ast::BinaryOp op{};
  Draft right;
};

/// IN, BETWEEN, MATCHES or IS NULL, and what stands right of it.
struct Test {
  enum class Kind : std::uint8_t { kIn, kBetween, kMatches, kIsNull } kind{};
  bool negated = false;
  std::vector<Draft> arguments;
  ast::Location where;
};

// ---- actions ----

constexpr auto set_expr = [](auto& context) { x3::_val(context).expr.node = std::move(x3::_attr(context)); };

constexpr auto add_argument = [](auto& context) {
  Draft& draft = x3::_val(context);
  Draft& argument = x3::_attr(context);
  draft.depth = std::max(draft.depth, argument.depth);
  std::get<ast::Call>(draft.expr.node).arguments.push_back(finish(std::move(argument)));
};

constexpr auto set_function = [](auto& context) {
  x3::_val(context).expr.node = ast::Call{std::move(x3::_attr(context)), {}};
};

constexpr auto combine = [](auto& context) {
  Draft& left = x3::_val(context);
  Tail& tail = x3::_attr(context);
  const ast::Location where{left.expr.where.begin, tail.right.expr.where.end};
  const unsigned depth = tail.right.depth;
  ast::Binary node{tail.op, finish(std::move(left)), finish(std::move(tail.right))};
  left.expr = ast::Expr{std::move(node), where};
  x3::_pass(context) = deepen(left, depth, progress_of(context));
};

template <ast::UnaryOp Op>
constexpr auto prefix = [](auto& context) {
  Draft& draft = x3::_val(context);
  Draft& operand = x3::_attr(context);
  if constexpr (Op == ast::UnaryOp::kNegate) {
    // A number keeps its sign, so that printing and reading give the same tree.
    if (auto* const number = std::get_if<ast::Literal>(&operand.expr.node)) {
      if (const auto* i = std::get_if<std::int64_t>(&number->value); i != nullptr && *i >= 0) {
        draft.expr.node = ast::Literal{-*i};
        return;
      }
      if (const auto* d = std::get_if<double>(&number->value); d != nullptr && !std::signbit(*d)) {
        draft.expr.node = ast::Literal{-*d};
        return;
      }
    }
  }
  draft.depth = operand.depth;
  draft.expr.where = operand.expr.where;
  draft.expr.node = ast::Unary{Op, finish(std::move(operand))};
  x3::_pass(context) = deepen(draft, draft.depth, progress_of(context));
};

inline ast::Expr apply(Test&& test, ast::ExprPtr operand, ast::Location where) {
  std::vector<ast::ExprPtr> arguments;
  for (Draft& argument : test.arguments) arguments.push_back(finish(std::move(argument)));
  switch (test.kind) {
    case Test::Kind::kIn:
      return {ast::In{std::move(operand), std::move(arguments), test.negated}, where};
    case Test::Kind::kBetween:
      return {ast::Between{std::move(operand), arguments[0], arguments[1], test.negated}, where};
    case Test::Kind::kMatches:
      return {ast::Matches{std::move(operand), arguments[0], test.negated}, where};
    case Test::Kind::kIsNull:
      break;
  }
  return {ast::IsNull{std::move(operand), test.negated}, where};
}

constexpr auto apply_test = [](auto& context) {
  Draft& draft = x3::_val(context);
  Test& test = x3::_attr(context);
  if (test.arguments.size() > kMaxInValues) {
    Progress& progress = progress_of(context);
    progress.error(draft.expr.where, "IN has at most " + std::to_string(kMaxInValues) + " values");
    progress.refuse();
  }
  unsigned depth = 0;
  for (const Draft& argument : test.arguments) depth = std::max(depth, argument.depth);
  const ast::Location where{draft.expr.where.begin, test.where.end};
  draft.expr = apply(std::move(test), finish(std::move(draft)), where);
  x3::_pass(context) = deepen(draft, depth, progress_of(context));
};

/// Sets a part of the tree to the expression.
template <auto Member>
constexpr auto set_condition = [](auto& context) { x3::_val(context).*Member = finish(std::move(x3::_attr(context))); };

// ---- operators ----

template <ast::BinaryOp Op>
constexpr auto set_op = [](auto& context) { x3::_val(context).op = Op; };

template <ast::BinaryOp Op>
constexpr auto operator_symbol(Symbol s, std::string_view text) {
  return symbol(s, text, Show::kHidden)[set_op<Op>];
}

// ---- grammar, tightest first ----

const x3::rule<struct ExprId, Draft> expr = "expression";

const x3::rule<struct PrimaryId, Draft> primary = "primary";
const auto primary_def = located_at(
    [](Draft& draft) -> ast::Location& { return draft.expr.where; },
    named("a value", literal[set_expr] | constant_ref[set_expr] | (open_paren >> expr[take] >> close_paren) |
                         (function_name[set_function] >> open_paren >> -(expr[add_argument] % comma) >> close_paren) |
                         path[set_expr]));

const x3::rule<struct SignedId, Draft> signed_value = "signed value";
const auto signed_value_def = located_at(
    [](Draft& draft) -> ast::Location& { return draft.expr.where; },
    (minus_sign >> (negative_number[set_expr] | signed_value[prefix<ast::UnaryOp::kNegate>])) | primary[take]);

const x3::rule<struct ProductTailId, Tail> product_tail = "product tail";
const auto product_tail_def = (operator_symbol<ast::BinaryOp::kMul>(Symbol::kStar, "*") |
                               operator_symbol<ast::BinaryOp::kDiv>(Symbol::kSlash, "/") |
                               operator_symbol<ast::BinaryOp::kMod>(Symbol::kPercent, "%")) >>
                              signed_value[set<&Tail::right>];

const x3::rule<struct ProductId, Draft> product = "product";
const auto product_def = signed_value[take] >> *product_tail[combine];

const x3::rule<struct SumTailId, Tail> sum_tail = "sum tail";
const auto sum_tail_def = (operator_symbol<ast::BinaryOp::kAdd>(Symbol::kPlus, "+") |
                           operator_symbol<ast::BinaryOp::kSub>(Symbol::kMinus, "-")) >>
                          product[set<&Tail::right>];

const x3::rule<struct SumId, Draft> sum = "sum";
const auto sum_def = product[take] >> *sum_tail[combine];

const x3::rule<struct CompareTailId, Tail> compare_tail = "comparison tail";
const auto compare_tail_def =
    (operator_symbol<ast::BinaryOp::kEq>(Symbol::kEq, "=") | operator_symbol<ast::BinaryOp::kNe>(Symbol::kNe, "!=") |
     operator_symbol<ast::BinaryOp::kLt>(Symbol::kLt, "<") | operator_symbol<ast::BinaryOp::kLe>(Symbol::kLe, "<=") |
     operator_symbol<ast::BinaryOp::kGt>(Symbol::kGt, ">") | operator_symbol<ast::BinaryOp::kGe>(Symbol::kGe, ">=")) >>
    sum[set<&Tail::right>];

/// MATCHES takes a text that is known when the rule is loaded.
const x3::rule<struct RegexId, Draft> regex = "regular expression";
const auto regex_def = located_at([](Draft& draft) -> ast::Location& { return draft.expr.where; },
                                  named("a string, or a constant,", string_literal[([](auto& context) {
                                                                      x3::_val(context).expr.node =
                                                                          ast::Literal{std::move(x3::_attr(context))};
                                                                    })] |
                                                                        constant_ref[set_expr]));

const x3::rule<struct TestTailId, Test> test_tail = "test tail";
const auto test_tail_def = located((word(Keyword::kIs, Show::kHidden)[put<&Test::kind, Test::Kind::kIsNull>] >>
                                    -word(Keyword::kNot)[put<&Test::negated, true>] >> word(Keyword::kNull)) |
                                   (-word(Keyword::kNot, Show::kHidden)[put<&Test::negated, true>] >>
                                    ((word(Keyword::kIn, Show::kHidden)[put<&Test::kind, Test::Kind::kIn>] >>
                                      open_paren >> (expr[add<&Test::arguments>] % comma) >> close_paren) |
                                     (word(Keyword::kBetween, Show::kHidden)[put<&Test::kind, Test::Kind::kBetween>] >>
                                      sum[add<&Test::arguments>] >> word(Keyword::kAnd) >> sum[add<&Test::arguments>]) |
                                     (word(Keyword::kMatches, Show::kHidden)[put<&Test::kind, Test::Kind::kMatches>] >>
                                      regex[add<&Test::arguments>]))));

const x3::rule<struct ComparisonId, Draft> comparison = "comparison";
const auto comparison_def = sum[take] >> -(compare_tail[combine] | test_tail[apply_test]);

const x3::rule<struct NegationId, Draft> negation = "negation";
const auto negation_def =
    located_at([](Draft& draft) -> ast::Location& { return draft.expr.where; },
               (word(Keyword::kNot, Show::kHidden) >> negation[prefix<ast::UnaryOp::kNot>]) | comparison[take]);

const x3::rule<struct AndTailId, Tail> and_tail = "AND tail";
const auto and_tail_def =
    word(Keyword::kAnd, Show::kHidden)[set_op<ast::BinaryOp::kAnd>] >> negation[set<&Tail::right>];

const x3::rule<struct ConjunctionId, Draft> conjunction = "conjunction";
const auto conjunction_def = negation[take] >> *and_tail[combine];

const x3::rule<struct OrTailId, Tail> or_tail = "OR tail";
const auto or_tail_def =
    word(Keyword::kOr, Show::kHidden)[set_op<ast::BinaryOp::kOr>] >> conjunction[set<&Tail::right>];

const auto expr_def = named("a condition or value", conjunction[take] >> *or_tail[combine]);

BOOST_SPIRIT_DEFINE(expr, primary, signed_value, product_tail, product, sum_tail, sum, compare_tail, regex, test_tail,
                    comparison, negation, and_tail, conjunction, or_tail)

}  // namespace cepd::dsl::syntax
