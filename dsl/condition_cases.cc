#include "dsl/condition_cases.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "dsl/plan_print.h"

namespace cepd::dsl::checking {
namespace {

using plan::BinaryOp;

/// Beyond that many a condition, a value or a relation is left out of account: bounds for rules that a program wrote.
constexpr std::size_t kMostCases = 64;
constexpr std::size_t kMostValues = 256;
constexpr std::size_t kMostRelations = 64;

constexpr unsigned kAnyOutcome = kTrue | kFalse | kUnknown;

/// Ways in which two values compare. Equal and Other are of kinds without an order, Unlike is also null.
enum Way : unsigned { kLess = 1, kSame = 2, kGreater = 4, kEqual = 8, kOther = 16, kUnlike = 32, kAnyWay = 63 };

constexpr std::array kComparisons{BinaryOp::kEq, BinaryOp::kNe, BinaryOp::kLt,
                                  BinaryOp::kLe, BinaryOp::kGt, BinaryOp::kGe};

bool is_comparison(BinaryOp op) {
  for (const BinaryOp each : kComparisons) {
    if (op == each) return true;
  }
  return false;
}

/// The ways in which `a op b` is true.
unsigned ways_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::kEq:
      return kSame | kEqual;
    case BinaryOp::kNe:
      return kLess | kGreater | kOther;
    case BinaryOp::kLt:
      return kLess;
    case BinaryOp::kLe:
      return kLess | kSame;
    case BinaryOp::kGt:
      return kGreater;
    default:
      return kGreater | kSame;
  }
}

/// Another comparison holds as well where two values compare in one of `ways`, and says more.
bool is_weaker(BinaryOp op, unsigned ways) {
  return std::any_of(kComparisons.begin(), kComparisons.end(), [&](BinaryOp other) {
    const unsigned its = ways_of(other);
    return (ways & ~its) == 0 && its != ways_of(op) && (its & ~ways_of(op)) == 0;
  });
}

unsigned turned(unsigned ways) {
  unsigned out = ways & ~(kLess | kGreater);
  if ((ways & kLess) != 0) out |= kGreater;
  if ((ways & kGreater) != 0) out |= kLess;
  return out;
}

unsigned negated(unsigned outcomes) {
  unsigned out = outcomes & kUnknown;
  if ((outcomes & kTrue) != 0) out |= kFalse;
  if ((outcomes & kFalse) != 0) out |= kTrue;
  return out;
}

plan::ExprPtr make(BinaryOp op, plan::ExprPtr left, plan::ExprPtr right) {
  return std::make_shared<const plan::Expr>(plan::Expr{plan::Binary{op, std::move(left), std::move(right)}});
}

plan::Constant constant(const Value& value) { return {value.kind(), {}, value}; }

std::optional<plan::Constant> arithmetic(BinaryOp op, const Value& a, const Value& b) {
  if (!a.is_number() || !b.is_number()) return std::nullopt;
  if (a.kind() == Kind::kInt && b.kind() == Kind::kInt) {
    std::int64_t out = 0;
    bool overflow = false;
    if (op == BinaryOp::kAdd) {
      overflow = __builtin_add_overflow(a.as_int(), b.as_int(), &out);
    } else if (op == BinaryOp::kSub) {
      overflow = __builtin_sub_overflow(a.as_int(), b.as_int(), &out);
    } else if (op == BinaryOp::kMul) {
      overflow = __builtin_mul_overflow(a.as_int(), b.as_int(), &out);
    } else {
      return std::nullopt;
    }
    return overflow ? std::nullopt : std::optional(constant(Value::integer(out)));
  }
  switch (op) {
    case BinaryOp::kAdd:
      return constant(Value::real(a.number() + b.number()));
    case BinaryOp::kSub:
      return constant(Value::real(a.number() - b.number()));
    case BinaryOp::kMul:
      return constant(Value::real(a.number() * b.number()));
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<plan::Constant> folded(const plan::Expr& expr) {
  if (const auto* literal = std::get_if<plan::Constant>(&expr.node)) return *literal;
  const auto* binary = std::get_if<plan::Binary>(&expr.node);
  if (binary == nullptr) return std::nullopt;
  const auto left = folded(*binary->left);
  const auto right = folded(*binary->right);
  return left && right ? arithmetic(binary->op, left->value(), right->value()) : std::nullopt;
}

void Cases::assume(const plan::Expr& condition, unsigned outcomes) {
  List next = apply(condition, outcomes, std::move(cases_));
  cases_.clear();
  for (Case& one : next) {
    if (settle(one)) cases_.push_back(std::move(one));
  }
}

Cases::List Cases::apply(const plan::Expr& condition, unsigned outcomes, List cases) const {
  if (outcomes == kAnyOutcome) return cases;
  if (outcomes == 0) return {};
  if (const auto* unary = std::get_if<plan::Unary>(&condition.node); unary && unary->op == plan::UnaryOp::kNot) {
    return apply(*unary->operand, negated(outcomes), std::move(cases));
  }
  if (const auto* binary = std::get_if<plan::Binary>(&condition.node)) {
    if (binary->op == BinaryOp::kAnd || binary->op == BinaryOp::kOr) {
      return junction(*binary, outcomes, std::move(cases));
    }
    if (is_comparison(binary->op)) return comparison(*binary, outcomes, std::move(cases));
  }
  if (const auto* node = std::get_if<plan::In>(&condition.node)) {
    return in(*node, node->negated ? negated(outcomes) : outcomes, std::move(cases));
  }
  if (const auto* node = std::get_if<plan::Between>(&condition.node)) {
    const plan::ExprPtr both = make(BinaryOp::kAnd, make(BinaryOp::kGe, node->operand, node->low),
                                    make(BinaryOp::kLe, node->operand, node->high));
    return apply(*both, node->negated ? negated(outcomes) : outcomes, std::move(cases));
  }
  if (const auto* node = std::get_if<plan::Matches>(&condition.node)) {
    return matches(*node, node->negated ? negated(outcomes) : outcomes, std::move(cases));
  }
  if (const auto* node = std::get_if<plan::IsNull>(&condition.node)) {
    const unsigned wanted = node->negated ? negated(outcomes) : outcomes;
    ValueSet to;
    if ((wanted & kTrue) != 0) to = to | ValueSet::null();
    if ((wanted & kFalse) != 0) to = to | ~ValueSet::null();
    return narrowed(*node->operand, to, std::move(cases));
  }
  return truth(condition, outcomes, std::move(cases));
}

/// AND; OR is the same turned round.
Cases::List Cases::junction(const plan::Binary& node, unsigned outcomes, List cases) const {
  const bool any = node.op == BinaryOp::kOr;
  const unsigned wanted = any ? negated(outcomes) : outcomes;
  const auto side = [&](const plan::ExprPtr& part, unsigned which, List list) {
    return apply(*part, any ? negated(which) : which, std::move(list));
  };
  if (wanted == kTrue || wanted == (kTrue | kUnknown)) {
    return side(node.right, wanted, side(node.left, wanted, std::move(cases)));
  }
  // Pairs of outcomes of the two sides that together hold every one that gives a wanted one; they may overlap, so that
  // a long chain is walked once and not once for each way.
  std::vector<std::pair<unsigned, unsigned>> ways;
  if (wanted == kFalse || wanted == (kFalse | kUnknown)) {
    ways = {{wanted, kAnyOutcome}, {kAnyOutcome, wanted}};
  } else {
    if ((wanted & kTrue) != 0) ways.emplace_back(kTrue, kTrue);
    if ((wanted & kFalse) != 0) ways.insert(ways.end(), {{kFalse, kAnyOutcome}, {kAnyOutcome, kFalse}});
    if ((wanted & kUnknown) != 0) ways.insert(ways.end(), {{kUnknown, kTrue | kUnknown}, {kTrue | kUnknown, kUnknown}});
  }
  List out;
  for (const auto& [left, right] : ways) {
    List some = side(node.right, right, side(node.left, left, cases));
    if (out.size() + some.size() > kMostCases) return cases;
    std::move(some.begin(), some.end(), std::back_inserter(out));
  }
  return out;
}

Cases::List Cases::comparison(const plan::Binary& node, unsigned outcomes, List cases) const {
  const auto left = folded(*node.left), right = folded(*node.right);
  if (left || right) {
    const BinaryOp op = right ? node.op : mirrored(node.op);
    const plan::Constant& literal = right ? *right : *left;
    const plan::Expr& value = right ? *node.left : *node.right;
    const ValueSet yes = ValueSet::where(op, literal);
    if (outcomes == kTrue) return narrowed(value, yes, std::move(cases));
    return split(value, yes, ValueSet::where(inverse(op), literal), outcomes, std::move(cases));
  }
  const unsigned yes = ways_of(node.op), no = ways_of(inverse(node.op));
  unsigned ways = 0;
  if ((outcomes & kTrue) != 0) ways |= yes;
  if ((outcomes & kFalse) != 0) ways |= no;
  if ((outcomes & kUnknown) != 0) ways |= kAnyWay & ~(yes | no);
  List out;
  for (Case& one : cases) {
    if (relate(one, *node.left, *node.right, ways)) out.push_back(std::move(one));
  }
  return out;
}

Cases::List Cases::in(const plan::In& node, unsigned outcomes, List cases) const {
  ValueSet yes, no = ValueSet::all();
  bool literals = true;
  for (const plan::ExprPtr& each : node.list) {
    const auto literal = folded(*each);
    literals &= literal.has_value();
    if (!literal) continue;
    yes = yes | ValueSet::where(BinaryOp::kEq, *literal);
    no = no & ValueSet::where(BinaryOp::kNe, *literal);
  }
  if (literals && !node.list.empty()) return split(*node.operand, yes, no, outcomes, std::move(cases));
  if (node.list.empty()) return (outcomes & kFalse) != 0 ? std::move(cases) : List{};
  if (node.list.size() > kMostCases) return cases;
  plan::ExprPtr any;
  for (const plan::ExprPtr& each : node.list) {
    plan::ExprPtr equal = make(BinaryOp::kEq, node.operand, each);
    any = any == nullptr ? equal : make(BinaryOp::kOr, any, equal);
  }
  return apply(*any, outcomes, std::move(cases));
}

/// A value that stands as a condition: true, false, and unknown for all others.
Cases::List Cases::truth(const plan::Expr& value, unsigned outcomes, List cases) const {
  return split(value, ValueSet::boolean(true), ValueSet::boolean(false), outcomes, std::move(cases));
}

Cases::List Cases::matches(const plan::Matches& node, unsigned outcomes, List cases) const {
  const ValueSet strings = ValueSet::of(Kind::kString);
  if (outcomes == kUnknown) return narrowed(*node.operand, ~strings, std::move(cases));
  if ((outcomes & kUnknown) == 0) cases = narrowed(*node.operand, strings, std::move(cases));
  plan::Matches positive = node;
  positive.negated = false;
  return truth(plan::Expr{std::move(positive)}, outcomes, std::move(cases));
}

Cases::List Cases::split(const plan::Expr& value, const ValueSet& yes, const ValueSet& no, unsigned outcomes,
                         List cases) const {
  if (outcomes == kTrue) return narrowed(value, yes, std::move(cases));
  if (outcomes == kFalse) return narrowed(value, no, std::move(cases));
  if (outcomes == (kFalse | kUnknown)) return narrowed(value, ~yes, std::move(cases));
  if (outcomes == (kTrue | kUnknown)) return narrowed(value, ~no, std::move(cases));
  if (outcomes == kAnyOutcome) return cases;
  const ValueSet known = yes | no;
  return narrowed(value, outcomes == kUnknown ? ~known : known, std::move(cases));
}

Cases::List Cases::narrowed(const plan::Expr& value, const ValueSet& to, List cases) const {
  if (const auto literal = folded(value)) {
    return (ValueSet::point(*literal) & to).empty() ? List{} : std::move(cases);
  }
  List out;
  for (Case& one : cases) {
    if (narrow(one, value, to)) out.push_back(std::move(one));
  }
  return out;
}

bool Cases::narrow(Case& one, const plan::Expr& value, const ValueSet& to) const {
  const std::string text = print(value);
  if (one.values.count(text) == 0) {
    if (one.values.size() == kMostValues) return true;
    const Domain domain = domains_(value);
    one.values.emplace(text, std::pair(domain.values, domain.ints));
  }
  return narrow(one, text, to);
}

bool Cases::narrow(Case& one, const std::string& text, const ValueSet& to) {
  auto& [values, ints] = one.values.at(text);
  values = values & to;
  if (ints) values = values.of_ints();
  return !values.empty();
}

bool Cases::carry(Case& one, const std::string& from, BinaryOp op, const std::string& to, bool& changed) {
  auto& [values, ints] = one.values.at(to);
  ValueSet left = values & ValueSet::where(op, one.values.at(from).first);
  if (ints) left = left.of_ints();
  if (!(left == values)) {
    changed = true;
    values = std::move(left);
  }
  return !values.empty();
}

bool Cases::relate(Case& one, const plan::Expr& a, const plan::Expr& b, unsigned ways) const {
  if (!narrow(one, a, ValueSet::all()) || !narrow(one, b, ValueSet::all())) return false;
  const std::string left = print(a), right = print(b);
  if (left == right) {
    // A value compares with itself: equal, or null.
    const ValueSet ordered = ValueSet::where(BinaryOp::kLe, ValueSet::all());
    ValueSet to;
    if ((ways & kSame) != 0) to = to | ordered;
    if ((ways & kEqual) != 0) to = to | ~(ordered | ValueSet::null());
    if ((ways & kUnlike) != 0) to = to | ValueSet::null();
    return narrow(one, left, to);
  }
  if (one.values.count(left) == 0 || one.values.count(right) == 0) return true;  // left out of account
  const bool turn = right < left;
  const auto pair = turn ? std::pair(right, left) : std::pair(left, right);
  if (one.relations.size() == kMostRelations && one.relations.count(pair) == 0) return true;
  unsigned& left_over = one.relations.emplace(pair, kAnyWay).first->second;
  left_over &= turn ? turned(ways) : ways;
  return left_over != 0;
}

/// Carries what the relations say over to the values. False when nothing is left.
bool Cases::settle(Case& one) {
  constexpr int kRounds = 4;
  bool changed = true;
  for (int round = 0; round < kRounds && changed; ++round) {
    changed = false;
    for (const auto& [pair, ways] : one.relations) {
      for (const BinaryOp op : kComparisons) {
        if ((ways & ~ways_of(op)) != 0 || is_weaker(op, ways)) continue;
        if (!carry(one, pair.second, op, pair.first, changed)) return false;
        if (!carry(one, pair.first, mirrored(op), pair.second, changed)) return false;
      }
    }
  }
  return true;
}

}  // namespace cepd::dsl::checking
