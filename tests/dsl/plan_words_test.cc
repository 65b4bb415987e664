#include "dsl/plan_words.h"

#include <doctest/doctest.h>

#include "dsl/check.h"
#include "dsl/parse.h"

using namespace cepd;

namespace {

/// The condition of the last element of `pattern`, in words.
std::string words(const std::string& pattern) {
  const dsl::Parsed parsed = dsl::parse("t.rules", "RULE r KEY k MATCH " + pattern + " WITHIN 1h");
  const dsl::Checked checked = dsl::check({parsed.file}, {}, nullptr);
  REQUIRE(checked.rules != nullptr);
  const dsl::plan::Rule& rule = checked.rules->rules.front();
  return dsl::in_words(*rule.elements.back().test.conditions.front(), rule);
}

/// Conditions that come back as they were written.
void same(const std::string& before, const std::string& condition) {
  CHECK(words(before + "b[" + condition + "]") == condition);
}

}  // namespace

TEST_CASE("plan words: conditions come back as they were written") {
  for (const char* condition :
       {"x > 3", "(x + 1) * 2 >= y", "x = 1 OR y = 2 AND z = 3", "NOT (x = 1 OR y)", "x IN (1, 2.5, \"a\")",
        "x NOT BETWEEN 1 AND 5m", "name NOT MATCHES \"^a\\\\d\"", "x IS NOT NULL", "-x < - -y",
        "round(x / 3) = length(trim(name))", "ts - prev(ts) <= 5s", "tags[0].`a b` = true", "`ts` > 1",
        "ts > @\"2026-01-05T22:00:00Z\"", "type = \"b\""}) {
    CAPTURE(condition);
    same("a THEN ", condition);
  }
}

TEST_CASE("plan words: other elements by their names") {
  for (const char* condition : {"x > 3 * avg(n.x)", "x = first(n.x)", "x = n[-2].x", "x = n.x.y", "count(n) > 3",
                                "distinct(n.x) = 2", "x > percentile(n.x, 95.0)", "this.n.x = n.x", "prev(x) < x"}) {
    CAPTURE(condition);
    same("a+ AS n THEN ", condition);
  }
}

TEST_CASE("plan words: constants are filled in") {
  const dsl::Parsed parsed = dsl::parse("t.rules", "CONST most = 5m\nRULE r MATCH a[x > $most]");
  const dsl::Checked checked = dsl::check({parsed.file}, {}, nullptr);
  REQUIRE(checked.rules != nullptr);
  const dsl::plan::Rule& rule = checked.rules->rules.front();
  CHECK(dsl::in_words(*rule.elements.front().test.conditions.front(), rule) == "x > 5m");
  CHECK(dsl::in_words(rule.elements.front().test.types, checked.rules->fields) == "a");
  CHECK(dsl::in_words(Value::json("[1,\"x\"]")) == "[1,\"x\"]");
}
