#include "nfa/prefixes.h"

#include <doctest/doctest.h>

#include "tests/support/rules.h"

using namespace cepd;
using nfa::Prefix;
using nfa::Prefixes;
using test::network_of;

namespace {

/// How many events the prefix of the one rule has.
std::size_t length(const std::string& rule) { return Prefixes(*network_of("RULE r " + rule), {}).all().size(); }

bool same(const std::string& a, const std::string& b) {
  const Prefixes prefixes(*network_of("RULE a " + a + " RULE b " + b), {});
  return prefixes.of_rule(0) != Prefix::kNone && prefixes.of_rule(0) == prefixes.of_rule(1);
}

}  // namespace

TEST_CASE("prefixes: a prefix ends where partial matches are told apart") {
  CHECK(length("MATCH a THEN b WITHIN 5s") == 1);
  CHECK(length("MATCH a THEN b THEN ANY c WITHIN 5s") == 2);
  CHECK(length("MATCH a THEN b THEN c? THEN d WITHIN 5s") == 2);
  CHECK(length("MATCH a THEN b OR c WITHIN 5s") == 1);
  CHECK(length("MATCH a WITHIN 5s") == 0);
  CHECK(length("MATCH a THEN b") == 0);
  CHECK(length("MATCH a AS x THEN b[v > x.v] WITHIN 5s") == 0);
  CHECK(length("MATCH a THEN b AS x THEN c[v > x.v] WITHIN 5s") == 1);
  CHECK(length("MATCH a THEN b NEXT c WITHIN 5s") == 1);
  CHECK(length("MATCH a THEN b THEN WITHIN 1s c WITHIN 5s") == 1);
  CHECK(length("MATCH a THEN b THEN NOT d THEN c WITHIN 5s") == 1);
  CHECK(length("MATCH a+ THEN b WITHIN 5s") == 0);
  CHECK(length("MATCH a AND b THEN c WITHIN 5s") == 0);
  CHECK(length("MATCH a OR b THEN c WITHIN 5s") == 0);
  CHECK(length("MATCH a? THEN b WITHIN 5s") == 0);
  CHECK(length("MATCH * THEN b WITHIN 5s") == 0);
  CHECK(length("MATCH a THEN b WITHIN 5s UNLESS c") == 0);
  CHECK(length("FROM a, b MATCH a THEN b WITHIN 5s") == 0);
  CHECK(length("MATCH a THEN b WITHIN 5s ON TIMEOUT") == 0);
  CHECK(length("MATCH a THEN (b THEN c){2} WITHIN 5s") == 1);
}

TEST_CASE("prefixes: what is equal is one, whatever the rules do with it") {
  const std::string rule = "KEY u MATCH a[x = 1] THEN b WITHIN 5s";
  CHECK(same(rule, rule));
  CHECK(same(rule, "KEY u MATCH a[x = 1] AS other THEN c[y > 2] WITHIN 9s AFTER MATCH NO SKIP LIMIT 1 PER 1h"));
  CHECK_FALSE(same(rule, "KEY u MATCH a[x = 2] THEN b WITHIN 5s"));
  CHECK_FALSE(same(rule, "KEY v MATCH a[x = 1] THEN b WITHIN 5s"));
  CHECK_FALSE(same(rule, "MATCH a[x = 1] THEN b WITHIN 5s"));
  CHECK_FALSE(same(rule, "SHADOW KEY u MATCH a[x = 1] THEN b WITHIN 5s"));

  const Prefixes prefixes(*network_of("RULE p MATCH a THEN b THEN c WITHIN 5s RULE q MATCH a THEN b THEN d WITHIN 9s "
                                      "RULE r MATCH a THEN ANY b THEN d WITHIN 7s"),
                          {});
  REQUIRE(prefixes.all().size() == 3);
  const Prefix& first = prefixes[0];
  CHECK(first.parent == Prefix::kNone);
  CHECK(first.rules.empty());
  CHECK(first.prefixes == std::vector<std::uint32_t>{1, 2});
  CHECK(first.within == std::chrono::seconds(9));
  CHECK(prefixes[1].rules == std::vector<std::uint32_t>{0, 1});
  CHECK(prefixes[1].parent == 0);
  CHECK_FALSE(prefixes[1].any);
  CHECK(prefixes[2].any);
  CHECK(prefixes[1].root == 0);
}

TEST_CASE("prefixes: an identity is that of the partial matches") {
  const auto identity = [](const std::string& rules) { return Prefixes(*network_of(rules), {})[0].identity; };
  const MatchId one = identity("RULE p KEY u MATCH a[x = 1] THEN b WITHIN 5s");
  CHECK(one == identity("RULE o MATCH z THEN a RULE q KEY u MATCH a[x = 1] THEN c WITHIN 6s"));
  CHECK(one != identity("RULE p KEY u MATCH a[x = 2] THEN b WITHIN 5s"));
  CHECK(one != identity("RULE p KEY u MATCH a BY v [x = 1] THEN b WITHIN 5s"));
}
