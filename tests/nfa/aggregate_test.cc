#include "nfa/aggregate.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/nfa/expr_builder.h"

using namespace cepd;
using namespace cepd::nfa;
using namespace cepd::nfa::testing;
using plan::AggregateKind;

namespace {

/// Events of element 0 with these values in `x`, among events of element 1.
struct Bag : World {
  explicit Bag(std::initializer_list<Value> values) {
    bind(1, Value::integer(1000));
    for (const Value& v : values) bind(0, v);
    bind(1, Value::integer(-1000));
    tested = event(Value::integer(5000));
  }
  std::string operator()(AggregateKind kind, double p = 0) {
    plan::Aggregate a;
    a.kind = kind;
    a.field = ref(plan::Subject::kLast);
    a.percentile = p;
    return text(node(a));
  }
  std::string events() { return text(node(plan::Aggregate{})); }
};

Value i(std::int64_t v) { return Value::integer(v); }
Value d(double v) { return Value::real(v); }

}  // namespace

TEST_CASE("aggregate: over nothing count is 0 and the others null") {
  Bag none{}, nulls{Value::null()};
  CHECK(none.events() == "int 0");
  CHECK(nulls.events() == "int 1");
  for (Bag* bag : {&none, &nulls}) {
    CHECK((*bag)(AggregateKind::kCount) == "int 0");
    for (const AggregateKind kind : {AggregateKind::kSum, AggregateKind::kAvg, AggregateKind::kMin, AggregateKind::kMax,
                                     AggregateKind::kStddev, AggregateKind::kPercentile, AggregateKind::kDistinct}) {
      CHECK((*bag)(kind) == "null");
    }
    CHECK(bag->counted() == 0);
  }
  CHECK(none(AggregateKind::kCollect) == "null");
}

TEST_CASE("aggregate: nulls are left out, but not by count(n) and collect") {
  Bag bag{i(1), Value::null(), i(4)};
  CHECK(bag.events() == "int 3");
  CHECK(bag(AggregateKind::kCount) == "int 2");
  CHECK(bag(AggregateKind::kSum) == "int 5");
  CHECK(bag(AggregateKind::kAvg) == "double 2.5");
  CHECK(bag(AggregateKind::kMin) == "int 1");
  CHECK(bag(AggregateKind::kMax) == "int 4");
  CHECK(bag(AggregateKind::kDistinct) == "int 2");
  CHECK(bag(AggregateKind::kCollect) == "array or object [1,null,4]");
  CHECK(bag.counted() == 0);
}

TEST_CASE("aggregate: a sum of ints is exact and overflows at the end only") {
  const std::int64_t max = std::numeric_limits<std::int64_t>::max();
  Bag fits{i(max), i(max), i(-max)};
  CHECK(fits(AggregateKind::kSum) == "int 9223372036854775807");
  CHECK(fits.counted() == 0);
  Bag over{i(max), i(1)};
  CHECK(over(AggregateKind::kSum) == "null");
  CHECK(over.counted() == 1);
  CHECK(over(AggregateKind::kAvg) == "double 4611686018427387904.0");
  Bag mixed{i(1), d(0.5)};
  CHECK(mixed(AggregateKind::kSum) == "double 1.5");
  Bag infinite{d(1e308), d(1e308)};
  CHECK(infinite(AggregateKind::kSum) == "null");
  CHECK(infinite.counted() == 1);
}

TEST_CASE("aggregate: avg over ints is a double") { CHECK(Bag{i(2), i(4)}(AggregateKind::kAvg) == "double 3.0"); }

TEST_CASE("aggregate: stddev is the sample one, null under two") {
  CHECK(Bag{i(2), i(4)}(AggregateKind::kStddev) == "double 1.4142135623730951");
  CHECK(Bag{i(3)}(AggregateKind::kStddev) == "null");
  CHECK(Bag{i(3), i(3), i(3)}(AggregateKind::kStddev) == "double 0.0");
  // Large values close together.
  CHECK(Bag{d(1e15), d(1e15 + 2), d(1e15 + 4)}(AggregateKind::kStddev) == "double 2.0");
}

TEST_CASE("aggregate: percentile interpolates") {
  Bag bag{i(40), i(10), i(30), i(20)};
  CHECK(bag(AggregateKind::kPercentile, 0) == "double 10.0");
  CHECK(bag(AggregateKind::kPercentile, 50) == "double 25.0");
  CHECK(bag(AggregateKind::kPercentile, 100) == "double 40.0");
  CHECK(bag(AggregateKind::kPercentile, 10) == "double 13.0");
  CHECK(Bag{i(7)}(AggregateKind::kPercentile, 99) == "double 7.0");
}

TEST_CASE("aggregate: distinct goes by key equality") {
  Bag bag{i(1), d(1.0), Value::string("1"), Value::boolean(true), i(2), Value::string("1")};
  CHECK(bag(AggregateKind::kDistinct) == "int 4");
  CHECK(bag.counted() == 0);
}

TEST_CASE("aggregate: min and max take all that has an order") {
  CHECK(Bag{Value::string("b"), Value::string("a")}(AggregateKind::kMin) == "string a");
  CHECK(Bag{i(1), d(1.5)}(AggregateKind::kMax) == "double 1.5");
  CHECK(Bag{ts(0), ts(1'000'000)}(AggregateKind::kMax) == "timestamp 1970-01-01T00:00:01Z");
  CHECK(Bag{dur(5), dur(3)}(AggregateKind::kMin) == "duration 3us");
  Bag unlike{i(1), Value::string("a")};
  CHECK(unlike(AggregateKind::kMin) == "null");
  CHECK(unlike.counted() == 1);
  Bag bools{Value::boolean(true)};
  CHECK(bools(AggregateKind::kMax) == "null");
  CHECK(bools.counted() == 1);
}

TEST_CASE("aggregate: durations keep their kind, other kinds are counted") {
  Bag spans{dur(1), dur(4)};
  CHECK(spans(AggregateKind::kSum) == "duration 5us");
  CHECK(spans(AggregateKind::kAvg) == "duration 3us");
  CHECK(spans(AggregateKind::kPercentile, 100) == "duration 4us");
  CHECK(spans.counted() == 0);
  Bag mixed{dur(1), i(4)};
  CHECK(mixed(AggregateKind::kSum) == "null");
  Bag text{Value::string("4")};
  CHECK(text(AggregateKind::kAvg) == "null");
  CHECK(mixed.counted() + text.counted() == 2);
}
