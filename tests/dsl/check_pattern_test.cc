#include "dsl/check_pattern.h"

#include <doctest/doctest.h>

#include "dsl/plan_print.h"
#include "tests/dsl/check_testing.h"

using namespace cepd;
using namespace cepd::dsl;

namespace {

std::string pattern(const std::string& text) {
  const auto set = loaded("RULE r " + text);
  return print_pattern(set->rules.at(0), set->fields);
}

std::string names(const std::string& text) {
  std::string out;
  const auto set = loaded("RULE r MATCH " + text);
  for (const plan::Element& element : set->rules.at(0).elements) {
    out += (out.empty() ? "" : " ") + element.name;
  }
  return out;
}

}  // namespace

TEST_CASE("pattern: links, counts, NOT, WITHIN, UNLESS, KEY and BY stand in the plan") {
  CHECK(
      pattern(
          "KEY u, v MATCH a NEXT b{2,3} THEN ANY c | d BY w, v THEN NOT e THEN g? THEN * WITHIN 5m UNLESS f BY x, y") ==
      "rule r\n"
      "key u, v\n"
      "from * KEY u, v\n"
      "#0 a KEY u, v\n"
      "#1 NEXT b KEY u, v {2,3}\n"
      "#2 THEN ANY c | d KEY w, v\n"
      "#3 THEN NOT e KEY u, v\n"
      "#4 THEN g KEY u, v {0,1}\n"
      "#5 THEN * KEY u, v\n"
      "within 5m\n"
      "unless f KEY x, y\n");
}

TEST_CASE("pattern: quantifiers") {
  CHECK(pattern("MATCH a? THEN b+ THEN c* THEN d{4} THEN e{2,} THEN f{,3} WITHIN 1h") ==
        "rule r\n#0 a {0,1}\n#1 THEN b {1,}\n#2 THEN c {0,}\n#3 THEN d {4,4}\n#4 THEN e {2,}\n#5 THEN f {0,3}\n"
        "within 1h\n");
}

TEST_CASE("pattern: names of elements") {
  CHECK(names("a THEN b") == "a b");
  CHECK(names("a AS x THEN b") == "x b");
  CHECK(names("a THEN a") == "a#1 a#2");
  CHECK(names("a THEN b THEN a AS a THEN c") == "a#1 b a c");
  CHECK(names("a THEN NOT a THEN b") == "a a b");
  CHECK(names("a | b THEN *{2} THEN a") == "a|b#1 *#1 a");
  CHECK(names("b AS a THEN a THEN a") == "a a#1 a#2");
  CHECK(errors("RULE r MATCH a AS x THEN b AS x") ==
        "`x`: two elements are called x; the first stands at f1.rules:1:19\n");
  CHECK(errors("RULE r MATCH a THEN NOT b AS x THEN c AS x WITHIN 1m") ==
        "`x`: two elements are called x; the first stands at f1.rules:1:30\n");
}

TEST_CASE("pattern: what is not supported yet says so") {
  CHECK(errors("RULE r MATCH a OR b") == "`a OR b`: OR in a pattern is not supported yet\n");
  CHECK(errors("RULE r MATCH a AND b") == "`a AND b`: AND in a pattern is not supported yet\n");
  CHECK(errors("RULE r MATCH a THEN (b THEN c){2}") ==
        "`(b THEN c){2}`: a group in parentheses is not supported yet\n");
  CHECK(errors("RULE r MATCH a THEN NOT (b OR c) THEN d") ==
        "`NOT (b OR c)`: a group in parentheses is not supported yet\n");
  CHECK(errors("RULE r MATCH a THEN WITHIN 5s b") == "`5s`: WITHIN in a link is not supported yet\n");
  CHECK(errors("RULE r MATCH a NEXT AFTER 5s b") == "`5s`: AFTER in a link is not supported yet\n");
  CHECK(errors("RULE r MATCH a THEN b+ GREEDY") == "`GREEDY`: GREEDY is not supported yet\n");
  CHECK(errors("RULE r MATCH a THEN b+ CONSECUTIVE THEN c") == "`CONSECUTIVE`: CONSECUTIVE is not supported yet\n");
  CHECK(errors("RULE r MATCH a THEN b+ COMBINATIONS THEN c") == "`COMBINATIONS`: COMBINATIONS is not supported yet\n");
  CHECK(errors("RULE r MATCH a THEN b+ UNTIL x[f = 1] THEN c") == "`x[f = 1]`: UNTIL is not supported yet\n");
}

TEST_CASE("pattern: where NOT may stand") {
  CHECK(
      errors("RULE r MATCH NOT a THEN b") ==
      "`NOT a`: a pattern cannot begin with NOT (NOT speaks of the events after another element; UNLESS drops a match "
      "at any time)\n");
  CHECK(errors("RULE r MATCH a THEN NOT b") ==
        "`NOT b`: a NOT at the end needs to know for how long: the pattern has no WITHIN (write it like THEN NOT b "
        "WITHIN 5m)\n");
  CHECK(errors("RULE r MATCH a THEN NOT b WITHIN 5m") == "");
  CHECK(errors("RULE r MATCH a NEXT NOT b") == "");
  CHECK(errors("RULE r MATCH a THEN NOT b THEN c? WITHIN 5m") ==
        "`NOT b`: this NOT is followed only by elements that may be left out\n");
  CHECK(errors("RULE r MATCH a THEN NOT b THEN c? THEN d") == "");
  CHECK(errors("RULE r MATCH a THEN NOT b+ THEN c") ==
        "`+`: a NOT cannot be repeated (NOT means that no such event comes at all)\n");
  CHECK(errors("RULE r MATCH a THEN ANY NOT b THEN c") ==
        "`THEN ANY`: ANY says nothing before a NOT (write THEN NOT)\n");
}

TEST_CASE("pattern: it must match at least one event, and has a limit") {
  CHECK(errors("RULE r MATCH a? THEN b*") ==
        "`a? THEN b*`: the pattern could match no event at all (every element of it may be left out)\n");
  std::string most = "RULE r MATCH a";
  for (std::size_t i = 1; i < plan::kMaxElements; ++i) most += " THEN a";
  CHECK(errors(most) == "");
  CHECK(errors(most + "\nTHEN last") == "`last`: a pattern has at most 64 elements\n");
}

TEST_CASE("pattern: FROM must hold the types of the pattern, NOTs among them") {
  CHECK(pattern("FROM a[x = 1], b, c MATCH a NEXT b") ==
        "rule r\nfrom a [(tested.x = 1)]\nfrom b\nfrom c\n#0 a\n#1 NEXT b\n");
  CHECK(pattern("FROM * MATCH a NEXT b") == "rule r\nfrom *\n#0 a\n#1 NEXT b\n");
  CHECK(pattern("MATCH a NEXT *") == "rule r\nfrom *\n#0 a\n#1 NEXT *\n");
  CHECK(errors("RULE r FROM a MATCH a THEN NOT b THEN a") ==
        "`b`: b stands in the pattern and not in FROM: none would ever come (add it to FROM)\n");
  CHECK(errors("RULE r FROM a MATCH a UNLESS b") == "");
}

TEST_CASE("pattern: KEY and BY") {
  CHECK(errors("RULE r KEY u, u MATCH a") == "`u`: two fields of KEY are called u\n");
  CHECK(errors("RULE r MATCH a BY u") == "`a BY u`: BY says where KEY comes from, and the rule has no KEY\n");
  CHECK(errors("RULE r KEY u, v MATCH a THEN b BY w WITHIN 1m") ==
        "`b BY w`: BY needs as many fields as KEY: 2, not 1\n");
  CHECK(errors("EVENT a (u int) EVENT b (v int) RULE r KEY u MATCH a THEN b BY w WITHIN 1m") ==
        "`b BY w`: b has no field w\n");
  CHECK(errors("EVENT a (u int) EVENT b (v int) RULE r KEY u MATCH a THEN b BY v WITHIN 1m") == "");
}
