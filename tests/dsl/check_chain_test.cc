#include "dsl/check_chain.h"

#include <doctest/doctest.h>

#include "tests/dsl/check_testing.h"

using namespace cepd;
using namespace cepd::dsl;

namespace {

/// "a1 b2": the rules' names with their levels.
std::string levels(const std::string& text) {
  std::string out;
  const auto set = loaded(text);
  for (const plan::Rule& rule : set->rules) {
    out += (out.empty() ? "" : " ") + rule.name + std::to_string(rule.level);
  }
  return out;
}

constexpr const char* kHint = " (no rule may read what it makes, not through other rules either)\n";

}  // namespace

TEST_CASE("levels: one more than the highest maker of a type that the rule reads") {
  CHECK(levels("RULE a MATCH x RULE b MATCH y") == "a1 b1");
  CHECK(levels("RULE a MATCH y RULE b MATCH x EMIT x.v INTO y") == "a2 b1");
  CHECK(levels("RULE c MATCH y EMIT y.v INTO z RULE b MATCH x EMIT x.v INTO y RULE a MATCH x | z") == "a3 b1 c2");
  // Two makers of one type: above the higher.
  CHECK(levels("RULE a MATCH x EMIT x.v INTO y RULE b MATCH y EMIT y.v INTO z RULE c MATCH x EMIT x.v INTO z "
               "RULE d MATCH z") == "a1 b2 c1 d3");
  CHECK(levels("RULE a MATCH x THEN w WITHIN 1m ON TIMEOUT EMIT x.v INTO y RULE b MATCH y") == "a1 b2");
}

TEST_CASE("levels: all that names a type reads it, `*` does not") {
  const std::string maker = "RULE m MATCH x EMIT x.v INTO y ";
  CHECK(levels(maker + "RULE r MATCH w THEN NOT y WITHIN 1m") == "m1 r2");
  CHECK(levels(maker + "RULE r MATCH w THEN w AS z WITHIN 1m UNLESS y") == "m1 r2");
  CHECK(levels(maker + "RULE r FROM w, y MATCH w") == "m1 r2");
  CHECK(levels(maker + "RULE r MATCH *") == "m1 r1");
  CHECK(levels(maker + "RULE r FROM * MATCH w") == "m1 r1");
}

TEST_CASE("levels: SHADOW rules count, DISABLED ones make nothing") {
  CHECK(levels("RULE m SHADOW MATCH x EMIT x.v INTO y RULE r MATCH y") == "m1 r2");
  CHECK(levels("RULE m DISABLED MATCH x EMIT x.v INTO y RULE r MATCH y") == "r1");
}

TEST_CASE("levels: many makers and many readers of one type, and a long chain") {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += "RULE m" + std::to_string(i) + " MATCH x EMIT x.v INTO y0\n";
    text += "RULE r" + std::to_string(i) + " MATCH y" + std::to_string(i) + " EMIT y" + std::to_string(i) +
            ".v INTO y" + std::to_string(i + 1) + "\n";
  }
  std::uint32_t highest = 0;
  const auto set = loaded(text);
  for (const plan::Rule& rule : set->rules) highest = std::max(highest, rule.level);
  CHECK(highest == 301);
}

TEST_CASE("cycles: a rule that reads what it makes") {
  CHECK(errors("RULE r MATCH x EMIT x.v INTO x") == std::string("`x`: the rule r reads x, which it makes") + kHint);
  CHECK(errors("RULE r MATCH x THEN NOT y WITHIN 1m EMIT x.v INTO y") ==
        std::string("`y`: the rule r reads y, which it makes") + kHint);
  CHECK(errors("RULE r MATCH x THEN z WITHIN 1m UNLESS y ON TIMEOUT EMIT x.v INTO y") ==
        std::string("`y`: the rule r reads y, which it makes") + kHint);
}

TEST_CASE("cycles: members are named with the places of their INTO") {
  CHECK(errors_of_files({"RULE a MATCH x EMIT x.v INTO y\n",
                         "RULE b\n  MATCH y EMIT y.v INTO z\nRULE c MATCH z EMIT z.v INTO x"}) ==
        std::string("`y`: these rules feed each other: a makes y for b, b (f2.rules:2:25) makes z for c, "
                    "c (f2.rules:3:30) makes x for a") +
            kHint);
}

TEST_CASE("cycles: each group of rules once, by its shortest cycle; what only reads from one is not named") {
  CHECK(errors("RULE a MATCH x EMIT x.v INTO y RULE b MATCH y EMIT y.v INTO z RULE c MATCH z EMIT z.v INTO x "
               "RULE d MATCH z EMIT z.v INTO y RULE e MATCH z RULE f MATCH q EMIT q.v INTO q") ==
        std::string("`y`: these rules feed each other: a makes y for b, b (f1.rules:1:61) makes z for c, "
                    "c (f1.rules:1:92) makes x for a") +
            kHint + "`q`: the rule f reads q, which it makes" + kHint);
}

TEST_CASE("cycles: through a SHADOW rule too, through a DISABLED one not") {
  CHECK(errors("RULE a MATCH x EMIT x.v INTO y RULE b SHADOW MATCH y EMIT y.v INTO x") != "");
  CHECK(errors("RULE a MATCH x EMIT x.v INTO y RULE b DISABLED MATCH y EMIT y.v INTO x") == "");
}

TEST_CASE("cycles: other mistakes are reported beside them, and no field is called unknown for them") {
  const std::string found = errors(
      "EVENT s (n int)\n"
      "RULE a MATCH x EMIT x.q AS v INTO y\n"
      "RULE b MATCH y EMIT y.p AS v INTO x\n"
      "RULE c MATCH s EMIT s.m\n");
  CHECK(found == std::string("`y`: these rules feed each other: a makes y for b, b (f1.rules:3:35) makes x for a") +
                     kHint + "`s.m`: s has no field m\n");
}
