#include "nfa/chain_text.h"

#include "tests/support/rules.h"

using namespace cepd;

TEST_CASE("explain: level, what a rule reads from and who reads it") {
  const auto network = test::network_of(
      "RULE a KEY k MATCH e THEN f WITHIN 1m EMIT e.n AS n INTO low ON TIMEOUT EMIT e.n AS n INTO late\n"
      "RULE b SHADOW MATCH e EMIT e.n AS n INTO low\n"
      "RULE c MATCH low | e AS x EMIT x.n AS n INTO high\n"
      "RULE d SHADOW MATCH low THEN high WITHIN 1m\n"
      "RULE e MATCH e\n");
  const auto text = [&](std::size_t rule) { return nfa::chain_text(*network, rule); };
  CHECK(text(0) ==
        "  level         1\n"
        "  makes         low, read by c, d\n"
        "  on time-out   late, read by no rule\n");
  CHECK(text(1) ==
        "  level         1\n"
        "  makes         low, read by d\n");
  CHECK(text(2) ==
        "  level         2\n"
        "  reads         low, made by a\n"
        "  makes         high, read by d\n");
  CHECK(text(3) ==
        "  level         3\n"
        "  reads         high, made by c\n"
        "  reads         low, made by a, b\n");
  CHECK(text(4) == "  level         1\n");
}

TEST_CASE("explain: of many makers and readers the first few are named") {
  std::string text;
  for (int i = 10; i < 40; ++i) {
    text += "RULE m" + std::to_string(i) + " MATCH e EMIT e.n AS n INTO low\n";
    text += "RULE r" + std::to_string(i) + " MATCH low[n > " + std::to_string(i) + "]\n";
  }
  const auto network = test::network_of(text);
  const std::string reader = nfa::chain_text(*network, 30);
  CHECK(reader.starts_with("  level         2\n  reads         low, made by m10, m11, m12, "));
  CHECK(reader.ends_with(", m32, m33 and 6 more\n"));
  const std::string maker = nfa::chain_text(*network, 0);
  CHECK(maker.ends_with(", r32, r33 and 6 more\n"));
}
