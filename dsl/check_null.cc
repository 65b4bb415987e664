#include "dsl/check_null.h"

namespace cepd::dsl::checking {
namespace {

/// A set of outcomes: three-valued logic, with all values that are no bools as one.
class Outcomes {
 public:
  constexpr explicit Outcomes(unsigned bits) : bits_(bits) {}
  constexpr bool may(Outcomes other) const { return (bits_ & other.bits_) != 0; }
  constexpr bool only(Outcomes other) const { return (bits_ & ~other.bits_) == 0; }
  constexpr Outcomes operator|(Outcomes other) const { return Outcomes(bits_ | other.bits_); }
  constexpr Outcomes operator&(Outcomes other) const { return Outcomes(bits_ & other.bits_); }

 private:
  unsigned bits_;
};
constexpr Outcomes kNone(0), kTrue(1), kFalse(2), kNull(4), kOther(8);
constexpr Outcomes kValue = kTrue | kFalse | kOther;
constexpr Outcomes kAny = kValue | kNull;
constexpr Outcomes kLogic = kTrue | kFalse | kNull;

Outcomes negation(Outcomes a) {
  Outcomes out = kNone;
  if (a.may(kTrue)) out = out | kFalse;
  if (a.may(kFalse)) out = out | kTrue;
  if (a.may(kNull | kOther)) out = out | kNull;
  return out;
}

Outcomes conjunction(Outcomes a, Outcomes b) {
  Outcomes out = kNone;
  if (a.may(kTrue) && b.may(kTrue)) out = out | kTrue;
  if (a.may(kFalse) || b.may(kFalse)) out = out | kFalse;
  constexpr Outcomes kUnknown = kNull | kOther;
  if ((a.may(kUnknown) && b.may(kUnknown | kTrue)) || (b.may(kUnknown) && a.may(kTrue))) out = out | kNull;
  return out;
}

Outcomes disjunction(Outcomes a, Outcomes b) { return negation(conjunction(negation(a), negation(b))); }

Outcomes comparison(Outcomes a, Outcomes b) { return a.only(kNull) || b.only(kNull) ? kNull : kLogic; }

class Evaluation {
 public:
  explicit Evaluation(const NothingYet& nothing) : nothing_(nothing) {}

  Outcomes of(const plan::Expr& expr) const {
    return std::visit([this](const auto& node) { return this->visit(node); }, expr.node);
  }

 private:
  static Outcomes visit(const plan::Constant& constant) {
    if (constant.kind == Kind::kNull) return kNull;
    if (constant.kind == Kind::kBool) return constant.scalar.is_true() ? kTrue : kFalse;
    return kOther;
  }
  Outcomes visit(const plan::FieldRef& ref) const {
    if (ref.subject == plan::Subject::kTested) return kAny;
    if (ref.subject == plan::Subject::kPrevious) return nothing_.previous ? kNull : kAny;
    return ref.element == nothing_.own ? kNull : kAny;
  }
  static Outcomes visit(const plan::KeyRef&) { return kValue; }
  static Outcomes visit(const plan::EmitRef&) { return kAny; }
  Outcomes visit(const plan::Aggregate& aggregate) const {
    if (aggregate.kind == plan::AggregateKind::kCount) return kOther;
    return aggregate.element == nothing_.own ? kNull : kAny;
  }
  Outcomes visit(const plan::Unary& node) const {
    const Outcomes operand = of(*node.operand);
    if (node.op == plan::UnaryOp::kNot) return negation(operand);
    return operand.only(kNull) ? kNull : kOther | kNull;
  }
  Outcomes visit(const plan::Binary& node) const {
    const Outcomes left = of(*node.left);
    const Outcomes right = of(*node.right);
    switch (node.op) {
      case plan::BinaryOp::kOr:
        return disjunction(left, right);
      case plan::BinaryOp::kAnd:
        return conjunction(left, right);
      case plan::BinaryOp::kAdd:
      case plan::BinaryOp::kSub:
      case plan::BinaryOp::kMul:
      case plan::BinaryOp::kDiv:
      case plan::BinaryOp::kMod:
        return left.only(kNull) || right.only(kNull) ? kNull : kOther | kNull;
      default:
        return comparison(left, right);
    }
  }
  Outcomes visit(const plan::In& node) const {
    const Outcomes operand = of(*node.operand);
    Outcomes out = kFalse;
    for (const plan::ExprPtr& each : node.list) out = disjunction(out, comparison(operand, of(*each)));
    return node.negated ? negation(out) : out;
  }
  Outcomes visit(const plan::Between& node) const {
    const Outcomes operand = of(*node.operand);
    const Outcomes out = conjunction(comparison(operand, of(*node.low)), comparison(operand, of(*node.high)));
    return node.negated ? negation(out) : out;
  }
  Outcomes visit(const plan::Matches& node) const { return of(*node.operand).only(kNull) ? kNull : kLogic; }
  Outcomes visit(const plan::IsNull& node) const {
    const Outcomes operand = of(*node.operand);
    Outcomes out = kNone;
    if (operand.may(kNull)) out = out | kTrue;
    if (operand.may(kValue)) out = out | kFalse;
    return node.negated ? negation(out) : out;
  }
  Outcomes visit(const plan::FunctionCall& node) const {
    using plan::Function;
    switch (node.function) {
      case Function::kIf: {
        const Outcomes condition = of(*node.arguments[0]);
        Outcomes out = kNone;
        if (condition.may(kTrue)) out = out | of(*node.arguments[1]);
        if (!condition.only(kTrue)) out = out | of(*node.arguments[2]);
        return out;
      }
      case Function::kCoalesce: {
        Outcomes out = kNone;
        for (const plan::ExprPtr& each : node.arguments) {
          const Outcomes value = of(*each);
          out = out | (value & kValue);
          if (!value.may(kNull)) return out;
        }
        return out | kNull;
      }
      case Function::kLeast:
      case Function::kGreatest: {
        bool all_null = true;
        for (const plan::ExprPtr& each : node.arguments) all_null &= of(*each).only(kNull);
        return all_null ? kNull : kAny;
      }
      case Function::kConcat:
        return kAny;
      default:
        for (const plan::ExprPtr& each : node.arguments) {
          if (of(*each).only(kNull)) return kNull;
        }
        return kAny;
    }
  }
  static Outcomes visit(const plan::Template&) { return kOther; }

  const NothingYet& nothing_;
};

}  // namespace

bool can_be_true(const plan::Expr& condition, const NothingYet& nothing) {
  return Evaluation(nothing).of(condition).may(kTrue);
}

}  // namespace cepd::dsl::checking
