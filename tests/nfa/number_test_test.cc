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
  OwnTallies tallies;
  const auto known = NumberTest(test_of(condition)).holds(*w.tested, w.bound, tallies, w.fields, w.scratch);
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
      const auto greatest = node(plan::Aggregate{plan::AggregateKind::kMax, {}, w.ref(Subject::kLast)});
      for (const BinaryOp each : kComparisons) {
        const auto tested = node(w.ref(Subject::kTested)), previous = node(w.ref(Subject::kPrevious));
        known += agreeing(w, op(tested, each, previous));
        known += agreeing(w, op(previous, each, tested));
        known += agreeing(w, op(tested, each, lit(b)));
        known += agreeing(w, op(lit(b), each, tested));
        known += agreeing(w, op(tested, each, greatest));
        known += agreeing(w, op(greatest, each, tested));
      }
    }
  }
  // Six numbers with each, six comparisons, six forms.
  CHECK(known == 6 * 6 * 6 * 6);
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
  const auto count = node(plan::Aggregate{});
  CHECK(known(over(op(count, BinaryOp::kMul, node(w.ref(Subject::kFirst))))));
  CHECK(!known(over(op(count, BinaryOp::kMul, tested))));
  CHECK(!known(over(op(count, BinaryOp::kMul, node(plan::KeyRef{})))));
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
  OwnTallies tallies;
  const auto known = [&](const EventPtr& event) { return test.holds(*event, w.bound, tallies, w.fields, w.scratch); };
  w.tested = w.event(Value::integer(2));
  CHECK(!known(w.tested));
  w.bind(0, Value::integer(1));
  CHECK(known(w.tested) == true);
  w.type = w.fields.add_type("u");
  CHECK(!known(w.event(Value::integer(2))));
  w.bind(0, Value::integer(1));
  CHECK(!known(w.tested));
}
