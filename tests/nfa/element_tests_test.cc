#include "nfa/element_tests.h"

#include <doctest/doctest.h>

#include "tests/support/rules.h"

using namespace cepd;
using nfa::ElementTest;
using test::make_event;
using test::network_of;

TEST_CASE("element tests: equal ones of all rules are one") {
  const auto network = network_of(
      "RULE a MATCH x[i > 1] THEN y[lower(s) = \"q\"] WITHIN 1m\n"
      "RULE b MATCH y[lower(s) = \"q\"] THEN x[i > 1] WITHIN 1m\n"
      "RULE c MATCH x[i > 1] THEN y[lower(s) = \"q\"] WITHIN 2m\n"
      "RULE d MATCH x THEN y WITHIN 1m\n");
  const nfa::ElementTests& tests = network->element_tests();
  const ElementTest *a = tests.of_rule(0), *b = tests.of_rule(1);
  REQUIRE(a != nullptr);
  REQUIRE(b != nullptr);
  REQUIRE(a[0].number != nullptr);
  CHECK(a[0].number == b[1].number);
  CHECK(a[1].shared == 0);
  CHECK(b[0].shared == 0);
  CHECK(tests.of_rule(2) == a);
  CHECK(tests.of_rule(3) == nullptr);
  CHECK(tests.shared() == 1);
}

TEST_CASE("element tests: an outcome is kept only for what several ask and what reads nothing but the event") {
  const auto network = network_of(
      "RULE a KEY u MATCH x AS x THEN y[lower(s) = \"alone\"] WITHIN 1m\n"
      "RULE b KEY u MATCH x AS x THEN y[lower(s) = x.s] WITHIN 1m\n"
      "RULE c KEY u MATCH x AS x THEN y[lower(s) = x.s] WITHIN 1m\n"
      "RULE d KEY u MATCH x+ AS x THEN y[lower(s) = \"q\" AND count(x) > 1] WITHIN 1m\n"
      "RULE e KEY u MATCH x+ AS x THEN y[lower(s) = \"q\" AND count(x) > 1] WITHIN 1m\n");
  CHECK(network->element_tests().shared() == 0);
}

TEST_CASE(
    "element tests: a shared condition is evaluated once an event, and its errors are counted for each who asks") {
  const auto network = network_of("RULE a MATCH x[i + 1 > 2]\nRULE b MATCH x[i + 1 > 2]\nRULE c MATCH x[i + 1 > 4]\n");
  const auto& rules = network->rules().rules;
  REQUIRE(network->element_tests().of_rule(0)->shared == 0);
  nfa::SharedOutcomes outcomes(network->element_tests().shared());
  Arena scratch;
  nfa::EvalErrors errors;
  std::uint64_t sequence = 0;
  const auto event_of = [&](const Value& i) {
    const EventPtr event = make_event(network->fields(), "x", 1, 0, {{"i", i}});
    event->sequence = ++sequence;
    return event;
  };
  const auto holds = [&](std::size_t rule, const Event& event) {
    return outcomes.holds(0, rules[rule].elements[0].test, event, network->fields(), scratch, errors);
  };
  const EventPtr three = event_of(Value::integer(3));
  CHECK(holds(0, *three));
  CHECK(holds(2, *three));  // what another condition says is not asked
  const EventPtr one = event_of(Value::integer(1));
  CHECK(!holds(0, *one));
  const EventPtr text = event_of(Value::string("3"));
  CHECK(errors.count == 0);
  CHECK(!holds(0, *text));
  CHECK(!holds(1, *text));
  CHECK(errors.count == 2);
}
