#include "nfa/number_test.h"

#include <doctest/doctest.h>

#include "tests/nfa/expr_builder.h"

using namespace cepd;
using namespace cepd::nfa;
using namespace cepd::nfa::testing;
using plan::BinaryOp;
using plan::Subject;

namespace {

constexpr BinaryOp kComparisons[] = {BinaryOp::kEq, BinaryOp::kNe, BinaryOp::kLt,
                                     BinaryOp::kLe, BinaryOp::kGt, BinaryOp::kGe};

const std::vector<Value>& values() {
  static const std::vector<Value> all{
      Value::null(),  Value::integer(-1), Value::integer(2),  Value::real(2), Value::real(-0.0),
      Value::real(0), Value::real(2.5),   Value::string("2"), ts(2),          Value::boolean(true),
      dur(2)};
  return all;
}

plan::EventTest test_of(plan::ExprPtr condition) {
  plan::EventTest test;
  test.conditions = {std::move(condition)};
  return test;
}

/// Whatever it knows is what the condition says, without errors. Returns how often it knew it.
int agreeing(World& w, const plan::ExprPtr& condition) {
  const auto known = NumberTest(test_of(condition)).holds(*w.tested, w.bound);
  const bool holds = nfa::holds({&condition, 1}, w.scope(), w.scratch, w.errors);
  const std::uint64_t errors = w.counted();
  if (!known) return 0;
  CHECK(*known == holds);
  CHECK(errors == 0);
  return 1;
}

}  // namespace

TEST_CASE("number test: what it knows is what the condition says") {
  World w;
  int known = 0;
  for (const Value& a : values()) {
    w.tested = w.event(a);
    for (const Value& b : values()) {
      w.bound.clear();
      w.bind(0, b);
      for (const BinaryOp each : kComparisons) {
        const auto tested = node(w.ref(Subject::kTested)), previous = node(w.ref(Subject::kPrevious));
        known += agreeing(w, op(tested, each, previous));
        known += agreeing(w, op(previous, each, tested));
        known += agreeing(w, op(tested, each, lit(b)));
        known += agreeing(w, op(lit(b), each, tested));
      }
    }
  }
  // Two ints and four doubles with their own kind, six comparisons, four forms.
  CHECK(known == (2 * 2 + 4 * 4) * 6 * 4);
}

TEST_CASE("number test: what is no single comparison of the event is left to the evaluation") {
  World w;
  const auto tested = node(w.ref(Subject::kTested));
  const auto known = [](const plan::EventTest& test) { return static_cast<bool>(NumberTest(test)); };
  const auto over = [&](const plan::ExprPtr& side) { return test_of(op(tested, BinaryOp::kGt, side)); };
  CHECK(known(over(lit(1))));
  CHECK(!known(plan::EventTest()));
  CHECK(!known(over(node(w.ref(Subject::kFirst)))));
  CHECK(!known(over(tested)));
  CHECK(!known(test_of(op(lit(1), BinaryOp::kGt, lit(0)))));
  CHECK(!known(test_of(op(tested, BinaryOp::kAdd, lit(0)))));
  plan::EventTest two = over(lit(1));
  two.conditions.edit().push_back(lit(true));
  CHECK(!known(two));
  // A field of any type.
  plan::FieldRef any = w.ref(Subject::kTested);
  any.slots = {{kOtherType, w.x}, {w.type, w.x}};
  CHECK(!known(test_of(op(node(any), BinaryOp::kGt, lit(1)))));
}

TEST_CASE("number test: events of other types, and none before, are left to the evaluation") {
  World w;
  const auto condition = op(node(w.ref(Subject::kTested)), BinaryOp::kGt, node(w.ref(Subject::kPrevious)));
  const NumberTest test(test_of(condition));
  w.tested = w.event(Value::integer(2));
  CHECK(!test.holds(*w.tested, {}));
  w.bind(0, Value::integer(1));
  CHECK(test.holds(*w.tested, w.bound) == true);
  w.type = w.fields.add_type("u");
  CHECK(!test.holds(*w.event(Value::integer(2)), w.bound));
  w.bind(0, Value::integer(1));
  CHECK(!test.holds(*w.tested, w.bound));
}
