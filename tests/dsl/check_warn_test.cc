#include "dsl/check_warn.h"

#include <doctest/doctest.h>

#include "tests/dsl/check_testing.h"

using namespace cepd::dsl;

TEST_CASE("warnings: no bound from first to last event") {
  const std::string message =
      "`: the pattern has no WITHIN: what has begun waits for ever, or as long as the state TTL "
      "says (write it like WITHIN 5m)\n";
  CHECK(warnings("RULE r MATCH a THEN b") == "`a THEN b" + message);
  CHECK(warnings("RULE r MATCH a{3}") == "`a{3}" + message);
  CHECK(warnings("RULE r MATCH a NEXT NOT b") == "`a NEXT NOT b" + message);
  CHECK(warnings("RULE r MATCH a THEN b WITHIN 1m") == "");
  CHECK(warnings("RULE r MATCH a") == "");
}

TEST_CASE("warnings: a last element whose shortest match is the one reported") {
  CHECK(warnings("RULE r MATCH a THEN b+ WITHIN 1m") ==
        "`b+`: the rule completes at the 1st b, and longer matches are dropped (AFTER MATCH NO SKIP reports every one, "
        "{n} takes a fixed number)\n");
  CHECK(warnings("RULE r MATCH a THEN b{3,5} WITHIN 1m AFTER MATCH SKIP PAST LAST") ==
        "`b{3,5}`: the rule completes at the 3rd b, and longer matches are dropped (AFTER MATCH NO SKIP reports every "
        "one, {n} takes a fixed number)\n");
  CHECK(warnings("RULE r MATCH a THEN b{12,} WITHIN 1m") ==
        "`b{12,}`: the rule completes at the 12th b, and longer matches are dropped (AFTER MATCH NO SKIP reports every "
        "one, {n} takes a fixed number)\n");
  for (const char* optional : {"b*", "b?", "b{,3}"}) {
    CHECK(warnings("RULE r MATCH a THEN " + std::string(optional) + " WITHIN 1m") ==
          "`" + std::string(optional) +
              "`: the rule completes without b, and the match without it is the one reported (AFTER MATCH NO SKIP "
              "reports every one)\n");
  }
  CHECK(warnings("RULE r MATCH a THEN ANY b WITHIN 1m") ==
        "`b`: the rule completes at the first b, and its matches with later ones are dropped: ANY makes no difference "
        "(AFTER MATCH NO SKIP reports every one)\n");
  CHECK(warnings("RULE r MATCH a THEN b+ WITHIN 1m AFTER MATCH NO SKIP") == "");
  CHECK(warnings("RULE r MATCH a THEN ANY b WITHIN 1m AFTER MATCH NO SKIP") == "");
  CHECK(warnings("RULE r MATCH a THEN b+ THEN c WITHIN 1m") == "");
  CHECK(warnings("RULE r MATCH a THEN b{3} WITHIN 1m") == "");
  CHECK(warnings("RULE r MATCH a THEN b+ THEN NOT c WITHIN 1m") == "");
}

TEST_CASE("warnings: a NOT that can never count") {
  CHECK(warnings("RULE r MATCH a THEN NOT b NEXT c WITHIN 1m") ==
        "`NOT b`: this NOT never counts: c is the very next event, and nothing stands between\n");
  CHECK(warnings("RULE r MATCH a NEXT NOT b NEXT c WITHIN 1m") == "");
  CHECK(warnings("RULE r MATCH a THEN NOT b THEN c WITHIN 1m") == "");
}

TEST_CASE("warnings: names that hide declared fields") {
  CHECK(
      warnings("EVENT cart (price double) EVENT pay (amount double) RULE r MATCH cart AS amount THEN pay WITHIN 1m") ==
      "`amount`: the element amount hides the field amount of pay in paths (write this.amount for the field, or name "
      "the element with AS)\n");
}

TEST_CASE("warnings: events joined by a field in a rule without KEY") {
  const std::string message =
      "`: events are joined by u, and the rule has no KEY: every event is tried with every other "
      "(write KEY u)\n";
  CHECK(warnings("RULE r MATCH a THEN b WITHIN 1m WHERE b.u = a.u") == "`b.u = a.u" + message);
  CHECK(warnings("RULE r MATCH a THEN b[x = 1 AND u = a.u] WITHIN 1m") == "`x = 1 AND u = a.u" + message);
  CHECK(warnings("RULE r KEY u MATCH a THEN b WITHIN 1m WHERE b.v = a.v") == "");
  CHECK(warnings("RULE r MATCH a THEN b WITHIN 1m WHERE b.u = a.v") == "");
  CHECK(warnings("RULE r MATCH a THEN b[u = prev(u)] WITHIN 1m") == "");
}
