#include "dsl/format.h"

#include <algorithm>
#include <random>

#include "dsl/lex.h"
#include "tests/dsl/parse_testing.h"
#include "tests/dsl/rule_texts.h"

namespace cepd::dsl::testing {
namespace {

std::string formatted(const std::string& text) {
  Formatted result = format_rules("x.rules", text);
  for (const Diagnostic& d : result.diagnostics) FAIL_CHECK(format(d));
  return std::move(result.text);
}

/// Sorted: where KEY stands before FROM they change places.
std::vector<std::string> comments_of(const std::string& text) {
  syntax::Problems none;
  std::vector<std::string> out;
  for (const syntax::Comment& comment : syntax::lex(text, none).comments) {
    out.push_back(text.substr(comment.where.begin, comment.where.end - comment.where.begin));
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// What must hold for every text without mistakes.
void check_properties(const std::string& text) {
  CAPTURE(text);
  const std::string once = formatted(text);
  CAPTURE(once);
  CHECK_EQ(formatted(once), once);
  CHECK_EQ(print(parsed(once)), print(parsed(text)));
  CHECK_EQ(comments_of(once), comments_of(text));
  CHECK_EQ(once.find(" \n"), std::string::npos);
  CHECK_EQ(once.find("\n\n\n"), std::string::npos);
}

TEST_CASE("format: statements as they are printed") {
  CHECK_EQ(formatted("rule  r key  k\n match a then b\n\twithin 90s\nemit k,a.x as y"),
           "RULE r\n  KEY     k\n  MATCH   a THEN b WITHIN 1m30s\n  EMIT    k, a.x AS y\n");
  CHECK_EQ(formatted("a then b"), "a THEN b\n");
  CHECK_EQ(formatted(""), "");
  CHECK_EQ(formatted("\xEF\xBB\xBF"
                     "a\r\nTHEN b\r\n"),
           "a THEN b\n");
}

TEST_CASE("format: comments of the file stay where they are") {
  const std::string text = R"(# Head of the file.
#
# It has three lines.

# Of the constants.
CONST a = 1  # one
CONST bb = 2 # two

CONST c = 3

# Of the rule.
RULE r
  MATCH   a

# Tail.
)";
  std::string expected = text;
  expected.replace(expected.find("CONST a = 1  #"), 14, "CONST a = 1   #");
  expected.replace(expected.find("2 # two"), 7, "2  # two");
  CHECK_EQ(formatted(text), expected);
  CHECK_EQ(formatted("# only this"), "# only this\n");
  CHECK_EQ(formatted("\n\n# one   \n\n\n\n# two\n\n"), "# one\n\n# two\n");
}

TEST_CASE("format: comments of clauses stay with them") {
  const std::string text = R"(RULE r "text"  # head
  # Users.
  KEY     user  # of the shop
  # The pattern.
  MATCH   cart AS c
          # then it fails
          THEN fail AS f  # once
          WITHIN 5m
  WHERE   c.x > 1  # one
          AND (f.x > 2 OR f.y > 2)
  EMIT    user,  # who
          c.item, f.amount AS amount
  DO      log("x")
  # DO      alert("x")

TEST t FOR r
  GIVEN  cart @0s {user: "u"}  # first
         # the failure
         fail @1s {user: "u"}
  # and then
  EXPECT NOTHING  # at all
)";
  CHECK_EQ(formatted(text), text);
}

TEST_CASE("format: a comment within a part goes above it, the last one to its end") {
  CHECK_EQ(formatted("RULE r\n MATCH a[ # one\n x = 1 # two\n ] THEN b # three\n"),
           "RULE r\n  # one\n  MATCH   a[x = 1]  # two\n          THEN b    # three\n");
  CHECK_EQ(formatted("a # one\nTHEN # two\n b # three\nWITHIN # four\n 5m"),
           "# one\na            # two\n  THEN b     # three\n  WITHIN 5m  # four\n");
}

TEST_CASE("format: declarations with comments are broken") {
  CHECK_EQ(formatted("EVENT e (a int, # one\n b string? # two\n)\n"),
           "EVENT e (\n  a int,     # one\n  b string?  # two\n)\n");
  CHECK_EQ(formatted("EVENT e (\n  # nothing\n)"), "# nothing\nEVENT e ()\n");
}

TEST_CASE("format: long clauses are broken at 110 columns") {
  const std::string x(55, 'x');
  const std::string y(45, 'y');
  CHECK_EQ(formatted("RULE r MATCH " + x + " AS a THEN " + y + " AS b WITHIN 5m UNLESS c, d"),
           "RULE r\n  MATCH   " + x + " AS a\n          THEN " + y +
               " AS b\n          WITHIN 5m\n          UNLESS c,\n"
               "          d\n");
  CHECK_EQ(formatted("RULE r MATCH a WHERE a." + x + " = 1 AND a." + y + " = 2 AND a.z = 3 EMIT a." + x + ", a." + y +
                     ", a.z"),
           "RULE r\n  MATCH   a\n  WHERE   a." + x + " = 1\n          AND a." + y +
               " = 2\n          AND a.z = 3\n  EMIT    a." + x + ",\n          a." + y + ", a.z\n");
  CHECK_EQ(formatted("RULE r MATCH a WITHIN 5m ON TIMEOUT EMIT a." + x + ", a." + y + " DO log(\"x\")"),
           "RULE r\n  MATCH   a WITHIN 5m\n  ON TIMEOUT\n          EMIT a." + x + ", a." + y +
               "\n          DO log(\"x\")\n");
  CHECK_EQ(formatted("a THEN " + x + " THEN " + x.substr(16)), "a THEN " + x + " THEN " + x.substr(16) + "\n");
}

TEST_CASE("format: what has mistakes is left alone") {
  const Formatted result = format_rules("x.rules", "RULE r MATCH a ==");
  CHECK(result.text.empty());
  CHECK_FALSE(result.diagnostics.empty());
}

TEST_CASE("format: every rule file of the repository keeps its tree and its comments") {
  for (const std::string& text : rule_texts()) check_properties(text);
}

TEST_CASE("format: comments between any two words are kept") {
  const std::vector<std::string> texts = rule_texts();
  const unsigned seed = 20260105;
  std::mt19937 random(seed);
  CAPTURE(seed);
  for (int round = 0; round < 1500; ++round) {
    const std::string& text = texts[random() % texts.size()];
    syntax::Problems none;
    const syntax::Tokens tokens = syntax::lex(text, none).tokens;
    std::string commented;
    std::size_t at = 0;
    for (const syntax::Token& token : tokens) {
      commented += text.substr(at, token.where.begin - at);
      at = token.where.begin;
      // Within a name like n[0] or before a unit there can be no blank, but before any token that stood alone.
      if (token.glued || random() % 8 != 0) continue;
      const std::string name = "# c" + std::to_string(random() % 1000);
      const unsigned kind = random() % 4;
      commented += kind == 0   ? name + "\n"
                   : kind == 1 ? "\n" + name + "\n"
                   : kind == 2 ? "\n\n   " + name + "\n"
                               : "\n";
    }
    commented += text.substr(at);
    if (!parse("x.rules", commented).diagnostics.empty()) continue;
    check_properties(commented);
  }
}

}  // namespace
}  // namespace cepd::dsl::testing
