#include "nfa/start_index.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "nfa/eval.h"
#include "tests/support/rules.h"

using namespace cepd;
using nfa::StartIndex;
using test::make_event;
using test::network_of;

namespace {

constexpr const char* kConditions[] = {"i = 2",
                                       "2 = i",
                                       "i IN (1, 2.5, -3)",
                                       "i != 2",
                                       "i > 2",
                                       "i >= 2",
                                       "2.5 > i",
                                       "i <= 2.5",
                                       "i > 2 AND i != 3",
                                       "i = 2 AND u = 1",
                                       "i = 2 OR i = 3",
                                       "i + 0 > 2",
                                       "i > 9007199254740992"};

std::vector<Value> values() {
  return {
      Value::null(),      Value::integer(-3),  Value::integer(1), Value::integer(2), Value::integer(3),
      Value::real(2),     Value::real(2.5),    Value::real(-3),   Value::real(1e16), Value::integer(9007199254740993),
      Value::string("2"), Value::boolean(true)};
}

std::string rules_text() {
  std::string text;
  char name = 'a';
  for (const char* condition : kConditions) {
    text += "RULE " + std::string(1, name++) + " MATCH x[" + condition + "]\n";
  }
  return text;
}

}  // namespace

TEST_CASE("start index: who is not found would not accept, who is found as accepting does, without errors") {
  const auto network = network_of(rules_text());
  const auto& rules = network->rules().rules;
  const TypeId type = *network->fields().find("x");
  StartIndex index;
  for (std::uint32_t i = 0; i < rules.size(); ++i) index.add(i, rules[i], 1, type);
  index.finish();
  std::size_t decided = 0;
  for (const Value& value : values()) {
    const EventPtr event = make_event(network->fields(), "x", 1, 0, {{"i", value}, {"u", Value::integer(1)}});
    std::vector<StartIndex::Found> found;
    index.find(*event, found);
    CHECK(std::is_sorted(found.begin(), found.end()));
    for (std::uint32_t i = 0; i < rules.size(); ++i) {
      CAPTURE(kConditions[i]);
      Arena scratch;
      nfa::EvalErrors errors;
      const nfa::Scope scope{event.get(), {}, {}, {}, &network->fields()};
      const bool holds = nfa::holds(rules[i].elements[0].test.conditions, scope, scratch, errors);
      const auto at = std::find_if(found.begin(), found.end(), [&](const auto& each) { return each.place() == i; });
      if (at == found.end()) {
        CHECK(!holds);
        CHECK(errors.count == 0);
      } else if (at->accepted()) {
        CHECK(holds);
        CHECK(errors.count == 0);
        ++decided;
      }
    }
  }
  CHECK(decided == 31);
}

TEST_CASE("start index: of two elements none is found as accepting, without conditions every event is") {
  const auto network = network_of("RULE a MATCH (x[i = 1] OR x[i > 5])\nRULE b MATCH x\n");
  const TypeId type = *network->fields().find("x");
  StartIndex index;
  index.add(0, network->rules().rules[0], 3, type);
  index.add(1, network->rules().rules[1], 1, type);
  index.finish();
  const auto find = [&](std::int64_t i) {
    std::vector<StartIndex::Found> found;
    index.find(*make_event(network->fields(), "x", 1, 0, {{"i", Value::integer(i)}}), found);
    return found;
  };
  using Found = std::vector<StartIndex::Found>;
  CHECK(find(1) == Found{{0, false}, {1, true}});
  CHECK(find(2) == Found{{1, true}});
  CHECK(find(6) == Found{{0, false}, {1, true}});
}

TEST_CASE("start index: where one range is all that is asked it can be taken out") {
  const auto network = network_of("RULE a MATCH x[i < 3]\nRULE b MATCH x[i <= 1]\nRULE c MATCH x[i = 3]\n");
  const TypeId type = *network->fields().find("x");
  const auto of_rules = [&](std::uint32_t count) {
    StartIndex index;
    for (std::uint32_t i = 0; i < count; ++i) index.add(i, network->rules().rules[i], 1, type);
    index.finish();
    return index.take_only_range();
  };
  CHECK(!of_rules(3));
  const auto range = of_rules(2);
  REQUIRE(range.has_value());
  const auto find = [&](const Value& i) {
    std::vector<StartIndex::Found> found;
    range->find(*make_event(network->fields(), "x", 1, 0, {{"i", i}}), found);
    std::sort(found.begin(), found.end());
    return found;
  };
  using Found = std::vector<StartIndex::Found>;
  CHECK(find(Value::integer(1)) == Found{{0, true}, {1, true}});
  CHECK(find(Value::real(2.5)) == Found{{0, true}});
  CHECK(find(Value::integer(3)).empty());
  CHECK(find(Value::string("1")) == Found{{0, false}, {1, false}});
  CHECK(find(Value::null()).empty());
}
