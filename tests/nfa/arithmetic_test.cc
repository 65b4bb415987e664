#include "nfa/arithmetic.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/nfa/expr_builder.h"

using namespace cepd;
using namespace cepd::nfa;
using namespace cepd::nfa::testing;
using plan::BinaryOp;

namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

struct Calculator {
  EvalErrors errors;
  std::string operator()(const Value& a, BinaryOp o, const Value& b) { return show(arithmetic(o, a, b, errors)); }
  std::string minus(const Value& a) { return show(negate(a, errors)); }
  std::uint64_t counted() { return std::exchange(errors.count, 0); }
};

Value i(std::int64_t v) { return Value::integer(v); }
Value d(double v) { return Value::real(v); }

}  // namespace

TEST_CASE("arithmetic: int with int stays int, with a double it is a double") {
  Calculator calc;
  CHECK(calc(i(7), BinaryOp::kAdd, i(2)) == "int 9");
  CHECK(calc(i(7), BinaryOp::kSub, i(9)) == "int -2");
  CHECK(calc(i(7), BinaryOp::kMul, i(2)) == "int 14");
  CHECK(calc(i(7), BinaryOp::kAdd, d(2)) == "double 9.0");
  CHECK(calc(d(0.5), BinaryOp::kMul, i(3)) == "double 1.5");
  CHECK(calc.minus(i(3)) == "int -3");
  CHECK(calc.minus(d(0.5)) == "double -0.5");
  CHECK(calc.counted() == 0);
}

TEST_CASE("arithmetic: / is real division") {
  Calculator calc;
  CHECK(calc(i(7), BinaryOp::kDiv, i(2)) == "double 3.5");
  CHECK(calc(i(6), BinaryOp::kDiv, i(2)) == "double 3.0");
  CHECK(calc.counted() == 0);
}

TEST_CASE("arithmetic: % has the sign of the dividend") {
  Calculator calc;
  CHECK(calc(i(7), BinaryOp::kMod, i(3)) == "int 1");
  CHECK(calc(i(-7), BinaryOp::kMod, i(3)) == "int -1");
  CHECK(calc(i(7), BinaryOp::kMod, i(-3)) == "int 1");
  CHECK(calc(i(kMin), BinaryOp::kMod, i(-1)) == "int 0");
  CHECK(calc(d(-7.5), BinaryOp::kMod, i(2)) == "double -1.5");
  CHECK(calc.counted() == 0);
}

TEST_CASE("arithmetic: overflow, division by zero and results that are not finite are null and counted") {
  Calculator calc;
  for (const auto& text : {
           calc(i(kMax), BinaryOp::kAdd, i(1)),
           calc(i(kMin), BinaryOp::kSub, i(1)),
           calc(i(kMax), BinaryOp::kMul, i(2)),
           calc(i(1), BinaryOp::kDiv, i(0)),
           calc(i(0), BinaryOp::kDiv, d(0)),
           calc(i(1), BinaryOp::kMod, i(0)),
           calc(d(1), BinaryOp::kMod, d(0)),
           calc(d(1e308), BinaryOp::kMul, i(10)),
           calc.minus(i(kMin)),
           calc(dur(kMax), BinaryOp::kAdd, dur(1)),
           calc(ts(kMax), BinaryOp::kAdd, dur(1)),
           calc(dur(kMax), BinaryOp::kMul, d(2)),
           calc(dur(1), BinaryOp::kDiv, i(0)),
           calc(dur(1), BinaryOp::kDiv, dur(0)),
           calc(dur(kMin), BinaryOp::kDiv, i(-1)),
       }) {
    CHECK(text == "null");
    CHECK(calc.errors.count > 0);
  }
  CHECK(calc.counted() == 15);
}

TEST_CASE("arithmetic: null gives null and is not counted") {
  Calculator calc;
  CHECK(calc(Value::null(), BinaryOp::kAdd, i(1)) == "null");
  CHECK(calc(Value::string("x"), BinaryOp::kMul, Value::null()) == "null");
  CHECK(calc(i(1), BinaryOp::kDiv, Value::null()) == "null");
  CHECK(calc.minus(Value::null()) == "null");
  CHECK(calc.counted() == 0);
}

TEST_CASE("arithmetic: timestamps and durations") {
  Calculator calc;
  CHECK(calc(ts(5'000'000), BinaryOp::kSub, ts(2'000'000)) == "duration 3s");
  CHECK(calc(ts(5'000'000), BinaryOp::kAdd, dur(1'000'000)) == "timestamp 1970-01-01T00:00:06Z");
  CHECK(calc(dur(1'000'000), BinaryOp::kAdd, ts(5'000'000)) == "timestamp 1970-01-01T00:00:06Z");
  CHECK(calc(ts(5'000'000), BinaryOp::kSub, dur(1'000'000)) == "timestamp 1970-01-01T00:00:04Z");
  CHECK(calc(dur(5), BinaryOp::kAdd, dur(7)) == "duration 12us");
  CHECK(calc(dur(5), BinaryOp::kSub, dur(7)) == "duration -2us");
  CHECK(calc(dur(5), BinaryOp::kMul, i(3)) == "duration 15us");
  CHECK(calc(i(3), BinaryOp::kMul, dur(5)) == "duration 15us");
  CHECK(calc(dur(5), BinaryOp::kMul, d(0.5)) == "duration 3us");  // 2.5, half away from zero
  CHECK(calc(dur(-5), BinaryOp::kDiv, i(2)) == "duration -3us");
  CHECK(calc(dur(7), BinaryOp::kDiv, i(3)) == "duration 2us");
  CHECK(calc(dur(8), BinaryOp::kDiv, i(-3)) == "duration -3us");
  CHECK(calc(dur(1), BinaryOp::kDiv, d(0.5)) == "duration 2us");
  CHECK(calc(dur(3), BinaryOp::kDiv, dur(2)) == "double 1.5");
  CHECK(calc.minus(dur(5)) == "duration -5us");
  CHECK(calc.counted() == 0);
}

TEST_CASE("arithmetic: any other mix is null and counted") {
  Calculator calc;
  const Value s = Value::string("1"), b = Value::boolean(true);
  CHECK(calc(s, BinaryOp::kAdd, s) == "null");
  CHECK(calc(s, BinaryOp::kAdd, i(1)) == "null");
  CHECK(calc(b, BinaryOp::kMul, i(1)) == "null");
  CHECK(calc(ts(1), BinaryOp::kAdd, i(1)) == "null");
  CHECK(calc(ts(1), BinaryOp::kAdd, ts(1)) == "null");
  CHECK(calc(dur(1), BinaryOp::kSub, ts(1)) == "null");
  CHECK(calc(dur(1), BinaryOp::kMul, dur(1)) == "null");
  CHECK(calc(i(1), BinaryOp::kDiv, dur(1)) == "null");
  CHECK(calc(dur(5), BinaryOp::kMod, dur(2)) == "null");
  CHECK(calc.minus(ts(1)) == "null");
  CHECK(calc.counted() == 10);
}

TEST_CASE("divide_rounded: half away from zero, up to the largest magnitudes") {
  CHECK(divide_rounded(5, 2) == 3);
  CHECK(divide_rounded(-5, 2) == -3);
  CHECK(divide_rounded(5, -2) == -3);
  CHECK(divide_rounded(4, 3) == 1);
  CHECK(divide_rounded(1, 3) == 0);
  CHECK(divide_rounded(-2, 3) == -1);
  CHECK(divide_rounded(kMin, kMin) == 1);
  CHECK(divide_rounded(kMax, kMin) == -1);
}
