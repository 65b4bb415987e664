#include "nfa/tally.h"

#include <doctest/doctest.h>

#include <random>

#include "nfa/aggregate.h"
#include "tests/nfa/expr_builder.h"

using namespace cepd;
using namespace cepd::nfa;
using namespace cepd::nfa::testing;
using plan::AggregateKind;

namespace {

/// A list of events of the elements 0 and 1 that grows, and what is kept of it.
struct Growing : World {
  OwnTallies kept;

  void grow(int element, const Value& v) {
    bind(element, v);
    events.back()->sequence = events.size();
  }
  Scope with_tallies() {
    Scope scope = this->scope();
    scope.tallies = &kept;
    return scope;
  }
  /// The value and the errors counted.
  std::string kept_value(const plan::Expr& e) { return value(e, with_tallies()); }
  std::string value_anew(const plan::Expr& e) { return value(e, scope()); }

 private:
  std::string value(const plan::Expr& e, const Scope& scope) {
    const std::string value = show(evaluate(e, scope, scratch, errors));
    return value + ", errors " + std::to_string(counted());
  }
};

plan::ExprPtr aggregate_of(const World& world, AggregateKind kind, double percentile = 0) {
  plan::Aggregate node;
  node.kind = kind;
  node.field = world.ref(plan::Subject::kLast);
  node.percentile = percentile;
  return testing::node(node);
}

std::vector<plan::ExprPtr> all_kinds(const World& world) {
  std::vector<plan::ExprPtr> out;
  for (const AggregateKind kind :
       {AggregateKind::kCount, AggregateKind::kSum, AggregateKind::kAvg, AggregateKind::kMin, AggregateKind::kMax,
        AggregateKind::kStddev, AggregateKind::kDistinct, AggregateKind::kPercentile, AggregateKind::kCollect}) {
    out.push_back(aggregate_of(world, kind, 30));
  }
  out.push_back(node(plan::Aggregate{}));
  out.push_back(node(world.ref(plan::Subject::kFirst)));
  out.push_back(node(world.ref(plan::Subject::kLast)));
  out.push_back(node(world.ref(plan::Subject::kFirst, 1)));
  out.push_back(node(world.ref(plan::Subject::kLast, 1)));
  return out;
}

}  // namespace

TEST_CASE("tally: at every length the same to the last bit as computed anew") {
  using Random = std::mt19937_64;
  const auto real = [](Random& random) { return Value::real(static_cast<double>(random() % 2000) / 7.0 - 100); };
  const auto integer = [](Random& random) { return Value::integer(static_cast<std::int64_t>(random() % 20)); };
  const auto huge = [](Random& random) { return Value::integer(static_cast<std::int64_t>(random())); };
  const auto span = [](Random& random) { return dur(static_cast<std::int64_t>(random() % 1000)); };
  const auto text = [](Random& random) { return Value::string(random() % 2 == 0 ? "a" : "b"); };
  const auto number = [&](Random& random) { return random() % 2 == 0 ? real(random) : integer(random); };
  const auto unlike = [&](Random& random) { return random() % 50 == 0 ? text(random) : span(random); };
  Random random(7);
  const auto check = [&](const auto& next) {
    Growing list;
    const std::vector<plan::ExprPtr> expressions = all_kinds(list);
    for (int i = 0; i < 200; ++i) {
      list.grow(random() % 4 == 0, random() % 8 == 0 ? Value::null() : next(random));
      for (const plan::ExprPtr& each : expressions) {
        if (random() % 2 == 0) CHECK(list.kept_value(*each) == list.value_anew(*each));
      }
    }
  };
  check(real);
  check(integer);
  check(huge);
  check(span);
  check(text);
  check(number);
  check(unlike);
}

TEST_CASE("tally: a longer list costs a look at it no more") {
  Growing list;
  const std::vector<plan::ExprPtr> expressions = all_kinds(list);
  const auto visited = [&] {
    const std::uint64_t before = list.kept.get().visited();
    for (const plan::ExprPtr& each : expressions) list.kept_value(*each);
    return list.kept.get().visited() - before;
  };
  for (int i = 0; i < 100; ++i) list.grow(0, Value::integer(i));
  visited();
  // One of each aggregate that is kept, and of the ends of the two elements.
  const std::uint64_t each_event = 11;
  for (int i = 0; i < 1000; ++i) {
    list.grow(0, Value::integer(i));
    CHECK(visited() == each_event);
    CHECK(visited() == 0);
  }
}

TEST_CASE("tally: a number stays until an event is bound, what is no number is left to the evaluation") {
  Growing list;
  const auto number = [&](const plan::ExprPtr& of) {
    return show(list.kept.get().number(*of, list.with_tallies(), list.scratch));
  };
  const plan::ExprPtr sum = aggregate_of(list, AggregateKind::kSum), least = aggregate_of(list, AggregateKind::kMin);
  list.grow(0, Value::integer(3));
  CHECK(number(sum) == "int 3");
  CHECK(number(least) == "int 3");
  list.grow(0, Value::integer(2));
  CHECK(number(sum) == "int 3");
  list.kept.changed();
  CHECK(number(sum) == "int 5");
  CHECK(number(least) == "int 2");
  list.grow(0, Value::string("x"));
  list.kept.changed();
  CHECK(number(sum) == "null");
  CHECK(number(least) == "null");
}

TEST_CASE("tally: a copy goes its own way") {
  Growing list;
  const plan::ExprPtr sum = aggregate_of(list, AggregateKind::kSum);
  for (int i = 0; i < 10; ++i) list.grow(0, Value::integer(1));
  CHECK(list.kept_value(*sum) == "int 10, errors 0");
  OwnTallies before = list.kept;
  list.grow(0, Value::integer(5));
  CHECK(list.kept_value(*sum) == "int 15, errors 0");
  list.bound.back() = {plan::ElementId(1), list.bound.back().event};
  list.kept = before;
  CHECK(list.kept_value(*sum) == "int 10, errors 0");
}

TEST_CASE("tally: events of elements that nothing is asked of may leave the list") {
  Growing list;
  const plan::ExprPtr sum = aggregate_of(list, AggregateKind::kSum), last = node(list.ref(plan::Subject::kLast));
  for (int i = 0; i < 10; ++i) {
    list.grow(i % 2, Value::integer(i));
    list.kept_value(*sum);
    list.kept_value(*last);
  }
  std::erase_if(list.bound, [](const Bound& each) { return each.element == plan::ElementId(1); });
  list.grow(0, Value::integer(100));
  CHECK(list.kept_value(*sum) == "int 120, errors 0");
  CHECK(list.kept_value(*last) == "int 100, errors 0");
}
