#include "dsl/print.h"

#include <random>

#include "tests/dsl/parse_testing.h"
#include "tests/dsl/rule_texts.h"

namespace cepd::dsl::testing {
namespace {

TEST_CASE("print: one clause a line") {
  const std::string text = R"(EVENT cart_add (user_id string, price double?)
EVENT payment_fail ()

CONST max_gap = 5m
CONST greeting = "say \"hi\"\t\u{1}"

RULE cart_rescue DISABLED "Payment failed"
  FROM    cart_add, payment_fail|other[x = 1]
  KEY     user_id, `in`.and
  MATCH   cart_add AS cart THEN payment_fail AS fail WITHIN 5m UNLESS payment_ok, a BY b, c
  WHERE   fail.amount >= cart.price
  HAVING  fail.amount > 20
  AFTER MATCH SKIP PAST LAST
  EMIT    user_id, cart.item AS item INTO rescued
  LIMIT   1 PER 1h
  LABELS  severity: "warning", team: "checkout"
  DO      discount(user: user_id, percent: 10), alert("{item}")
  ON TIMEOUT EMIT user_id INTO late DO log()

TEST rescue FOR cart_rescue MAX DELAY 2s
  GIVEN  cart_add     @0s {user_id: "u1", `a b`: [1, {x: null}], "a`b": $c}
         payment_fail @2m {user_id: "u1"} TIMES 5 EVERY 10s
         WATERMARK    @"2026-01-05T22:00:00Z"
  EXPECT MATCH {user_id: "u1"} @2m
         TIMEOUT {}
  GIVEN  b @4m {}
  EXPECT NOTHING
)";
  CHECK_EQ(canonical(text), text);
}

TEST_CASE("print: patterns") {
  for (const std::string text :
       {"a THEN ANY b NEXT c", "(a THEN b WITHIN 5s){2,3} CONSECUTIVE THEN c AS d",
        "a OR b AND c THEN (d OR (e NEXT f))?",
        "a|b BY x, y[z > 1]{2,} COMBINATIONS THEN WITHIN 2s AFTER $gap *{,4} GREEDY UNTIL q[r = 1] AS rest",
        "a THEN NOT (b OR c) WITHIN $max", "`then` THEN `door/open`+ AS `as`"}) {
    CHECK_EQ(canonical(text), text + "\n");
  }
  CHECK_EQ(canonical("a{1} then b{0,1} next c{1,} then d{0,}"), "a{1} THEN b? NEXT c+ THEN d*\n");
}

TEST_CASE("print: the fewest parentheses that keep the tree") {
  for (const std::string text : {"a AND b OR c",
                                 "a AND (b OR c)",
                                 "a AND (b AND c)",
                                 "NOT (a AND b)",
                                 "NOT NOT a",
                                 "(NOT a) = b",
                                 "(a = b) = c",
                                 "a - (b - c)",
                                 "a - b - c",
                                 "(a + b) * -c",
                                 "-(a + b)",
                                 "- -a",
                                 "- -5",
                                 "-5 * a",
                                 "a - -5",
                                 "(a IS NULL) IS NULL",
                                 "a + 1 NOT BETWEEN (b = c) AND 2 * d",
                                 "a NOT IN (1, b OR c, \"x\")",
                                 "a MATCHES $re",
                                 "a NOT MATCHES \"^\\\\d\""}) {
    CAPTURE(text);
    CHECK_EQ(canonical_condition(text), text);
  }
  CHECK_EQ(canonical_condition("((a) and ((b)))"), "a AND b");
  CHECK_EQ(canonical_condition("(a and b) and c"), "a AND b AND c");
  CHECK_EQ(canonical_condition("-(-(a))"), "- -a");
}

TEST_CASE("print: literals and paths") {
  CHECK_EQ(canonical_condition("90m"), "1h30m");
  CHECK_EQ(canonical_condition("30e-1"), "3.0");
  CHECK_EQ(canonical_condition("1e300"), "1e300");
  CHECK_EQ(canonical_condition("-9223372036854775808"), "-9223372036854775808");
  CHECK_EQ(canonical_condition("-0.0"), "-0.0");
  CHECK_EQ(canonical_condition("True"), "true");
  CHECK_EQ(canonical_condition("'say \"it\\'s\"'"), "\"say \\\"it's\\\"\"");
  CHECK_EQ(canonical_condition("@\"2026-01-05T23:00:00.5+01:00\""), "@\"2026-01-05T22:00:00.500Z\"");
  CHECK_EQ(canonical_condition("`plain`.`door/open`[-1].`and`"), "plain.`door/open`[-1].and");
  CHECK_EQ(canonical_condition("`this`.x = THIS.x"), "`this`.x = this.x");
  CHECK_EQ(canonical_condition("`ts` = n.`type`"), "`ts` = n.`type`");
  CHECK_EQ(canonical_condition("`ts`.n = n.`price`"), "ts.n = n.price");
  CHECK_EQ(canonical_condition("`null` = null"), "`null` = null");
}

TEST_CASE("print: parts of a tree") {
  const auto rule = only<ast::Rule>("RULE r MATCH a[x = 1] THEN b");
  CHECK_EQ(print(rule), "RULE r\n  MATCH   a[x = 1] THEN b");
  CHECK_EQ(print(ast::Statement(rule)), print(rule));
  CHECK_EQ(print(rule.pattern), "a[x = 1] THEN b");
  CHECK_EQ(print(std::get<ast::EventPattern>(rule.pattern.steps[0].choice.alternatives[0].members[0].item)),
           "a[x = 1]");
}

TEST_CASE("print: every rule file of the repository reads back as its print") {
  for (const std::string& text : rule_texts()) {
    CAPTURE(text);
    canonical(text);
  }
}

TEST_CASE("print: what is left of broken files reads back as its print") {
  std::vector<std::string> texts = rule_texts();
  texts.push_back(
      "RULE r FROM a BY x, b KEY k MATCH (a+ GREEDY UNTIL b THEN c[x IN (1, -2.5)]){2} WITHIN 5m\n"
      "TEST t FOR r GIVEN a @1s {x: [1]} EXPECT NOTHING\nCONST c = 'x'\nEVENT e (f int?)\n");
  const unsigned seed = 20260105;
  std::mt19937 random(seed);
  for (int round = 0; round < 3000; ++round) {
    std::string text = texts[random() % texts.size()];
    for (unsigned edits = 1 + random() % 3; edits > 0 && !text.empty(); --edits) {
      const std::size_t at = random() % text.size();
      const std::size_t length = 1 + random() % 6;
      switch (random() % 4) {
        case 0:
          text.erase(at, length);
          break;
        case 1:
          text.insert(at, text.substr(random() % text.size(), length));
          break;
        case 2:
          text[at] = static_cast<char>(random() % 256);
          break;
        default:
          text.insert(at, 1, "()[]{}.,'\"`@$-\n#"[random() % 16]);
          break;
      }
    }
    CAPTURE(seed);
    CAPTURE(text);
    Parsed result = parse("x.rules", text);
    for (const Diagnostic& d : result.diagnostics) {
      CHECK_GE(d.line, 1);
      CHECK_GE(d.length, 1);
      CHECK_FALSE(d.message.empty());
      CHECK_EQ(d.message.find('\n'), std::string::npos);
    }
    if (!result.diagnostics.empty()) continue;
    const std::string once = print(result.file);
    const Parsed again = parse("x.rules", once);
    CHECK(again.diagnostics.empty());
    CHECK_EQ(print(again.file), once);
  }
}

}  // namespace
}  // namespace cepd::dsl::testing
