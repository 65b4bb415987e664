#include "nfa/eval.h"

#include <doctest/doctest.h>
#include <re2/re2.h>

#include <limits>

#include "tests/nfa/expr_builder.h"

using namespace cepd;
using namespace cepd::nfa;
using namespace cepd::nfa::testing;
using plan::BinaryOp;
using plan::Subject;

TEST_CASE("eval: fields of the tested, previous, first, last and n-th event") {
  World w;
  CHECK(w.text(node(w.ref(Subject::kTested))) == "null");  // as in HAVING
  CHECK(w.text(node(w.ref(Subject::kPrevious))) == "null");
  w.bind(0, Value::integer(1));
  w.bind(1, Value::integer(2));
  w.bind(0, Value::integer(3));
  w.bind(0, Value::integer(4));
  w.bind(1, Value::integer(5));
  w.tested = w.event(Value::integer(9));
  CHECK(w.text(node(w.ref(Subject::kTested))) == "int 9");
  CHECK(w.text(node(w.ref(Subject::kPrevious))) == "int 5");
  CHECK(w.text(node(w.ref(Subject::kFirst, 1))) == "int 2");
  CHECK(w.text(node(w.ref(Subject::kLast, 0))) == "int 4");
  CHECK(w.text(node(w.ref(Subject::kIndex, 0, 0))) == "int 1");
  CHECK(w.text(node(w.ref(Subject::kIndex, 0, 2))) == "int 4");
  CHECK(w.text(node(w.ref(Subject::kIndex, 0, 3))) == "null");
  CHECK(w.text(node(w.ref(Subject::kIndex, 0, -1))) == "int 4");
  CHECK(w.text(node(w.ref(Subject::kIndex, 0, -3))) == "int 1");
  CHECK(w.text(node(w.ref(Subject::kIndex, 0, -4))) == "null");
  CHECK(w.text(node(w.ref(Subject::kIndex, 0, std::numeric_limits<std::int64_t>::min()))) == "null");
  CHECK(w.text(node(w.ref(Subject::kLast, 7))) == "null");
  CHECK(w.counted() == 0);
}

TEST_CASE("eval: a field's slot depends on the event's type") {
  World w;
  const TypeId other = w.fields.add_type("u");
  plan::FieldRef r = w.ref(Subject::kTested);
  EventDraft e;
  e.type = other;
  e.fields = {Value::integer(1), Value::integer(2)};
  CHECK(show(read_property(r, *e.build(), w.fields)) == "null");
  r.slots = {{w.type, 0}, {other, 1}};
  CHECK(show(read_property(r, *e.build(), w.fields)) == "int 2");
  r.slots = {{kOtherType, 0}, {w.type, 1}};  // all types that are not in the list
  CHECK(show(read_property(r, *e.build(), w.fields)) == "int 1");
  e.type = kOtherType;
  CHECK(show(read_property(r, *e.build(), w.fields)) == "int 1");
  e.fields.clear();
  CHECK(show(read_property(r, *e.build(), w.fields)) == "null");
}

TEST_CASE("eval: ts and type are fields of every event") {
  World w;
  w.tested = w.event({}, {}, 1'500'000);
  plan::FieldRef r = w.ref(Subject::kTested);
  r.property = plan::Property::kTime;
  CHECK(w.text(node(r)) == "timestamp 1970-01-01T00:00:01.500Z");
  r.property = plan::Property::kType;
  CHECK(w.text(node(r)) == "string t");
  EventDraft unnamed;
  unnamed.other_type = "door/open";
  CHECK(show(read_property(r, *unnamed.build(), w.fields)) == "string door/open");
}

TEST_CASE("eval: keys, emitted items and templates") {
  World w;
  w.key = {Value::integer(7)};
  w.emit = {{"amount", Value::real(2.5)}};
  CHECK(w.text(node(plan::KeyRef{0})) == "int 7");
  CHECK(w.text(node(plan::EmitRef{0})) == "double 2.5");
  plan::Template t;
  t.parts = {std::string("user "), node(plan::KeyRef{0}), std::string(" paid "), node(plan::EmitRef{0})};
  CHECK(w.text(node(t)) == "string user 7 paid 2.5");
}

TEST_CASE("eval: logic is three-valued") {
  World w;
  const plan::ExprPtr t = lit(true), f = lit(false), u = null();
  const auto both = [&](BinaryOp o) {
    std::string out;
    for (const auto& a : {t, f, u}) {
      for (const auto& b : {t, f, u}) {
        const Value v = w.eval(op(a, o, b));
        out += v.is_null() ? 'u' : v.as_bool() ? 't' : 'f';
      }
    }
    return out;
  };
  CHECK(both(BinaryOp::kAnd) == "tfufffufu");
  CHECK(both(BinaryOp::kOr) == "ttttfutuu");
  CHECK(w.text(negation(t)) == "bool false");
  CHECK(w.text(negation(f)) == "bool true");
  CHECK(w.text(negation(u)) == "null");
  CHECK(w.counted() == 0);
  // What is no bool is unknown and counted.
  CHECK(w.text(op(lit(1), BinaryOp::kAnd, t)) == "null");
  CHECK(w.text(negation(lit("x"))) == "null");
  CHECK(w.counted() == 2);
  // A decided left side leaves the right one alone.
  CHECK(w.text(op(f, BinaryOp::kAnd, lit(1))) == "bool false");
  CHECK(w.text(op(t, BinaryOp::kOr, lit(1))) == "bool true");
  CHECK(w.counted() == 0);
}

TEST_CASE("eval: comparison") {
  World w;
  const auto cmp = [&](const Value& a, BinaryOp o, const Value& b) { return w.text(op(lit(a), o, lit(b))); };
  CHECK(cmp(Value::integer(1), BinaryOp::kEq, Value::real(1.0)) == "bool true");
  CHECK(cmp(Value::integer(9007199254740993), BinaryOp::kEq, Value::real(9007199254740992.0)) == "bool false");
  CHECK(cmp(Value::integer(9007199254740993), BinaryOp::kGt, Value::real(9007199254740992.0)) == "bool true");
  CHECK(cmp(Value::string("Z"), BinaryOp::kLt, Value::string("a")) == "bool true");
  CHECK(cmp(Value::string("\xC3\xA9"), BinaryOp::kGt, Value::string("z")) == "bool true");
  CHECK(cmp(ts(5), BinaryOp::kLe, ts(5)) == "bool true");
  CHECK(cmp(dur(5), BinaryOp::kGe, dur(6)) == "bool false");
  CHECK(cmp(Value::boolean(true), BinaryOp::kNe, Value::boolean(false)) == "bool true");
  CHECK(cmp(Value::json("[1]"), BinaryOp::kEq, Value::json("[1]")) == "bool true");
  CHECK(cmp(Value::null(), BinaryOp::kEq, Value::null()) == "null");
  CHECK(cmp(Value::null(), BinaryOp::kNe, Value::integer(1)) == "null");
  CHECK(w.counted() == 0);

  CHECK(cmp(Value::integer(1), BinaryOp::kEq, Value::string("1")) == "null");
  CHECK(cmp(Value::integer(1), BinaryOp::kNe, Value::string("1")) == "null");
  CHECK(cmp(ts(5), BinaryOp::kLt, Value::integer(6)) == "null");
  CHECK(cmp(Value::boolean(false), BinaryOp::kLt, Value::boolean(true)) == "null");
  CHECK(cmp(Value::boolean(true), BinaryOp::kLe, Value::boolean(true)) == "null");
  CHECK(cmp(Value::json("[1]"), BinaryOp::kGe, Value::json("[1]")) == "null");
  CHECK(w.counted() == 6);
}

TEST_CASE("eval: IN is unknown when nothing is equal and something is unknown") {
  World w;
  const auto in = [&](plan::ExprPtr a, std::vector<plan::ExprPtr> list, bool negated = false) {
    return w.text(node(plan::In{std::move(a), std::move(list), negated}));
  };
  CHECK(in(lit(2), {lit(1), lit(2.0)}) == "bool true");
  CHECK(in(lit(3), {lit(1), lit(2)}) == "bool false");
  CHECK(in(lit(3), {lit(1), lit(2)}, true) == "bool true");
  CHECK(in(lit(2), {null(), lit(2)}) == "bool true");
  CHECK(in(lit(3), {null(), lit(2)}) == "null");
  CHECK(in(lit(3), {null(), lit(2)}, true) == "null");
  CHECK(in(null(), {lit(2)}) == "null");
  CHECK(w.counted() == 0);
  CHECK(in(lit(3), {lit("3"), lit(2)}) == "null");
  CHECK(w.counted() == 1);
}

TEST_CASE("eval: BETWEEN is two comparisons") {
  World w;
  const auto between = [&](plan::ExprPtr a, plan::ExprPtr low, plan::ExprPtr high, bool negated = false) {
    return w.text(node(plan::Between{std::move(a), std::move(low), std::move(high), negated}));
  };
  CHECK(between(lit(1), lit(1), lit(3)) == "bool true");
  CHECK(between(lit(3), lit(1), lit(3)) == "bool true");
  CHECK(between(lit(4), lit(1), lit(3)) == "bool false");
  CHECK(between(lit(4), lit(1), lit(3), true) == "bool true");
  CHECK(between(lit(0), lit(1), null()) == "bool false");
  CHECK(between(lit(2), lit(1), null()) == "null");
  CHECK(between(lit(4), null(), lit(3)) == "bool false");
  CHECK(between(lit(2), null(), lit(3)) == "null");
  CHECK(between(null(), lit(1), lit(3), true) == "null");
  CHECK(w.counted() == 0);
  CHECK(between(lit("2"), lit(1), lit(3)) == "null");
  CHECK(w.counted() > 0);
}

TEST_CASE("eval: MATCHES looks anywhere in a string") {
  World w;
  const auto re = std::make_shared<const RE2>("b+");
  const auto matches = [&](plan::ExprPtr a, bool negated = false) {
    return w.text(node(plan::Matches{std::move(a), re, negated}));
  };
  CHECK(matches(lit("abbc")) == "bool true");
  CHECK(matches(lit("ac")) == "bool false");
  CHECK(matches(lit("ac"), true) == "bool true");
  CHECK(matches(lit("")) == "bool false");
  CHECK(matches(null(), true) == "null");
  CHECK(w.counted() == 0);
  CHECK(matches(lit(5), true) == "null");
  CHECK(w.counted() == 1);
}

TEST_CASE("eval: IS NULL") {
  World w;
  CHECK(w.text(node(plan::IsNull{null(), false})) == "bool true");
  CHECK(w.text(node(plan::IsNull{null(), true})) == "bool false");
  CHECK(w.text(node(plan::IsNull{lit(0), false})) == "bool false");
  // Unknown is null.
  CHECK(w.text(node(plan::IsNull{op(null(), BinaryOp::kEq, lit(0)), false})) == "bool true");
}

TEST_CASE("holds: only true accepts, and no condition at all") {
  World w;
  const auto check = [&](std::vector<plan::ExprPtr> conditions) {
    return holds(conditions, w.scope(), w.scratch, w.errors);
  };
  CHECK(check({}));
  CHECK(check({lit(true), lit(true)}));
  CHECK_FALSE(check({lit(true), lit(false)}));
  CHECK_FALSE(check({null()}));
  CHECK(w.counted() == 0);
  CHECK_FALSE(check({lit(1)}));
  CHECK(w.counted() == 1);
}

TEST_CASE("eval: text of a result outlives the evaluation") {
  World w;
  w.tested = w.event(Value::string("abc"));
  const Value field = w.eval(node(w.ref(Subject::kTested)));
  const Value made = w.eval(call(plan::Function::kConcat, {lit("x"), node(w.ref(Subject::kTested))}));
  CHECK(field.text() == "abc");
  CHECK(made.text() == "xabc");
}
