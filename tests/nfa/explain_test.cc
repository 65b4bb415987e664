#include "nfa/explain.h"

#include <doctest/doctest.h>

#include "tests/support/rules.h"

using namespace cepd;
using cepd::test::network_of;

namespace {

std::string dot(const std::string& pattern) { return nfa::explain_dot(*network_of("RULE r MATCH " + pattern), 0); }
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("explain: how partial matches are kept") {
  const auto evaluator = [](const std::string& rule) {
    const std::string text = nfa::explain(*test::network_of(rule), 0);
    const std::size_t begin = text.find("evaluator") + 14;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  CHECK(evaluator("RULE r MATCH a THEN b+ THEN c WITHIN 5s") ==
        "partial matches that nothing ahead tells apart move together");
  CHECK(evaluator("RULE r MATCH a THEN b WITHIN 5s ON TIMEOUT") ==
        "one partial match at a time: ON TIMEOUT asks for each first event");
  CHECK(evaluator("RULE r MATCH a THEN NOT b WITHIN 5s") ==
        "one partial match at a time: each first event has a deadline of its own");
  CHECK(evaluator("RULE r MATCH ((a OR b)+)+ THEN c WITHIN 5s") ==
        "one partial match at a time: several ways may bind the same events");
}

TEST_CASE("explain: what rules share is told once, with the rules") {
  const auto shared = [](const std::string& rules) { return nfa::explain_sharing(*test::network_of(rules)); };
  CHECK(shared("RULE p KEY u MATCH a THEN b WITHIN 5s RULE q KEY u MATCH a[x > 1] THEN b WITHIN 5s") ==
        "shared\n"
        "  one table for KEY u\n"
        "    2 rules: p, q\n\n");
  CHECK(shared("RULE p MATCH a[x = 1] THEN b THEN c WITHIN 5s "
               "RULE q MATCH a[x = 1] THEN b THEN d WITHIN 7s AFTER MATCH NO SKIP "
               "RULE r MATCH a[x = 1] THEN ANY b THEN d WITHIN 7s "
               "RULE s MATCH a[x = 2] THEN b THEN d WITHIN 7s") ==
        "shared\n"
        "  one copy of what waits after a[(tested.x = 1)]\n"
        "    3 rules: p, q, r\n"
        "  one copy of what waits after a[(tested.x = 1)] THEN b\n"
        "    2 rules: p, q\n\n");
  CHECK(shared("RULE p MATCH a THEN b WITHIN 5s RULE q MATCH b THEN a WITHIN 5s").empty());
}

TEST_CASE("explain dot: groups and the ways that exclude each other") {
  CHECK(dot("a THEN (b AS x THEN c? WITHIN 2s){2,3} THEN WITHIN 5s d WITHIN 1h UNLESS z") ==
        "digraph \"r\" {\n"
        "  label=\"r\\nWITHIN 1h\\nUNLESS z\";\n"
        "  rankdir=LR;\n"
        "  node [shape=box, style=rounded];\n"
        "  start [shape=point];\n"
        "  start -> s1 [label=\"a\"];\n"
        "  s1 [label=\"a\"];\n"
        "  s1 -> s2 [label=\"then b AS x\\ninto group 1\"];\n"
        "  s2 [label=\"b AS x\\nway 1 after at most 2 repeats of group 1\\nway 2 after 2 or more repeats of group "
        "1\"];\n"
        "  s2 -> s3 [label=\"then c\\nwithin 2s of the start of group 1\\nway 1, 2\"];\n"
        "  s2 -> s4 [label=\"then within 5s d\\nway 2\"];\n"
        "  s2 -> s2 [label=\"then b AS x\\nnext repeat of group 1\\nway 1\"];\n"
        "  s3 [label=\"c\\nway 1 after at most 2 repeats of group 1\\nway 2 after 2 or more repeats of group 1\"];\n"
        "  s3 -> s4 [label=\"then within 5s d\\nway 2\"];\n"
        "  s3 -> s2 [label=\"then b AS x\\nnext repeat of group 1\\nway 1\"];\n"
        "  s4 [label=\"d\", peripheries=2];\n"
        "}\n");
}

TEST_CASE("explain dot: AND takes its members one after the other") {
  const std::string text = dot("a AND (b OR c) THEN d WITHIN 1h");
  CHECK(has(text, "  s1 [label=\"a and (b or c)\"];\n"));
  CHECK(has(text, "  s1 -> s1 [label=\"another of them\"];\n"));
  CHECK(has(text, "  start -> s1 [label=\"b or c\"];\n"));
}

TEST_CASE("explain dot: branches of an OR") {
  const std::string text = dot("s THEN ((a THEN b) OR (c NEXT d)) WITHIN 1h");
  CHECK(has(text, "  s1 -> s2 [label=\"then a\\nway 1\"];\n"));
  CHECK(has(text, "  s1 -> s4 [label=\"then c\\nway 2\"];\n"));
  CHECK(has(text, "  s4 -> s5 [label=\"next d\"];\n"));
  CHECK(has(text, "  s3 [label=\"b\", peripheries=2];\n"));
  CHECK(has(text, "  s5 [label=\"d\", peripheries=2];\n"));
}

TEST_CASE("explain dot: repeats, NOT, absence and what a repeat ends with") {
  CHECK(has(dot("a THEN NOT x THEN (b+ WITHIN 2s) THEN c WITHIN 1h"),
            "  s2 -> s2 [label=\"b\\nwithin 2s of the start of group 1\"];\n"));
  CHECK(has(dot("a THEN NOT x THEN b WITHIN 1h"), "[label=\"then b\\n[not x]\"]"));
  CHECK(
      has(dot("a THEN NOT x WITHIN 1h"), "  s1 [label=\"a\\ncomplete when the time is up: not x\", peripheries=2];\n"));
  CHECK(has(dot("a NEXT NOT x WITHIN 1h"), "[label=\"a\\ncomplete at the very next event: next not x\", periph"));
  CHECK(has(dot("a THEN b* GREEDY UNTIL u"),
            "  s2 [label=\"b {1,} greedy until u\\ncomplete when the repeat ends\", peripheries=2];\n"));
}

TEST_CASE("explain dot: names of every kind") {
  CHECK(has(dot("`say \"hi\"` WITHIN 1h"), "  s1 [label=\"`say \\\"hi\\\"`\", peripheries=2];\n"));
  const std::string nameless = dot("a|b THEN a|b THEN * WITHIN 1h");
  CHECK_FALSE(has(nameless, " AS "));
  CHECK(has(nameless, "  s2 [label=\"a|b#2\"];\n"));
}
