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

/// The tree of the pattern as the plan prints it.
std::string tree(const std::string& text) {
  std::string out = pattern("MATCH " + text);
  out.erase(0, out.find("\npattern ") + 9);
  return out.substr(0, out.find('\n'));
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
      "#1 b KEY u, v\n"
      "#2 c | d KEY w, v\n"
      "#3 NOT e KEY u, v\n"
      "#4 g KEY u, v\n"
      "#5 * KEY u, v\n"
      "pattern #0 NEXT #1{2,3} THEN ANY #2 THEN NOT #3 THEN #4{0,1} THEN #5\n"
      "within 5m\n"
      "unless f KEY x, y\n");
}

TEST_CASE("pattern: quantifiers") {
  CHECK(tree("a? THEN b+ THEN c* THEN d{4} THEN e{2,} THEN f{,3}") ==
        "#0{0,1} THEN #1{1,} THEN #2{0,} THEN #3{4,4} THEN #4{2,} THEN #5{0,3}");
  CHECK(tree("a+ CONSECUTIVE THEN b{2} COMBINATIONS THEN c+ GREEDY UNTIL d[x > 1] THEN e") ==
        "#0{1,} CONSECUTIVE THEN #1{2,2} COMBINATIONS THEN #2{1,} GREEDY UNTIL #3 THEN #4");
}

TEST_CASE("pattern: bounds of links") {
  CHECK(tree("a THEN WITHIN 5s b NEXT AFTER 1s WITHIN 3s c THEN ANY AFTER 1s d THEN WITHIN 2s NOT e") ==
        "#0 THEN WITHIN 5s #1 NEXT WITHIN 3s AFTER 1s #2 THEN ANY AFTER 1s #3 THEN WITHIN 2s NOT #4");
  CHECK(errors("RULE r MATCH a THEN WITHIN 1s AFTER 2s b") ==
        "`THEN WITHIN 1s AFTER 2s`: no event can come at most 1s and at least 2s after the one before\n");
}

TEST_CASE("pattern: OR of single elements is one slot, every other OR a choice of branches") {
  CHECK(tree("a OR b THEN c") == "(#0 OR #1) THEN #2");
  CHECK(tree("a THEN ((b OR c) OR d)+ THEN e") == "#0 THEN (#1 OR #2 OR #3){1,} THEN #4");
  CHECK(tree("(a)+ THEN b") == "#0{1,} THEN #1");
  CHECK(tree("a THEN ((b THEN c) OR d OR e) THEN f") == "#0 THEN (#1 THEN #2 OR (#3 OR #4)) THEN #5");
  CHECK(tree("a THEN (b+ OR c) THEN d") == "#0 THEN (#1{1,} OR #2) THEN #3");
  CHECK(tree("(a OR b[x = 1]) AS one THEN c") == "#0 THEN #1");
  CHECK(names("(a OR b[x = 1]) AS one THEN c") == "one c");
  CHECK(errors("RULE r MATCH (a AS x OR b) AS one THEN c") ==
        "`x`: x stands in a group that is called one: an event has one name (leave one of the names out)\n");
  CHECK(errors("RULE r MATCH a OR NOT b") ==
        "`NOT b`: NOT cannot stand in an OR (say UNLESS for an event that must not come)\n");
}

TEST_CASE("pattern: AND joins two to eight single elements") {
  CHECK(tree("a THEN b AND c THEN d") == "#0 THEN #1 AND #2 THEN #3");
  CHECK(tree("a AND (b OR c) OR d") == "(#0 AND (#1 OR #2) OR #3)");
  CHECK(errors("RULE r MATCH a AND b+") == "`+`: a member of an AND is one event and cannot be repeated\n");
  CHECK(errors("RULE r MATCH a AND NOT b") ==
        "`NOT b`: NOT cannot stand in an AND (say UNLESS for an event that must not come)\n");
  CHECK(errors("RULE r MATCH a AND (b THEN c)") ==
        "`(b THEN c)`: AND joins single elements: a type with its condition, or an OR of such (write the sequence with "
        "THEN)\n");
  CHECK(errors("RULE r MATCH a AND b AND c AND d AND e AND f AND g AND h AND i") ==
        "`a AND b AND c AND d AND e AND f AND g AND h AND i`: AND joins at most eight elements, not 9\n");
}

TEST_CASE("pattern: groups that only bracket are no groups") {
  CHECK(tree("a THEN (b THEN c) THEN d") == "#0 THEN #1 THEN #2 THEN #3");
  CHECK(tree("a NEXT (b THEN c){1} THEN d") == "#0 NEXT #1 THEN #2 THEN #3");
  CHECK(tree("a THEN (b THEN c WITHIN 5s) THEN d") == "#0 THEN (#1 THEN #2 WITHIN 5s) THEN #3");
  CHECK(tree("a THEN (b THEN c){2,} CONSECUTIVE THEN d") == "#0 THEN (#1 THEN #2){2,} CONSECUTIVE THEN #3");
  CHECK(errors("RULE r MATCH a THEN (b THEN c){2} AS x THEN d") ==
        "`x`: a group has no name of its own (name its elements)\n");
  CHECK(errors("RULE r MATCH a THEN (b THEN c){2} GREEDY THEN d") ==
        "`GREEDY`: GREEDY stands on a single element or an OR of such, not on a group\n");
  CHECK(errors("RULE r MATCH a THEN (b THEN c){2} UNTIL x THEN d") ==
        "`x`: UNTIL stands on a single element (say UNLESS for an event that ends the whole match)\n");
  std::string ways = "RULE r MATCH a";
  for (int i = 0; i < 7; ++i) ways += " THEN ((b? THEN c?) OR d? OR (e? THEN f?))";
  CHECK(
      errors(ways + " THEN g").find("the pattern has too many ways to go on from one place: at most 64 are possible") !=
      std::string::npos);
}

TEST_CASE("pattern: GREEDY") {
  CHECK(errors("RULE r MATCH a THEN b+ GREEDY") ==
        "`GREEDY`: nothing ends this GREEDY repeat, so that the rule would never complete (give the pattern a WITHIN, "
        "the "
        "repeat an UNTIL or a greatest number)\n");
  CHECK(errors("RULE r MATCH a THEN b{1,3} GREEDY") == "");
  CHECK(errors("RULE r MATCH a THEN b+ GREEDY WITHIN 5m") == "");
  CHECK(errors("RULE r MATCH a THEN b+ GREEDY CONSECUTIVE") == "");
  CHECK(errors("RULE r MATCH a THEN b+ GREEDY UNTIL c") == "");
  CHECK(errors("RULE r MATCH a THEN b+ GREEDY COMBINATIONS THEN c") ==
        "`GREEDY COMBINATIONS`: GREEDY and COMBINATIONS exclude each other (GREEDY takes every event, COMBINATIONS may "
        "leave each of them out)\n");
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
  CHECK(errors("RULE r MATCH a THEN WITHIN 5m NOT b") == "");
  CHECK(errors("RULE r MATCH a THEN AFTER 5m NOT b THEN c") ==
        "`5m`: AFTER says nothing before a NOT (write AFTER in the link to the element that follows)\n");
  CHECK(errors("RULE r MATCH a NEXT WITHIN 5m NOT b THEN c") ==
        "`5m`: a NEXT NOT looks at the very next event, whenever it comes (write THEN WITHIN … NOT for all events of "
        "that "
        "time)\n");
  CHECK(tree("a THEN NOT (b OR c[x = 1]) THEN d") == "#0 THEN NOT #1 THEN NOT #2 THEN #3");
  CHECK(
      errors("RULE r MATCH a THEN NOT (b THEN c) THEN d") ==
      "`NOT (b THEN c)`: NOT takes a type, types joined by |, or an OR of such in parentheses (say UNLESS, or one NOT "
      "for each type)\n");
  // Parentheses are taken away.
  CHECK(
      errors("RULE r MATCH (NOT a THEN b) THEN c") ==
      "`NOT a`: a pattern cannot begin with NOT (NOT speaks of the events after another element; UNLESS drops a match "
      "at any time)\n");
  CHECK(tree("a THEN (NOT b THEN c) THEN d") == "#0 THEN NOT #1 THEN #2 THEN #3");
  CHECK(errors("RULE r MATCH a THEN (NOT b THEN c){2} THEN d") ==
        "`NOT b`: a repeated or optional group cannot begin with NOT (write the NOT before the group)\n");
  CHECK(errors("RULE r MATCH (a THEN NOT b){2} THEN c") == "");
  CHECK(errors("RULE r MATCH (a THEN NOT b){2}") ==
        "`NOT b`: a NOT at the end needs to know for how long: the pattern has no WITHIN (write it like THEN NOT b "
        "WITHIN 5m)\n");
  CHECK(errors("RULE r MATCH a THEN ((b THEN NOT c) OR d) WITHIN 5m") == "");
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
        "rule r\nfrom a [(tested.x = 1)]\nfrom b\nfrom c\n#0 a\n#1 b\npattern #0 NEXT #1\n");
  CHECK(pattern("FROM * MATCH a NEXT b") == "rule r\nfrom *\n#0 a\n#1 b\npattern #0 NEXT #1\n");
  CHECK(pattern("MATCH a NEXT *") == "rule r\nfrom *\n#0 a\n#1 *\npattern #0 NEXT #1\n");
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
