#include "dsl/share.h"

#include <doctest/doctest.h>

#include "tests/dsl/check_testing.h"

using namespace cepd;
using namespace cepd::dsl;

namespace {

const plan::ExprPtr& condition(const RuleSet& set, std::size_t rule, std::size_t element, std::size_t number = 0) {
  return set.rules.at(rule).elements.at(element).test.conditions.at(number);
}

}  // namespace

TEST_CASE("share: equal conditions of rules are one object, wherever they stand") {
  const auto set = loaded_files(
      {"RULE a KEY u MATCH x[p > 1 AND lower(q) IN ('v', 'w')] THEN y AS z WITHIN 1m WHERE z.p > 1",
       "CONST c = 1\nRULE b MATCH y THEN x[this.p > $c AND lower(q) IN ('v', 'w')] AS n WITHIN 2m WHERE y.p > 1.0"});
  CHECK(condition(*set, 0, 0) == condition(*set, 1, 1));
  // The field of y is read from another place than that of x, and 1.0 is not 1: the division of ints is not theirs.
  CHECK(condition(*set, 0, 1) != condition(*set, 0, 0));
  CHECK(condition(*set, 1, 0) != condition(*set, 0, 1));
  const auto parts = [&](const plan::ExprPtr& expr) { return std::get<plan::Binary>(expr->node); };
  CHECK(parts(condition(*set, 0, 1)).left == parts(condition(*set, 1, 0)).left);
  CHECK(parts(parts(condition(*set, 0, 0)).left).right == parts(condition(*set, 0, 1)).right);
}

TEST_CASE("share: what is read of two places or of two events is not one") {
  const auto set =
      loaded("RULE r MATCH a AS n THEN a[x = n.x] AS b THEN a[x = b.x] AS c THEN a[x = prev(x)] WITHIN 1m");
  CHECK(condition(*set, 0, 1) != condition(*set, 0, 2));
  CHECK(condition(*set, 0, 2) != condition(*set, 0, 3));
}

TEST_CASE("share: lists of rules that are alike are one") {
  const std::string rest = "] THEN b[p > 2] WITHIN 1m EMIT u, b.p AS p DO alert('{p} of {u}'), log('x')\n";
  const auto set = loaded("RULE a KEY u MATCH a[p > 1" + rest + "RULE b KEY u MATCH a[p > 3" + rest);
  const plan::Rule& one = set->rules.at(0);
  const plan::Rule& other = set->rules.at(1);
  CHECK(one.key.is(other.key));
  CHECK(one.slots.is(other.slots));
  CHECK(one.pattern.steps.is(other.pattern.steps));
  CHECK(one.emit.is(other.emit));
  CHECK(one.actions.is(other.actions));
  CHECK(one.elements.at(0).test.key.is(other.elements.at(0).test.key));
  CHECK_FALSE(one.elements.at(0).test.key.is(one.elements.at(1).test.key));
  CHECK_FALSE(one.elements.at(0).test.conditions.is(other.elements.at(0).test.conditions));
  CHECK(one.elements.at(1).test.conditions.is(other.elements.at(1).test.conditions));
}

TEST_CASE("share: patterns that differ in one thing do not share their steps") {
  const auto set = loaded(
      "RULE a MATCH x THEN y WITHIN 1m\nRULE b MATCH x NEXT y WITHIN 1m\nRULE c MATCH x THEN WITHIN 5s y WITHIN 1m\n"
      "RULE d MATCH (x THEN y){2} WITHIN 1m\nRULE e MATCH (x THEN y){3} WITHIN 1m\n");
  for (std::size_t i = 0; i < set->rules.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) CHECK_FALSE(set->rules[i].pattern.steps.is(set->rules[k].pattern.steps));
  }
  CHECK(set->rules[0].slots.is(set->rules[1].slots));
}
