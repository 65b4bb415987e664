#include "dsl/check_warn.h"

#include <doctest/doctest.h>

#include "tests/dsl/check_testing.h"

using namespace cepd::dsl;

namespace {

/// The warnings of a rule `RULE r` with this text, without that about a missing WITHIN.
std::string doubts(const std::string& text) {
  std::string out;
  std::string rest = warnings("RULE r " + text);
  while (!rest.empty()) {
    const std::string line = rest.substr(0, rest.find('\n') + 1);
    rest.erase(0, line.size());
    if (line.find("the pattern has no WITHIN") == std::string::npos) out += line;
  }
  return out;
}

}  // namespace

// ---- no bound ----

TEST_CASE("warnings: no bound from first to last event, and what waits") {
  const auto waits = [](const std::string& where, const std::string& what) {
    return "`" + where + "`: the pattern has no WITHIN: what has begun waits for " + what +
           " for ever, or as long as the state TTL says (end the pattern with a bound, like WITHIN 5m)\n";
  };
  CHECK(warnings("RULE r MATCH a THEN b") == waits("b", "b"));
  CHECK(warnings("RULE r MATCH a{3}") == waits("a{3}", "more a"));
  CHECK(warnings("RULE r MATCH a NEXT NOT b") == waits("NOT b", "the very next event"));
  CHECK(warnings("RULE r MATCH a AND b") == waits("a AND b", "all of a AND b"));
  CHECK(warnings("RULE r MATCH a THEN WITHIN 5m b THEN c") == waits("c", "c"));
  CHECK(warnings("RULE r MATCH (a THEN b WITHIN 5m) THEN (c THEN d WITHIN 5m)") ==
        waits("(c THEN d WITHIN 5m)", "`(c THEN d WITHIN 5m)`"));
  CHECK(warnings("RULE r MATCH a THEN WITHIN 1m (b? THEN c WITHIN 5m)") == waits("c", "c"));
  CHECK(warnings("RULE r MATCH (a THEN b WITHIN 5m){2} THEN WITHIN 1m c") ==
        waits("(a THEN b WITHIN 5m){2}", "more `(a THEN b WITHIN 5m){2}`"));
  CHECK(warnings("RULE r MATCH a OR (b THEN c)") == waits("c", "c"));
  CHECK(warnings("RULE r MATCH a THEN b WITHIN 1m") == "");
  CHECK(warnings("RULE r MATCH a THEN WITHIN 1m b") == "");
  CHECK(warnings("RULE r MATCH (a THEN NOT x THEN b WITHIN 5m)? THEN WITHIN 1m c") == "");
  CHECK(warnings("RULE r MATCH a THEN WITHIN 30m NOT b") == "");
  CHECK(warnings("RULE r MATCH a") == "");
}

// ---- early ends ----

TEST_CASE("warnings: a last element whose shortest match is the one reported") {
  const std::string longer = ", and longer matches are dropped (";
  const std::string every = "AFTER MATCH NO SKIP reports every one)\n";
  const std::string fixed = "{n} takes a fixed number, " + every;
  const std::string greedy = "GREEDY waits for all of them, ";
  CHECK(doubts("MATCH a THEN b+ WITHIN 1m") == "`b+`: the rule completes at the 1st b" + longer + greedy + fixed);
  CHECK(doubts("MATCH a THEN b{3,5} WITHIN 1m AFTER MATCH SKIP PAST LAST") ==
        "`b{3,5}`: the rule completes at the 3rd b" + longer + greedy + fixed);
  CHECK(doubts("MATCH a THEN b{12,}") == "`b{12,}`: the rule completes at the 12th b" + longer + fixed);
  CHECK(doubts("MATCH a THEN (b OR c)+ WITHIN 1m") ==
        "`b OR c`: the rule completes at the 1st b OR c" + longer + greedy + fixed);
  for (const char* optional : {"b*", "b?", "b{,3}"}) {
    CHECK(doubts("MATCH a THEN " + std::string(optional) + " WITHIN 1m") ==
          "`" + std::string(optional) +
              "`: the rule completes at a, without b, and the match without it is the one reported (" +
              (std::string(optional) == "b?" ? "GREEDY waits for it, " : greedy) + every);
  }
  CHECK(doubts("MATCH a{2} THEN (b THEN c)? WITHIN 1m") ==
        "`(b THEN c)?`: the rule completes at the 2nd a, without `(b THEN c)?`, and the match without it is the one "
        "reported (" +
            every);
  CHECK(doubts("MATCH a THEN (b THEN c){2,} WITHIN 1m") ==
        "`(b THEN c){2,}`: the rule completes at the end of the 2nd repeat of `(b THEN c){2,}`" + longer + fixed);
  CHECK(doubts("MATCH a THEN (b THEN c+){2} WITHIN 1m") ==
        "`c+`: the rule completes at the 1st c of the last repeat" + longer + greedy + fixed);
  CHECK(doubts("MATCH a THEN (b OR c{2,}) WITHIN 1m") ==
        "`c{2,}`: the rule completes at the 2nd c" + longer + greedy + fixed);
  CHECK(doubts("MATCH a+ THEN WITHIN 5m NOT b") == "`a+`: the rule completes at the 1st a" + longer + fixed);
  for (const char* good :
       {"MATCH a THEN b+ WITHIN 1m AFTER MATCH NO SKIP", "MATCH a THEN b+ THEN c WITHIN 1m",
        "MATCH a THEN b{3} WITHIN 1m", "MATCH a THEN b+ THEN NOT c WITHIN 1m", "MATCH a THEN b+ GREEDY WITHIN 1m",
        "MATCH a THEN b* GREEDY WITHIN 1m", "MATCH a THEN (b THEN c){2} WITHIN 1m"}) {
    CHECK(doubts(good) == "");
  }
}

TEST_CASE("warnings: HAVING moves the end of a last repeat") {
  const auto at = [](const std::string& what) {
    return "`b+`: the rule completes at the " + what +
           ", and longer matches are dropped (GREEDY waits for all of them, {n} takes a fixed number, AFTER MATCH NO "
           "SKIP reports every one)\n";
  };
  CHECK(doubts("MATCH a THEN b+ WITHIN 1m HAVING count(b) >= 3") == at("3rd b"));
  CHECK(doubts("MATCH a THEN b+ WITHIN 1m HAVING count(b) > 3 AND a.x > 1") == at("first b for which HAVING holds"));
  CHECK(doubts("MATCH a THEN b+ WITHIN 1m HAVING sum(b.x) > 3") == at("first b for which HAVING holds"));
  CHECK(doubts("MATCH a THEN b+ WITHIN 1m HAVING a.x > 3") == at("1st b"));
  CHECK(doubts("MATCH a THEN b? WITHIN 1m HAVING b.x > 3") == "");
  CHECK(doubts("MATCH a THEN b? WITHIN 1m HAVING a.x > 3") ==
        "`b?`: the rule completes at a, without b, and the match without it is the one reported (GREEDY waits for it, "
        "AFTER MATCH "
        "NO SKIP reports every one)\n");
}

TEST_CASE("warnings: ANY and COMBINATIONS at the end") {
  const std::string any =
      ", and the matches with later ones that ANY finds are dropped (AFTER MATCH NO SKIP reports every one)\n";
  CHECK(doubts("MATCH a THEN ANY b WITHIN 1m") == "`THEN ANY`: the rule completes at the first b" + any);
  CHECK(doubts("MATCH a THEN ANY b AND c WITHIN 1m") ==
        "`THEN ANY`: the rule completes at the first events that are b AND c" + any);
  CHECK(
      doubts("MATCH a THEN b{2} COMBINATIONS WITHIN 1m") ==
      "`b{2} COMBINATIONS`: the rule completes at the 2nd b, and the other choices of COMBINATIONS are dropped (AFTER "
      "MATCH NO SKIP reports every one)\n");
  for (const char* good :
       {"MATCH a THEN ANY b WITHIN 1m AFTER MATCH NO SKIP", "MATCH a THEN ANY b WITHIN 1m HAVING b.x > a.x",
        "MATCH a THEN ANY b THEN c[x = b.x] WITHIN 1m",
        "MATCH a THEN b[coalesce(n > last(r.n), true)]{3} COMBINATIONS AS r WITHIN 1m"}) {
    CHECK(doubts(good) == "");
  }
}

// ---- NOT ----

TEST_CASE("warnings: a NOT that can never count") {
  const auto never = [](const std::string& where, const std::string& why, const std::string& hint) {
    return "`" + where + "`: this NOT never counts: " + why + " (" + hint + ")\n";
  };
  const std::string leave = "leave it out";
  CHECK(doubts("MATCH a THEN NOT b NEXT c WITHIN 1m") == never("NOT b",
                                                               "c is the very next event, and nothing stands between",
                                                               "FROM a, b, c says which events NEXT looks at"));
  CHECK(doubts("FROM a, b, c MATCH a THEN NOT b NEXT c WITHIN 1m") ==
        never("NOT b", "c is the very next event, and nothing stands between", leave));
  CHECK(doubts("MATCH a THEN NOT b NEXT (b OR c THEN d) WITHIN 1m") ==
        never("NOT b", "b OR c is the very next event, and nothing stands between", leave));
  CHECK(doubts("MATCH (a THEN NOT b NEXT c){2} WITHIN 1m") ==
        never("NOT b", "c is the very next event, and nothing stands between",
              "FROM a, b, c says which events NEXT looks at"));
  CHECK(doubts("FROM * MATCH a NEXT NOT b NEXT c WITHIN 1m") ==
        never("NOT b", "c is the very next event, and it is never b", leave));
  CHECK(doubts("FROM * MATCH a NEXT NOT b[x > 5] NEXT b[x < 3] AS c WITHIN 1m") ==
        never("NOT b[x > 5]", "c is the very next event, and it is never b", leave));
  CHECK(doubts("MATCH a THEN NOT b[x > 5] THEN b[x > 3] AS c WITHIN 1m") ==
        never("NOT b[x > 5]", "the first b it speaks of is c itself", leave));
  CHECK(doubts("MATCH a+ THEN NOT a THEN b WITHIN 1m") ==
        never("NOT a", "every a it speaks of is taken by a before it", leave));
  CHECK(doubts("MATCH a THEN NOT b[x > 5 AND x < 3] THEN c WITHIN 1m") ==
        "`x < 3`: this NOT never counts: `x > 5` and `x < 3` exclude each other (did you mean OR?)\n");
  for (const char* good :
       {"MATCH a THEN NOT b THEN c WITHIN 1m", "FROM * MATCH a NEXT NOT b[x > 5] NEXT b WITHIN 1m",
        "MATCH a THEN NOT b NEXT c? THEN d WITHIN 1m", "MATCH a THEN NOT b[x > 3] THEN b[x > 5] AS c WITHIN 1m",
        "MATCH a THEN NOT b THEN AFTER 5s b AS c WITHIN 1m", "MATCH a THEN NOT b THEN ANY b AS c THEN d WITHIN 1m",
        "MATCH a THEN NOT b THEN b{2} COMBINATIONS AS c THEN d WITHIN 1m AFTER MATCH NO SKIP",
        "MATCH a+ THEN NOT a WITHIN 1m", "MATCH a{2} THEN NOT a THEN b WITHIN 1m",
        "MATCH a+ CONSECUTIVE THEN NOT a THEN b WITHIN 1m", "MATCH a THEN NOT b THEN (b OR (c THEN d)) WITHIN 1m"}) {
    CAPTURE(good);
    CHECK(doubts(good).find("NOT never counts") == std::string::npos);
  }
}

TEST_CASE("warnings: names that hide declared fields") {
  CHECK(
      warnings("EVENT cart (price double) EVENT pay (amount double) RULE r MATCH cart AS amount THEN pay WITHIN 1m") ==
      "`amount`: the element amount hides the field amount of pay in paths (write this.amount for the field, or name "
      "the element with AS)\n");
}

// ---- KEY ----

TEST_CASE("warnings: events joined by a field in a rule without KEY") {
  const auto joined = [](const std::string& where, const std::string& by, const std::string& hint) {
    return "`" + where + "`: events are joined by " + by +
           ", and the rule has no KEY: every event is tried with every other (write " + hint + ")\n";
  };
  CHECK(doubts("MATCH a THEN b WITHIN 1m WHERE b.u = a.u") == joined("b.u = a.u", "u", "KEY u"));
  CHECK(doubts("MATCH a THEN b[x = 1 AND u = a.u] WITHIN 1m") == joined("u = a.u", "u", "KEY u"));
  CHECK(doubts("MATCH a THEN b THEN c WITHIN 1m WHERE b.u = a.u AND c.u = b.u") == joined("b.u = a.u", "u", "KEY u"));
  CHECK(doubts("MATCH a THEN b WITHIN 1m WHERE b.u = a.v") == joined("b.u = a.v", "v and u", "KEY v and b BY u"));
  CHECK(doubts("MATCH a THEN b THEN c WITHIN 1m WHERE b.u = a.u AND c.who = a.u") ==
        joined("b.u = a.u", "u and who", "KEY u and c BY who"));
  CHECK(doubts("MATCH a THEN b WITHIN 1m WHERE b.u = a.u AND b.dst = a.src") ==
        joined("b.u = a.u", "src, u and dst", "KEY src, u and b BY dst, u"));
  CHECK(doubts("MATCH a AND b WITHIN 1m WHERE a.u = b.u").find("joined by u,") != std::string::npos);
  CHECK(doubts("MATCH a NEXT b[u = a.u] WITHIN 1m") ==
        joined("u = a.u", "u", "KEY u: NEXT and CONSECUTIVE then look at the events of one u"));
  CHECK(doubts("MATCH fail{5} THEN ok[u = fail.u] WITHIN 1m") == joined("u = fail.u", "u", "KEY u"));
  CHECK(doubts("MATCH a THEN b[u = a.u] WITHIN 1m UNLESS c[u = a.u]") == joined("u = a.u", "u", "KEY u"));
  for (const char* good : {"KEY u MATCH a THEN b WITHIN 1m WHERE b.v = a.v", "MATCH a THEN b[u = prev(u)] WITHIN 1m",
                           // KEY would keep other users' events out of the part that is not joined.
                           "MATCH a THEN b[u = a.u] THEN c WITHIN 1m", "MATCH a THEN NOT c THEN b[u = a.u] WITHIN 1m",
                           "MATCH a THEN b[u = a.u] WITHIN 1m UNLESS c",
                           // A chain is no set of equal fields.
                           "MATCH t AS a THEN t[src = a.dst] AS b THEN t[src = b.dst] AS c WITHIN 1m",
                           "MATCH a THEN b WITHIN 1m WHERE b.u = a.u OR b.v = a.v",
                           "MATCH a{2} THEN b[p = a[0].n AND q = a[1].n] WITHIN 1m"}) {
    CAPTURE(good);
    CHECK(doubts(good) == "");
  }
}

TEST_CASE("warnings: a key of unlike types joins nothing") {
  const std::string events = "EVENT a (u int) EVENT b (u string, v int) ";
  CHECK(warnings(events + "RULE r KEY u MATCH a THEN b WITHIN 1m") ==
        "`u`: u is an int in a and a string in b: no event of one has the key of the other (take a field of one type, "
        "with BY where it has another name)\n");
  CHECK(warnings(events + "RULE r KEY u MATCH a THEN b BY v WITHIN 1m") == "");
  CHECK(warnings("EVENT a (u int) EVENT b (u double) RULE r KEY u MATCH a THEN b WITHIN 1m") == "");
}

// ---- growth ----

TEST_CASE("warnings: explosive combinations, with the bound") {
  const std::string any2 =
      "`THEN ANY`: n events within 1m can make n³ matches, partial ones included: ANY tries every b "
      "(write THEN, which takes the first)\n";
  CHECK(doubts("MATCH a THEN ANY b THEN ANY c THEN d WITHIN 1m") == any2);
  CHECK(doubts("MATCH a THEN b+ COMBINATIONS THEN c WITHIN 1m") ==
        "`b+ COMBINATIONS`: n events within 1m can make 2ⁿ matches, partial ones included: COMBINATIONS may leave out "
        "each "
        "of them (give the repeat a greatest number, {n,m})\n");
  CHECK(
      doubts("MATCH a THEN b+ COMBINATIONS THEN c") ==
      "`b+ COMBINATIONS`: n events can make 2ⁿ matches, partial ones included: COMBINATIONS may leave out each of them "
      "(give the pattern a WITHIN, or give the repeat a greatest number, {n,m})\n");
  CHECK(doubts("MATCH a THEN b{2} COMBINATIONS THEN c WITHIN 1m").find("n³") != std::string::npos);
  CHECK(doubts("MATCH ((a THEN b)+ THEN c)+ THEN d WITHIN 1m").find("2ⁿ") != std::string::npos);
  CHECK(doubts("MATCH (a+ THEN b+)+ WITHIN 1m AFTER MATCH NO SKIP").find("2ⁿ") != std::string::npos);
  CHECK(doubts("MATCH (a THEN ANY b)+ THEN c WITHIN 1m").find("2ⁿ") != std::string::npos);
  for (const char* good : {"MATCH a+ THEN b+ THEN c WITHIN 1m", "MATCH a THEN ANY b THEN c WITHIN 1m",
                           "MATCH (a THEN b)+ THEN c WITHIN 1m", "MATCH (a+ THEN b){3} THEN c WITHIN 1m",
                           "MATCH a NEXT b{2} COMBINATIONS THEN c WITHIN 1m"}) {
    CAPTURE(good);
    CHECK(doubts(good) == "");
  }
}

// ---- never ----

TEST_CASE("warnings: an element that no event can satisfy") {
  const auto never = [](const std::string& where, const std::string& what) {
    return "`" + where + "`: the rule never matches, no event can be " + what + "\n";
  };
  const std::string either = " exclude each other (did you mean OR?)";
  CHECK(doubts("MATCH e[x > 5 AND x < 3]") == never("x < 3", "e: `x > 5` and `x < 3`" + either));
  CHECK(doubts("MATCH e[x = 'a' AND y = 1 AND x = 'b']") == never("x = 'b'", "e: `x = 'a'` and `x = 'b'`" + either));
  CHECK(doubts("MATCH e[x = 1] WHERE e.x = 2") == never("e.x = 2", "e: `x = 1` and `e.x = 2`" + either));
  CHECK(doubts("MATCH e[x IN (1, 2) AND x > 2]") == never("x > 2", "e: `x IN (1, 2)` and `x > 2`" + either));
  CHECK(doubts("MATCH e[x BETWEEN 5 AND 2 + 1]") ==
        never("x BETWEEN 5 AND 2 + 1", "e: `x BETWEEN 5 AND 2 + 1` is never true"));
  CHECK(doubts("MATCH e[x IS NULL AND x > 0]") == never("x > 0", "e: `x IS NULL` and `x > 0`" + either));
  CHECK(doubts("MATCH e[x > 1 AND NOT x > 1]") == never("NOT x > 1", "e: `x > 1` and `NOT x > 1`" + either));
  CHECK(doubts("MATCH e[x < y AND x > y]") == never("x > y", "e: `x < y` and `x > y`" + either));
  CHECK(doubts("MATCH e[x < y AND y < 3 AND x > 4]") == never("x > 4", "e: `x > 4` excludes the conditions before it"));
  CHECK(doubts("MATCH e[x != x]") == never("x != x", "e: `x != x` is never true"));
  CHECK(doubts("MATCH e[x > 5 AND x = 'a']") == never("x = 'a'", "e: `x > 5` and `x = 'a'`" + either));
  CHECK(doubts("MATCH e[lower(x) = 1]").find("unlike types") != std::string::npos);
  CHECK(doubts("MATCH e[type = 'f']") == never("type = 'f'", "e: `type = 'f'` is never true"));
  CHECK(doubts("MATCH a THEN e[x > 5 AND x < 3]? THEN b WITHIN 1m") ==
        "`x < 3`: no event can be e: `x > 5` and `x < 3` exclude each other (did you mean OR?)\n");
  CHECK(doubts("MATCH a THEN b+ UNTIL c[x > 5 AND x < 3] THEN d WITHIN 1m") ==
        "`x < 3`: this UNTIL never ends the repeat: `x > 5` and `x < 3` exclude each other (did you mean OR?)\n");
  CHECK(doubts("MATCH a THEN b WITHIN 1m UNLESS c[x > 5 AND x < 3]") ==
        "`x < 3`: this UNLESS never drops a match: `x > 5` and `x < 3` exclude each other (did you mean OR?)\n");
  for (const char* good : {"MATCH e[x > 5 OR x < 3]", "MATCH e[x >= 5 AND x <= 5]", "MATCH e[x > 5 AND y < 3]",
                           "MATCH e[x != 1 AND x != 2]", "MATCH e[x > 3 AND x < 4]", "MATCH e[NOT (x > 5 AND x < 3)]",
                           "MATCH e[x IS NULL OR x > 0]", "MATCH e[lower(x) = 'a' AND upper(x) = 'B']",
                           "MATCH e[x > 9007199254740993 AND x < 9007199254740995]",
                           "MATCH e[x = y AND y = 1 AND x = 1.0]", "MATCH a | e[type = 'e']"}) {
    CAPTURE(good);
    CHECK(doubts(good) == "");
  }
}

TEST_CASE("warnings: declarations tell what a field can be") {
  const std::string events = "EVENT e (n int, d double, s string?, t string) EVENT f (n int) ";
  const auto found = [&](const std::string& pattern) { return warnings(events + "RULE r MATCH " + pattern) != ""; };
  CHECK(found("e[n > 3 AND n < 4]"));
  CHECK_FALSE(found("e[d > 3 AND d < 4]"));
  CHECK(found("e[n IS NULL]"));
  CHECK_FALSE(found("e[s IS NULL]"));
  CHECK_FALSE(found("(e[t = 'x'] OR f[n > 3]) AS x"));
}

TEST_CASE("warnings: conditions that events before exclude") {
  CHECK(doubts("MATCH a[x = 1] THEN b[a.x = 2] WITHIN 1m") ==
        "`a.x = 2`: the rule never matches, no event can be b: `a.x = 2` is never true after a, for which `x = 1` "
        "holds\n");
  CHECK(doubts("MATCH a[x > 5] THEN b[y = a.x AND y < 3] WITHIN 1m").find("no event can be b") != std::string::npos);
  CHECK(doubts("KEY u MATCH a THEN b WITHIN 1m WHERE b.u != a.u") ==
        "`b.u != a.u`: the rule never matches, no event can be b: `b.u != a.u` is never true\n");
  CHECK(doubts("MATCH a THEN b[ts - a.ts > 10m] WITHIN 5m") ==
        "`ts - a.ts > 10m`: the rule never matches, no event can be b: `ts - a.ts > 10m` is never true\n");
  CHECK(doubts("MATCH a THEN b[ts < a.ts] WITHIN 5m") == "");
  CHECK(doubts("MATCH a[x = 1]+ THEN b[a.x = 2] WITHIN 1m") == "");
  CHECK(doubts("MATCH a[x = 1]? THEN b[a.x = 2 OR a.x IS NULL] WITHIN 1m") == "");
  CHECK(doubts("KEY u MATCH a BY v THEN b WITHIN 1m WHERE b.u != a.u") == "");
  CHECK(doubts("MATCH a THEN b[ts - a.ts > 3m] WITHIN 5m") == "");
}

TEST_CASE("warnings: what FROM keeps out") {
  CHECK(doubts("FROM a[x > 5], b MATCH a[x < 3] THEN b WITHIN 1m") ==
        "`x < 3`: the rule never matches, no event can be a: FROM lets none through for which `x < 3` holds (take the "
        "condition out of FROM, or change this one)\n");
  CHECK(doubts("FROM a[x > 5], b[x < 3] MATCH a THEN NOT b[x > 4] THEN a AS c WITHIN 1m")
            .find("this NOT never counts: FROM") != std::string::npos);
  CHECK(doubts("FROM a[x > 5 AND x < 3], b MATCH b") ==
        "`x < 3`: FROM lets none of these through: `x > 5` and `x < 3` exclude each other (did you mean OR?)\n");
  CHECK(doubts("FROM a[x > 5], a[x < 3], b MATCH a[x < 2] THEN b WITHIN 1m") == "");
  CHECK(doubts("FROM *, a[x > 5] MATCH a[x < 3] THEN b WITHIN 1m") == "");
}

TEST_CASE("warnings: HAVING that never holds") {
  const std::string never = ": HAVING never holds, and the rule never matches: ";
  CHECK(doubts("MATCH a{2} THEN b WITHIN 1m HAVING count(a) > 3") ==
        "`count(a) > 3`" + never + "`count(a) > 3` is never true, count(a) is always 2\n");
  CHECK(doubts("MATCH (a THEN b{2,3}){2} THEN c WITHIN 1m HAVING count(b) < 4 AND c.x > 1") ==
        "`count(b) < 4`" + never + "`count(b) < 4` is never true, count(b) is from 4 to 6\n");
  CHECK(doubts("MATCH a[x = 1] THEN b WITHIN 1m HAVING a.x = 2").find("HAVING never holds") != std::string::npos);
  CHECK(doubts("MATCH a THEN b WITHIN 5m HAVING b.ts - a.ts > 10m").find("HAVING never holds") != std::string::npos);
  CHECK(doubts("MATCH a THEN b WITHIN 5m HAVING b.ts - a.ts < 0s").find("HAVING never holds") != std::string::npos);
  for (const char* good :
       {"MATCH a{2,} THEN b WITHIN 1m HAVING count(a) > 3", "MATCH a{2} THEN b WITHIN 1m HAVING count(a) = 2",
        "MATCH a[x = 1]{2} THEN b WITHIN 1m HAVING a.x = 2", "MATCH a OR b WITHIN 1m HAVING count(a) = 0",
        "MATCH a AND b WITHIN 5m HAVING b.ts - a.ts < 0s"}) {
    CAPTURE(good);
    CHECK(doubts(good) == "");
  }
}

TEST_CASE("warnings: AFTER beyond WITHIN") {
  CHECK(doubts("MATCH a THEN AFTER 10m b WITHIN 5m") ==
        "`THEN AFTER 10m`: b comes 10m after the first event of the pattern at the earliest, and its WITHIN is 5m "
        "(write WITHIN 10m or "
        "more, or a smaller AFTER)\n");
  CHECK(doubts("MATCH a THEN AFTER 3m b THEN AFTER 3m c WITHIN 5m").find("c comes 6m") != std::string::npos);
  CHECK(doubts("MATCH (b THEN AFTER 2m c){3} THEN d WITHIN 5m").find("d comes 6m") != std::string::npos);
  CHECK(doubts("MATCH (b THEN AFTER 2m c WITHIN 1m) THEN d WITHIN 5m")
            .find("c comes 2m after the first event of the group") != std::string::npos);
  for (const char* good :
       {"MATCH a THEN AFTER 5m b WITHIN 5m", "MATCH a THEN AFTER 3m b? THEN AFTER 3m c WITHIN 5m",
        "MATCH a THEN AFTER 9m (b? THEN c) WITHIN 9m", "MATCH a THEN AFTER 3m (b? THEN c) THEN AFTER 3m d WITHIN 5m"}) {
    CAPTURE(good);
    CHECK(doubts(good) == "");
  }
}

// ---- rules beside each other ----

TEST_CASE("warnings: rules that another one makes superfluous") {
  const auto both = [](const std::string& one, const std::string& other) {
    return warnings("RULE big " + one + "\nRULE small " + other);
  };
  const auto told = [](const std::string& rule, const std::string& text) {
    return "`" + rule + "`: " + text + " (leave one of them out, or let them do different things)\n";
  };
  const std::string matched = "whenever this rule matches, big (f1.rules:1:6) has matched too, and does the same";
  CHECK(both("MATCH a[x > 3] THEN b WITHIN 5m", "MATCH a[x > 5] THEN b WITHIN 5m") == told("small", matched));
  CHECK(both("MATCH a[x > 3] THEN b WITHIN 5m", "MATCH a[x > 3] THEN b WITHIN 2m") == told("small", matched));
  CHECK(both("MATCH a THEN b WITHIN 5m", "MATCH a THEN b WITHIN 5m") ==
        told("small", "this rule does the same as big (f1.rules:1:6)"));
  CHECK(both("MATCH a[x > 3 AND y = 1]", "MATCH a[y = 1 AND x > 3] AS z") ==
        told("small", "this rule does the same as big (f1.rules:1:6)"));
  CHECK(both("MATCH a{3} AS s WITHIN 5m", "MATCH a[x > 5]{3} AS s WITHIN 5m") == told("small", matched));
  CHECK(both("MATCH a THEN b WITHIN 5m", "MATCH a THEN b WITHIN 5m HAVING b.x > 3") == told("small", matched));
  CHECK(both("MATCH a NEXT b NEXT c WITHIN 5m", "MATCH a NEXT b[x > 1] NEXT c WITHIN 5m") == told("small", matched));
  CHECK(both("MATCH a THEN NOT c[x > 1] THEN b WITHIN 5m", "MATCH a THEN NOT c THEN b WITHIN 5m") ==
        told("small", matched));
  CHECK(warnings("RULE small MATCH a[x IN ('p', 'q')]\nRULE big MATCH a[x = 'p' OR x = 'q' OR x = 'r']") ==
        told("small", "whenever this rule matches, big (f1.rules:2:6) has matched too, and does the same"));
  CHECK(both("MATCH a[x = 1 AND y > 3]", "MATCH a[1.0 = x AND y > 5]") == told("small", matched));
  // What never comes is no other value: all that big asks for holds for it as well.
  CHECK(both("MATCH a[x = 3]", "MATCH a[x = 1 AND x = 2]") ==
        told("small", matched) +
            "`x = 2`: the rule never matches, no event can be a: `x = 1` and `x = 2` exclude each "
            "other (did you mean OR?)\n");
  const std::vector<std::pair<std::string, std::string>> good{
      {"MATCH a[x > 3] THEN b WITHIN 5m", "MATCH a[x < 5] THEN b WITHIN 5m"},
      {"MATCH a[x = 3 AND y > 1]", "MATCH a[x = 4 AND y > 1]"},
      {"MATCH a THEN NOT b[x = 'p'] THEN c WITHIN 5m", "MATCH a THEN NOT b['q' = x] THEN c WITHIN 5m"},
      {"MATCH a[x > 3] DO alert('x')", "MATCH a[x > 5] DO alert('y')"},
      {"MATCH a[x > 3] DO alert('x')", "MATCH a[x > 5] LIMIT 1 PER 1h DO alert('x')"},
      {"KEY u MATCH a[x > 3]", "MATCH a[x > 5]"},
      {"FROM a[y = 1] MATCH a[x > 3]", "MATCH a[x > 5]"},
      {"MATCH a THEN NOT b WITHIN 5m", "MATCH a THEN NOT b WITHIN 2m"},
      {"MATCH a THEN b THEN NOT c THEN d WITHIN 5m", "MATCH a THEN b[x > 1] THEN NOT c THEN d WITHIN 5m"},
      {"MATCH a THEN b THEN c[x = b.x] WITHIN 5m", "MATCH a THEN b[y > 1] THEN c[x = b.x] WITHIN 5m"},
      {"MATCH a THEN b WITHIN 5m HAVING b.x > 3", "MATCH a THEN b[y > 1] WITHIN 5m HAVING b.x > 3"},
      {"MATCH a THEN b WITHIN 5m ON TIMEOUT", "MATCH a THEN b WITHIN 2m ON TIMEOUT"},
      {"SHADOW MATCH a[x > 3]", "MATCH a[x > 5]"}};
  for (const auto& [one, other] : good) {
    CAPTURE(other);
    CHECK(both(one, other) == "");
  }
}

TEST_CASE("warnings: names the file of the other rule") {
  const Checked checked = check_files({"RULE a MATCH e[x > 1]", "RULE b MATCH e[x > 2]"});
  CHECK(
      lines(checked.diagnostics, cepd::Severity::kWarning) ==
      "`b`: whenever this rule matches, a (f1.rules:1:6) has matched too, and does the same (leave one of them out, or "
      "let them do different things)\n");
}
