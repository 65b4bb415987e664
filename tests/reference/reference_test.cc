/// The reference on the examples of the language pages, with expectations written by hand.
#include "tests/reference/reference.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "dsl/parse.h"
#include "tests/reference/random_rule.h"
#include "tests/reference/shrink.h"

using namespace cepd;
using namespace cepd::reference;

namespace {

/// `A@0 B@5 b=3 k=1`: events with their seconds, each followed by its fields.
std::vector<Given> events(const std::string& text) {
  std::vector<Given> out;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (const auto at = word.find('@'); at != std::string::npos) {
      Given given;
      given.type = word.substr(0, at);
      given.time_us = static_cast<std::int64_t>(std::stod(word.substr(at + 1)) * 1e6);
      given.offset = static_cast<std::int64_t>(out.size());
      out.push_back(std::move(given));
    } else {
      const auto equals = word.find('=');
      out.back().fields[word.substr(0, equals)] = std::int64_t{std::stoi(word.substr(equals + 1))};
    }
  }
  return out;
}

/// The results over the whole input, as "A:0 B:1,2 @5" with a `!` before a time-out and `~` before a suppressed one.
Lines results(const std::string& rule, const std::string& input, Micros max_delay = {}) {
  Trial trial;
  trial.rules = dsl::parse("test.rules", "RULE r " + rule).file;
  REQUIRE_MESSAGE(refusal(trial.rules.text).empty(), refusal(trial.rules.text));
  if (max_delay.count() > 0) trial.max_delay["s"] = max_delay;
  trial.input = events(input);
  const Rule made = make_rule(std::get<ast::Rule>(trial.rules.statements.front()), {});
  Lines out;
  for (const Result& result : results_of(trial)) {
    std::string line = result.kind == ResultKind::kTimeout ? "!" : result.suppressed ? "~" : "";
    for (std::size_t slot = 0; slot < made.slots.size(); ++slot) {
      std::string offsets;
      for (const Bound& bound : result.bound) {
        if (bound.slot == slot) offsets += (offsets.empty() ? "" : ",") + std::to_string(bound.event->position.offset);
      }
      if (!offsets.empty()) line += made.slots[slot].name + ":" + offsets + " ";
    }
    std::ostringstream seconds;
    seconds << static_cast<double>(to_us(result.known.time)) / 1e6;
    out.push_back(line + "@" + seconds.str());
  }
  return out;
}

}  // namespace

TEST_CASE("reference: three carts and one failed payment are one match, three with NO SKIP") {
  const std::string input = "cart@0 cart@1 cart@2 fail@3";
  CHECK(results("MATCH cart THEN fail", input) == Lines{"cart:0 fail:3 @3"});
  CHECK(results("MATCH cart THEN fail AFTER MATCH NO SKIP", input) ==
        Lines{"cart:0 fail:3 @3", "cart:1 fail:3 @3", "cart:2 fail:3 @3"});
}

TEST_CASE("reference: THEN takes the first that fits, THEN ANY every one, NEXT the very next") {
  CHECK(results("MATCH A THEN B AFTER MATCH NO SKIP", "A@0 B@1 B@2") == Lines{"A:0 B:1 @1"});
  CHECK(results("MATCH A THEN ANY B AFTER MATCH NO SKIP", "A@0 B@1 B@2") == Lines{"A:0 B:1 @1", "A:0 B:2 @2"});
  CHECK(results("MATCH A NEXT B", "A@0 A@1 B@2") == Lines{"A:1 B:2 @2"});
  CHECK(results("MATCH A THEN B? NEXT C", "A@0 C@1") == Lines{"A:0 C:1 @1"});
  CHECK(results("FROM A, B, C, X MATCH A THEN B? NEXT C", "A@0 X@1 C@2").empty());
}

TEST_CASE("reference: link bounds hold for the event that the link reaches") {
  CHECK(results("MATCH A THEN WITHIN 5s B", "A@0 B@5") == Lines{"A:0 B:1 @5"});
  CHECK(results("MATCH A THEN WITHIN 5s B", "A@0 B@5.000001").empty());
  CHECK(results("MATCH A THEN AFTER 2s B", "A@0 B@1 B@2") == Lines{"A:0 B:2 @2"});
  CHECK(results("MATCH (A THEN B WITHIN 2s) THEN C", "A@0 B@5 C@6").empty());
}

TEST_CASE("reference: a repeat takes all it accepts, and where its count suffices goes on both ways") {
  CHECK(results("MATCH a+ GREEDY THEN b", "a@0 a@1 a@2 b@3") == Lines{"a:0,1,2 b:3 @3"});
  CHECK(results("MATCH A{2} THEN B{2}", "A@0 A@1 B@2 B@3 A@4 A@5 B@6 B@7") ==
        Lines{"A:0,1 B:2,3 @3", "A:4,5 B:6,7 @7"});
  CHECK(results("MATCH A THEN X+ AS x THEN X AS y AFTER MATCH NO SKIP", "A@0 X@1 X@2 X@3") ==
        Lines{"A:0 x:1 y:2 @2", "A:0 x:1,2 y:3 @3"});
  CHECK(results("MATCH c THEN a* GREEDY THEN d? THEN e AFTER MATCH NO SKIP", "c@0 a@1 a@2 d@3 e@4") ==
        Lines{"c:0 a:1,2 d:3 e:4 @4"});
}

TEST_CASE("reference: CONSECUTIVE, COMBINATIONS and UNTIL") {
  CHECK(results("MATCH a{2} CONSECUTIVE THEN b", "a@0 b@1 a@2 a@3 b@4") == Lines{"a:2,3 b:4 @4"});
  CHECK(results("MATCH a{2} COMBINATIONS AFTER MATCH NO SKIP", "a@0 a@1 a@2") ==
        Lines{"a:0,1 @1", "a:0,2 @2", "a:1,2 @2"});
  CHECK(results("MATCH a+ UNTIL x THEN b", "a@0 x@1 a@2 b@3") == Lines{"a:0 b:3 @3"});
  CHECK(results("MATCH a{2,} UNTIL x THEN b WITHIN 10s ON TIMEOUT", "a@0 x@1").empty());
}

TEST_CASE("reference: a last GREEDY repeat completes once, when it has ended") {
  CHECK(results("MATCH a THEN b+ GREEDY WITHIN 10s", "a@0 b@1 b@2") == Lines{"a:0 b:1,2 @10"});
  CHECK(results("MATCH a THEN b{,2} GREEDY WITHIN 10s", "a@0 b@1 b@2 b@3") == Lines{"a:0 b:1,2 @2"});
  CHECK(results("MATCH a THEN b+ GREEDY UNTIL x WITHIN 10s", "a@0 b@1 x@3") == Lines{"a:0 b:1 @3"});
  CHECK(results("MATCH a THEN b+ CONSECUTIVE GREEDY", "a@0 b@1 b@2 a@4") == Lines{"a:0 b:1,2 @4"});
}

TEST_CASE("reference: OR is one element of singles, otherwise a branch each; AND takes its members in any order") {
  CHECK(results("MATCH A THEN (B OR C)+ THEN D", "A@0 C@1 B@2 D@3") == Lines{"A:0 B:2 C:1 D:3 @3"});
  CHECK(results("MATCH A THEN ((B THEN C) OR D)", "A@0 D@1") == Lines{"A:0 D:1 @1"});
  CHECK(results("MATCH d+ THEN (b OR c+) AFTER MATCH NO SKIP", "d@0 b@1 d@2 b@3") == Lines{"d:0 b:1 @1", "d:2 b:3 @3"});
  CHECK(results("MATCH A THEN (B AND C) THEN D", "A@0 C@1 B@2 D@3") == Lines{"A:0 B:2 C:1 D:3 @3"});
}

TEST_CASE("reference: a repeated group may also end where its count suffices, and no repeat is empty") {
  CHECK(results("MATCH (A THEN B)+ THEN C AFTER MATCH NO SKIP", "A@0 B@1 A@2 B@3 C@4") ==
        Lines{"A:0,2 B:1,3 C:4 @4", "A:0 B:1 C:4 @4", "A:2 B:3 C:4 @4"});
  CHECK(results("MATCH (E?){2,} THEN Y AFTER MATCH NO SKIP", "E@0 Y@1") == Lines{"E:0 Y:1 @1", "Y:1 @1"});
}

TEST_CASE("reference: NOT between guards the stretch; last it is absence") {
  CHECK(results("MATCH A THEN NOT X THEN B", "A@0 X@1 B@2").empty());
  CHECK(results("MATCH (A THEN NOT X) THEN B", "A@0 X@1 B@2").empty());
  CHECK(results("MATCH A NEXT NOT B THEN B AS late", "A@0 B@1 B@2").empty());
  CHECK(results("MATCH A THEN NOT B WITHIN 600s", "A@0") == Lines{"A:0 @600"});
  CHECK(results("MATCH A THEN NOT B WITHIN 600s", "A@0 B@362").empty());
  CHECK(results("MATCH A THEN B THEN WITHIN 30s NOT C", "A@0 B@10 C@41") == Lines{"A:0 B:1 @40"});
  CHECK(results("MATCH A+ THEN NOT B WITHIN 10s ON TIMEOUT", "A@0 A@1") == Lines{"A:0,1 @10"});
}

TEST_CASE("reference: UNLESS drops what does not bind the event") {
  CHECK(results("MATCH deploy THEN error{2} WITHIN 600s UNLESS deploy", "deploy@0 error@1 deploy@2 error@3 error@4") ==
        Lines{"deploy:2 error:3,4 @4"});
}

TEST_CASE("reference: WHERE parts belong to the last element they name, of an AND to whichever comes last") {
  CHECK(results("MATCH A THEN B WHERE B.v = A.v", "A@0 v=1 A@1 v=2 B@2 v=2 B@3 v=1") ==
        Lines{"A:1 B:2 @2", "A:0 B:3 @3"});
  CHECK(results("MATCH A AND B WHERE A.v = B.v", "B@0 v=1 A@1 v=2 A@2 v=1") == Lines{"A:2 B:0 @2"});
}

TEST_CASE("reference: a first event gives a match or a time-out, reported for what got furthest") {
  CHECK(results("MATCH A THEN B THEN C WITHIN 10s ON TIMEOUT", "A@0 B@1 A@5") == Lines{"!A:0 B:1 @10", "!A:2 @15"});
  CHECK(results("MATCH A THEN B WITHIN 10s HAVING B.v > 5 ON TIMEOUT", "A@0 B@1 v=2").empty());
}

TEST_CASE("reference: LIMIT suppresses, keys keep apart") {
  CHECK(results("KEY k MATCH A LIMIT 1 PER 10s", "A@0 k=1 A@1 k=2 A@2 k=1 A@10 k=1") ==
        Lines{"A:0 @0", "A:1 @1", "~A:2 @2", "A:3 @10"});
}

TEST_CASE("reference: an event at the watermark is in time, an earlier one late") {
  CHECK(results("MATCH A THEN B", "A@0 X@10 B@5", std::chrono::seconds(5)) == Lines{"A:0 B:2 @5"});
  CHECK(results("MATCH A THEN B", "A@0 X@10.000001 B@5", std::chrono::seconds(5)).empty());
}

TEST_CASE("reference: rules read what others make, level by level; a derived event stands as its maker's number") {
  Trial trial;
  trial.rules = dsl::parse("test.rules",
                           "RULE b MATCH A THEN NOT B WITHIN 5s EMIT A.v AS v INTO M "
                           "RULE a MATCH M THEN NOT X WITHIN 5s EMIT M.v AS v INTO N "
                           "RULE c MATCH M OR N")
                    .file;
  trial.input = events("A@0 v=7");
  CHECK(by_reference(trial) == Lines{R"(match b {} @5000000 A:s/0/0 {"v":7})", R"(match c {} @5000000 M:#0 {})",
                                     R"(match a {} @10000000 M:#0 {"v":7})", R"(match c {} @10000000 N:#2 {})"});
}

TEST_CASE("shrink: what does not matter is left out") {
  Trial trial;
  trial.rules = dsl::parse("test.rules",
                           "RULE r KEY k MATCH A[v > 1] AS a THEN (B OR C)+ GREEDY THEN D WITHIN 5s "
                           "UNLESS X HAVING a.v > 0 LIMIT 1 PER 1h")
                    .file;
  trial.input = events("A@0 k=1 v=2 B@1 k=1 X@2 C@3 k=1 D@4 k=1");
  const Trial small = shrunk(trial, [](const Trial& each) {
    const bool greedy = each.rules.text.find("GREEDY") != std::string::npos;
    return greedy && std::any_of(each.input.begin(), each.input.end(), [](const Given& g) { return g.type == "C"; });
  });
  CHECK(small.input.size() == 1);
  CHECK(small.input.front().fields.empty());
  CHECK(small.rules.text.find("KEY") == std::string::npos);
  CHECK(small.rules.text.size() < 60);
}

TEST_CASE("random rules: the same for a seed, and every construct comes up") {
  Random one(7), other(7);
  std::string all;
  for (int i = 0; i < 400; ++i) {
    const auto any = [](const Statements&) { return true; };
    const std::string text = with_rules({}, random_rules(one, {}, any)).rules.text;
    CHECK(text == with_rules({}, random_rules(other, {}, any)).rules.text);
    all += text;
  }
  for (const char* word :
       {" OR ",         " AND ",          " THEN ANY ", " NEXT ",   " GREEDY",   " UNTIL ", " CONSECUTIVE",
        "COMBINATIONS", " NOT ",          " AFTER ",    "WITHIN",   "UNLESS",    "WHERE",   "HAVING",
        "NO SKIP",      "SKIP PAST LAST", "SKIP TO",    "CONSUME",  "LIMIT",     "TIMEOUT", "KEY",
        " BY ",         "FROM",           "prev(",      "sum(",     "distinct(", "IS NULL", "IN (",
        "BETWEEN",      "INTO M",         "SHADOW",     "DISABLED", "CONST ",    "$few",    "WITHIN $gap"}) {
    CHECK_MESSAGE(all.find(word) != std::string::npos, word);
  }
}
