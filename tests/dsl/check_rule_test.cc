#include "dsl/check_rule.h"

#include <doctest/doctest.h>

#include "dsl/plan_print.h"
#include "tests/dsl/check_testing.h"

using namespace cepd;
using namespace cepd::dsl;

namespace {

std::string items(const List<plan::Item>& list) {
  std::string out;
  for (const plan::Item& item : list) out += item.name + ": " + print(*item.value) + "\n";
  return out;
}

/// Of the one rule.
std::string meaning_of(const std::string& text) {
  const auto set = loaded(text);
  return meaning(set->rules.at(0), set->fields);
}

std::string emit(const std::string& text) { return items(loaded("RULE r " + text)->rules.at(0).emit); }

}  // namespace

TEST_CASE("HAVING: one condition on the complete match") {
  const auto set = loaded("RULE r MATCH a THEN b WITHIN 1m HAVING b.x > 1 AND a.x > 2");
  REQUIRE(set->rules[0].having.size() == 1);
  CHECK(print(*set->rules[0].having[0]) == "((#1.x > 1) AND (#0.x > 2))");
  CHECK(errors("RULE r MATCH a HAVING a.x + 1") == "`a.x + 1`: expected a condition, and this is a number\n");
}

TEST_CASE("EMIT: names of items") {
  CHECK(emit("KEY u MATCH a AS x EMIT u, x.item, x.p.q, x[0].z, x.n + 1 AS n, count(x) AS many") ==
        "u: key0\nitem: #0.item\nq: #0.p.q\nz: #0[0].z\nn: (#0.n + 1)\nmany: count(#0)\n");
  CHECK(emit("KEY u, dev.id MATCH a") == "u: key0\nid: key1\n");
  CHECK(emit("KEY src.id, dst.id MATCH a") == "src.id: key0\ndst.id: key1\n");
  CHECK(emit("MATCH a") == "");
  CHECK(errors("RULE r MATCH a EMIT a.x + 1") ==
        "`a.x + 1`: an expression in EMIT needs a name (write a.x + 1 AS name)\n");
  CHECK(errors("RULE r MATCH a EMIT a.tags[0]") ==
        "`a.tags[0]`: an expression in EMIT needs a name (write a.tags[0] AS name)\n");
  CHECK(errors("RULE r MATCH a EMIT a.x, a.y AS x") == "`x`: two items of EMIT are called x\n");
  CHECK(errors("RULE r MATCH a EMIT a.x, a.y.x") ==
        "`a.y.x`: two items of EMIT are called x (give one a name with AS)\n");
}

TEST_CASE("EMIT: an item named as a key field must be that field") {
  CHECK(errors("RULE r KEY u MATCH a THEN b BY w WITHIN 1m EMIT u") == "");
  CHECK(errors("RULE r KEY u MATCH a THEN b BY w WITHIN 1m EMIT a.u") == "");
  CHECK(errors("RULE r KEY u MATCH a THEN b BY w WITHIN 1m EMIT b.w AS u") == "");
  CHECK(errors("RULE r KEY u MATCH a THEN b BY w WITHIN 1m EMIT b.u") ==
        "`b.u`: an item called u must be the key field u (give it another name with AS)\n");
  CHECK(errors("RULE r KEY u MATCH a EMIT count(a) AS u") ==
        "`u`: an item called u must be the key field u (give it another name)\n");
}

TEST_CASE("LIMIT, LABELS") {
  const auto set = loaded("CONST team = 'x' RULE r MATCH a LIMIT 3 PER 1h LABELS team: $team, level: -3, on: true");
  const plan::Rule& rule = set->rules[0];
  REQUIRE(rule.limit);
  CHECK(rule.limit->count == 3);
  CHECK(rule.limit->per == std::chrono::hours(1));
  CHECK(items(rule.labels) == "team: \"x\"\nlevel: -3\non: true\n");
  CHECK(errors("RULE r MATCH a LABELS x: 1, x: 2") == "`x`: two labels are called x\n");
}

TEST_CASE("AFTER MATCH: policies") {
  const auto policy = [](const std::string& text) {
    return loaded("RULE r MATCH a THEN b{2} THEN c WITHIN 1m AFTER MATCH " + text)->rules.at(0);
  };
  CHECK(loaded("RULE r MATCH a")->rules[0].policy == plan::Policy::kConsume);
  CHECK(policy("CONSUME").policy == plan::Policy::kConsume);
  CHECK(policy("NO SKIP").policy == plan::Policy::kNoSkip);
  CHECK(policy("SKIP PAST LAST").policy == plan::Policy::kSkipPastLast);
  CHECK(policy("SKIP TO NEXT").policy == plan::Policy::kSkipToNext);
  CHECK(policy("SKIP TO FIRST b").policy == plan::Policy::kSkipToFirst);
  CHECK(policy("SKIP TO LAST c").policy == plan::Policy::kSkipToLast);
  CHECK(policy("SKIP TO LAST c").policy_element == plan::ElementId{2});
}

TEST_CASE("AFTER MATCH: SKIP TO an element that is always bound and never the first event") {
  const auto mistakes = [](const std::string& pattern, const std::string& to) {
    return errors("RULE r MATCH " + pattern + " WITHIN 1m AFTER MATCH SKIP TO " + to);
  };
  const std::string first =
      " may be the first event of the match, and skipping to it would drop nothing (SKIP TO NEXT "
      "drops what started on that event)\n";
  CHECK(mistakes("alpha THEN beta", "FIRST btea") == "`btea`: unknown element btea (did you mean beta?)\n");
  CHECK(mistakes("a THEN b? THEN c", "LAST b") ==
        "`b`: b may be bound to nothing, and there would be nothing to skip to\n");
  CHECK(mistakes("a THEN NOT b AS x THEN c", "LAST x") == "`x`: x is a NOT: no event is ever bound to it\n");
  CHECK(mistakes("a THEN b", "FIRST a") == "`a`: the first a" + first);
  CHECK(mistakes("a+ THEN b", "LAST a") == "`a`: the last a" + first);
  CHECK(mistakes("a{2,} THEN b", "LAST a") == "");
  CHECK(mistakes("a{2,} THEN b", "FIRST a") == "`a`: the first a" + first);
  CHECK(mistakes("a? THEN b THEN c", "FIRST b") == "`b`: the first b" + first);
  CHECK(mistakes("a? THEN b THEN c", "FIRST c") == "");
}

TEST_CASE("ON TIMEOUT: its own items, or the key") {
  const auto set =
      loaded("RULE r KEY u MATCH a THEN b WITHIN 1m EMIT b.x ON TIMEOUT EMIT a.x AS first, u DO log('{first}')");
  const auto& timeout = set->rules[0].on_timeout;
  REQUIRE(timeout);
  CHECK(items(timeout->emit) == "first: #0.x\nu: key0\n");
  CHECK(print(*timeout->actions.at(0).arguments.at(0).value) == "template(emit0)");
  const auto bare = loaded("RULE r KEY u MATCH a THEN b WITHIN 1m EMIT b.x ON TIMEOUT DO log('late')");
  CHECK(items(bare->rules[0].on_timeout->emit) == "u: key0\n");
  CHECK(errors("RULE r MATCH a THEN b ON TIMEOUT DO log('late')") ==
        "`ON TIMEOUT DO log('late')`: ON TIMEOUT needs a bound: the pattern has no WITHIN\n");
}

TEST_CASE("rule: canonical text, where it is asked for") {
  const Parsed parsed = parse("f.rules", "rule s match c\nrule r match a then b within 1m");
  const auto texts = check({parsed.file}, {test_actions(), true}, nullptr).rules->texts;
  REQUIRE(texts.size() == 2);
  CHECK(texts[0] == "RULE r\n  MATCH   a THEN b WITHIN 1m");
  CHECK(texts[1] == "RULE s\n  MATCH   c");
  CHECK(check({parsed.file}, {test_actions()}, nullptr).rules->texts.empty());
}

TEST_CASE("meaning: what decides the matches, constants filled in, names of elements left out") {
  const auto print_of = [](const std::string& text) { return meaning_of("RULE r " + text); };
  CHECK(print_of("KEY u MATCH a AS x THEN b[p > 1] AS y WITHIN 1m WHERE y.q = x.q EMIT x.z") ==
        "rule r\nkey u\n#0 a KEY u\n#1 b KEY u [(tested.p > 1)] [(tested.q = #0.q)]\npattern #0 THEN #1\nwithin 1m\n"
        "reads a.q\nreads a.u\nreads a.z\nreads b.p\nreads b.q\nreads b.u\n");
  const std::string base = print_of("MATCH a THEN b WITHIN 1m EMIT a.x");
  CHECK(print_of("MATCH a AS one THEN b AS two WITHIN 60s EMIT one.x LIMIT 1 PER 1h DO log('hello')") == base);
  CHECK(print_of("MATCH a THEN b WITHIN 1m HAVING a.x > 3 EMIT a.x") == base);
  CHECK(print_of("MATCH a THEN b WITHIN 2m EMIT a.x") != base);
  CHECK(print_of("MATCH a THEN b WITHIN 1m EMIT a.y") != base);
  CHECK(print_of("MATCH a NEXT b WITHIN 1m EMIT a.x") != base);
  CHECK(print_of("MATCH a THEN b WITHIN 1m AFTER MATCH NO SKIP EMIT a.x") != base);
  const auto constant = [](const std::string& value) {
    return meaning_of("CONST c = " + value + " RULE r MATCH a[x > $c]");
  };
  CHECK(constant("1") != constant("2"));
}

TEST_CASE("meaning: a rule over any type does not change with the other rules") {
  const auto alone = loaded("RULE r MATCH *[x = 1]");
  const auto beside = loaded("RULE r MATCH *[x = 1] RULE s MATCH other[y = 1]");
  CHECK(meaning(alone->rules[0], alone->fields) == "rule r\nfrom *\n#0 * [(tested.x = 1)]\npattern #0\nreads *.x\n");
  CHECK(beside->rules[0].fingerprint == alone->rules[0].fingerprint);
}

TEST_CASE("fingerprint: as the meaning") {
  const auto of = [](const std::string& text) { return loaded("RULE r " + text)->rules.at(0).fingerprint; };
  CHECK(of("MATCH a THEN b WITHIN 60s") == of("MATCH a AS x THEN b WITHIN 1m LIMIT 1 PER 1h"));
  CHECK(of("MATCH a THEN b WITHIN 61s") != of("MATCH a THEN b WITHIN 1m"));
}
