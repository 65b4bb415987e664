#include "dsl/check_test_block.h"

#include <doctest/doctest.h>

#include "tests/dsl/check_testing.h"

using namespace cepd;
using namespace cepd::dsl;

namespace {
const std::string kRules =
    "RULE rescue KEY u MATCH a THEN b WITHIN 1m EMIT u, b.amount ON TIMEOUT EMIT u, a.item\n"
    "RULE plain MATCH c\n"
    "RULE off DISABLED MATCH d\n";
std::string mistakes(const std::string& test) { return errors(kRules + test); }
}  // namespace

TEST_CASE("TEST: events, watermarks and expectations") {
  const auto set = loaded(kRules +
                          "CONST price = 30 CONST gap = 10s\n"
                          "TEST t FOR rescue MAX DELAY 5s\n"
                          "  GIVEN a @0s {u: \"u1\", price: $price, nested: {b: [1, 2.0, null], a: true}}\n"
                          "        b @1s {amount: -3, u: \"\\\"x\\\"\"} TIMES 3 EVERY $gap\n"
                          "        WATERMARK @10m\n"
                          "  EXPECT MATCH {u: \"u1\", amount: 30.0} @2m\n"
                          "         TIMEOUT {item: null}\n"
                          "  GIVEN c @20m {at: @\"2026-01-05T22:00:00Z\", span: 1h30m}\n"
                          "  EXPECT NOTHING\n");
  REQUIRE(set->tests.size() == 1);
  const plan::Test& test = set->tests[0];
  CHECK(test.name == "t");
  CHECK(test.rule == "rescue");
  CHECK(test.file == "f1.rules");
  CHECK(test.line == 5);
  CHECK(test.max_delay == std::chrono::seconds(5));
  REQUIRE(test.stages.size() == 2);
  const auto& given = test.stages[0].given;
  REQUIRE(given.size() == 5);
  CHECK(given[0].type == "a");
  CHECK(given[0].at == event_time_us(0));
  CHECK(given[0].fields_json == R"({"nested":{"a":true,"b":[1,2.0,null]},"price":30,"u":"u1"})");
  CHECK(given[1].fields_json == R"({"amount":-3,"u":"\"x\""})");
  CHECK(given[3].at == event_time_us(21'000'000));
  CHECK(given[4].watermark);
  CHECK(given[4].at == event_time_us(600'000'000));
  const auto& expected = test.stages[0].expected;
  REQUIRE(expected.size() == 2);
  CHECK(expected[0].kind == MatchKind::kMatch);
  CHECK(expected[0].fields == std::vector<std::pair<std::string, std::string>>{{"u", "\"u1\""}, {"amount", "30.0"}});
  CHECK(expected[0].at == event_time_us(120'000'000));
  CHECK(expected[0].text == "MATCH {u: \"u1\", amount: 30.0} @2m");
  CHECK(expected[1].kind == MatchKind::kTimeout);
  CHECK(expected[1].fields == std::vector<std::pair<std::string, std::string>>{{"item", "null"}});
  CHECK(test.stages[1].given.at(0).fields_json == R"({"at":"2026-01-05T22:00:00Z","span":"1h30m"})");
  CHECK(test.stages[1].expected.empty());
}

TEST_CASE("TEST: times in EXPECT are as they are put out, in milliseconds") {
  const auto set = loaded(
      "RULE r MATCH a EMIT a.at, a.ts - a.at AS gap\nTEST t FOR r GIVEN a @0s {} "
      "EXPECT MATCH {at: @\"1970-01-01T00:00:01Z\", gap: 5m}");
  CHECK(set->tests[0].stages[0].expected[0].fields ==
        std::vector<std::pair<std::string, std::string>>{{"at", "1000"}, {"gap", "300000"}});
}

TEST_CASE("TEST: mistakes") {
  CHECK(mistakes("TEST t FOR rescuee GIVEN a @0s {} EXPECT NOTHING") ==
        "`rescuee`: unknown rule rescuee (did you mean rescue?)\n");
  CHECK(mistakes("TEST t FOR off GIVEN d @0s {} EXPECT NOTHING") ==
        "`off`: the rule off is DISABLED and never matches\n");
  CHECK(mistakes("TEST t FOR rescue GIVEN a @0s {} EXPECT MATCH {amuont: 3}") ==
        "`amuont`: the rule rescue emits no amuont (did you mean amount?)\n");
  CHECK(mistakes("TEST t FOR rescue GIVEN a @0s {} EXPECT TIMEOUT {amount: 3}") ==
        "`amount`: the rule rescue emits no amount\n");
  CHECK(mistakes("TEST t FOR rescue GIVEN a @0s {} EXPECT MATCH {u: 3, u: 4}") == "`u`: u is expected twice\n");
  CHECK(mistakes("TEST t FOR plain GIVEN c @0s {} EXPECT TIMEOUT {}") ==
        "`TIMEOUT {}`: the rule plain has no ON TIMEOUT and reports none\n");
  CHECK(mistakes("TEST t FOR plain GIVEN c @0s {} EXPECT WINDOW {}") ==
        "`WINDOW {}`: EXPECT WINDOW is not supported yet\n");
  CHECK(mistakes("TEST t FOR plain GIVEN c @0s {x: $no} EXPECT NOTHING") == "`$no`: unknown constant $no\n");
  CHECK(mistakes("TEST t FOR plain GIVEN c @0s {} TIMES 1000001 EXPECT NOTHING") ==
        "`c @0s {} TIMES 1000001`: a TEST has at most 1000000 events\n");
  CHECK(errors("EVENT cart (x int) RULE r MATCH cart TEST t FOR r GIVEN crat @0s {} EXPECT NOTHING") ==
        "`crat`: unknown event type crat (did you mean cart?)\n");
}

TEST_CASE("TEST: a rule that is wrong itself makes no further errors") {
  CHECK(errors("RULE r MATCH a EMIT lowr(a.x) AS y TEST t FOR r GIVEN a @0s {} EXPECT MATCH {z: 1}") ==
        "`lowr`: unknown function lowr (did you mean lower?)\n");
}
