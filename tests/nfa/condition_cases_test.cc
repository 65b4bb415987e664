/// dsl/condition_cases.h against the evaluator: what it calls impossible must never happen.

#include "dsl/condition_cases.h"

#include <doctest/doctest.h>

#include <random>

#include "dsl/plan_print.h"
#include "tests/nfa/expr_builder.h"

using namespace cepd;
using namespace cepd::nfa::testing;
using dsl::checking::Cases;
using dsl::checking::kFalse;
using dsl::checking::kTrue;
using dsl::checking::kUnknown;
using plan::BinaryOp;

namespace {

/// The values that the fields and the conditions' constants take: all kinds, neighbours, and both zeros of a line.
const std::vector<Value>& values() {
  static const std::vector<Value> all{Value::null(),
                                      Value::boolean(true),
                                      Value::boolean(false),
                                      Value::integer(1),
                                      Value::integer(2),
                                      Value::real(2.0),
                                      Value::real(1.5),
                                      Value::integer(3),
                                      Value::string("a"),
                                      Value::string("ab"),
                                      Value::string("b"),
                                      ts(5),
                                      ts(7),
                                      dur(5),
                                      dur(7),
                                      Value::json("[1]"),
                                      Value::json("[2]")};
  return all;
}

class Conditions {
 public:
  Conditions(World& world, unsigned seed) : world_(world), random_(seed) {}

  plan::ExprPtr condition(int depth) {
    switch (pick(depth == 0 ? 6 : 10)) {
      case 0:
        return op(field(), comparison(), operand());
      case 1:
        return op(operand(), comparison(), field());
      case 2:
        return node(plan::IsNull{field(), flip()});
      case 3:
        return node(plan::In{field(), {operand(), operand()}, flip()});
      case 4:
        return node(plan::Between{field(), operand(), operand(), flip()});
      case 5:
        return flip() ? field() : op(field(), comparison(), operand());
      case 6:
        return negation(condition(depth - 1));
      case 7:
      case 8:
        return op(condition(depth - 1), BinaryOp::kAnd, condition(depth - 1));
      default:
        return op(condition(depth - 1), BinaryOp::kOr, condition(depth - 1));
    }
  }

 private:
  std::size_t pick(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  bool flip() { return pick(2) == 0; }
  plan::ExprPtr field() {
    plan::FieldRef ref = world_.ref(plan::Subject::kTested);
    if (flip()) {
      ref.path = FieldPath::of("y");
      ref.slots = {{world_.type, world_.y}};
    }
    return node(std::move(ref));
  }
  plan::ExprPtr operand() {
    if (pick(4) == 0) return field();
    const Value& v = values()[pick(values().size() - 2)];  // there are no JSON literals
    return v.kind() == Kind::kInt && flip() ? op(lit(v), BinaryOp::kAdd, lit(1)) : lit(v);
  }
  BinaryOp comparison() {
    constexpr BinaryOp kAll[] = {BinaryOp::kEq, BinaryOp::kNe, BinaryOp::kLt,
                                 BinaryOp::kLe, BinaryOp::kGt, BinaryOp::kGe};
    return kAll[pick(6)];
  }

  World& world_;
  std::mt19937 random_;
};

unsigned outcome(const Value& v) {
  if (v.kind() != Kind::kBool) return kUnknown;
  return v.as_bool() ? kTrue : kFalse;
}

}  // namespace

TEST_CASE("condition cases: what is called impossible never happens") {
  World world;
  std::size_t impossible = 0, missed = 0;
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    CAPTURE(seed);
    Conditions random(world, seed);
    const plan::ExprPtr a = random.condition(2), b = random.condition(1);
    // Which pairs of outcomes there are, over all values of the two fields.
    bool seen[8][8] = {};
    for (const Value& x : values()) {
      for (const Value& y : values()) {
        world.tested = world.event(x, y);
        seen[outcome(world.eval(a))][outcome(world.eval(b))] = true;
      }
    }
    for (unsigned first = 1; first < 8; ++first) {
      for (unsigned second = 1; second < 8; ++second) {
        bool happens = false;
        for (const unsigned one : {kTrue, kFalse, kUnknown}) {
          for (const unsigned other : {kTrue, kFalse, kUnknown}) {
            happens |= (first & one) != 0 && (second & other) != 0 && seen[one][other];
          }
        }
        Cases cases([](const plan::Expr&) { return Cases::Domain{}; });
        cases.assume(*a, first);
        cases.assume(*b, second);
        if (!cases.possible()) ++impossible;
        if (cases.possible() && !happens) ++missed;
        if (!cases.possible() && happens) {
          FAIL_CHECK(dsl::print(*a) << " gives " << first << ", " << dsl::print(*b) << " gives " << second);
        }
      }
    }
  }
  // It is worth its while only if it finds most of them.
  CHECK(impossible > 4 * missed);
}
