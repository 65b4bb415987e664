/// What people write by mistake, and what they are told.

#include "dsl/syntax_error.h"

#include "tests/dsl/parse_testing.h"

namespace cepd::dsl::testing {
namespace {

const std::string kOrder =
    " | the order is FROM and KEY, MATCH, WITHIN, UNLESS, WHERE, HAVING, AFTER MATCH, EMIT, LIMIT, LABELS, DO, ON "
    "TIMEOUT";

TEST_CASE("syntax error: near misses of keywords") {
  CHECK_EQ(complaint("a THEN b WITHNI 5m"),
           "1:10+6 expected THEN, NEXT, WITHIN or the end of the file after b | did you mean WITHIN?");
  CHECK_EQ(complaint("a THN b"),
           "1:3+3 expected THEN, NEXT, WITHIN or the end of the file after a | did you mean THEN?");
  CHECK_EQ(complaint("RULE r MACTH a"), "1:8+5 expected FROM, KEY or MATCH after r | did you mean MATCH?");
  CHECK_EQ(complaint("RULE r\n  KEY k\n  MACTH a"), "3:3+5 expected FROM or MATCH after k | did you mean MATCH?");
  CHECK_EQ(complaint("RUEL r\n  MATCH a"),
           "1:1+4 expected a statement: EVENT, CONST, RULE or TEST | did you mean RULE?");
  CHECK_EQ(complaint("CONST x = 1\nRUEL r MATCH a"),
           "2:1+4 expected a statement: EVENT, CONST, RULE or TEST | did you mean RULE?");
  CHECK_EQ(complaint("a THEN WITHNI 5m b"), "1:8+6 WITHNI was taken for a name | did you mean WITHIN?");
  CHECK_EQ(complaint("RULE r MATCH a EMTI a.x"),
           "1:16+4 expected THEN, NEXT, WITHIN or another clause after a | did you mean EMIT?");
}

TEST_CASE("syntax error: order within an element") {
  CHECK_EQ(complaint("a AS x? THEN b"), "1:7+1 the quantifier goes before AS | write a? AS x");
  CHECK_EQ(complaint("a AS x{2,3}"), "1:7+1 the quantifier goes before AS | write a{2,3} AS x");
  CHECK_EQ(complaint("a AS x[c = 1]"), "1:7+1 the condition goes before AS | write a[ ... ] AS x");
  CHECK_EQ(complaint("a+ AS x GREEDY"), "1:9+6 GREEDY goes before AS");
  CHECK_EQ(complaint("a{2}[c = 1]"), "1:5+1 the condition goes before the quantifier | write a[c = 1]{2}");
  CHECK_EQ(complaint("a+[c = 1]"), "1:3+1 the condition goes before the quantifier | write a[c = 1]+");
  CHECK_EQ(complaint("(a THEN b)[c = 1]"), "1:11+1 a condition stands on an event, not on a group");
  CHECK_EQ(complaint("a[c = 1][d = 1]"), "1:9+1 a second condition | join the two with AND");
  CHECK_EQ(complaint("a[c = 1] BY x"), "1:10+2 BY goes right after the event type, before the condition");
  CHECK_EQ(complaint("a GREEDY"), "1:3+6 GREEDY follows a quantifier | write it like A+ GREEDY");
  CHECK_EQ(complaint("a+{2}"), "1:3+1 an element has one quantifier | put the inner one in parentheses: (A+){2}");
}

TEST_CASE("syntax error: bounds in the middle") {
  CHECK_EQ(
      complaint("A THEN B WITHIN 2s THEN C"),
      "1:10+9 WITHIN bounds a whole pattern or group, or stands in a link | write THEN WITHIN 2s C, or put what it "
      "bounds in parentheses: ( ... WITHIN 2s)");
  CHECK_EQ(
      complaint("(A THEN B){2} WITHIN 5s THEN C"),
      "1:15+9 WITHIN bounds a whole pattern or group, or stands in a link | write THEN WITHIN 5s C, or ( ... WITHIN "
      "5s) to bound the group");
  CHECK_EQ(complaint("RULE r MATCH A WITHIN 2s OR B"),
           "1:16+9 WITHIN goes after the whole pattern, or inside the parentheses of a group | put what it bounds in "
           "parentheses: ( ... WITHIN 2s)");
  const std::string after = " AFTER stands in a link | write THEN AFTER 5s and then what must come so much later";
  CHECK_EQ(complaint("A AFTER 5s THEN B"), "1:3+5" + after);
  CHECK_EQ(complaint("RULE r MATCH A AFTER 5s THEN B"), "1:16+5" + after);
}

TEST_CASE("syntax error: clauses out of order or repeated") {
  CHECK_EQ(complaint("RULE r MATCH a WHERE a.x = 1 WITHIN 3s"),
           "1:30+6 WITHIN goes right after the pattern, before WHERE" + kOrder);
  CHECK_EQ(complaint("RULE r MATCH a UNLESS b WITHIN 3s"),
           "1:25+6 WITHIN goes right after the pattern, before UNLESS" + kOrder);
  CHECK_EQ(complaint("RULE r MATCH a KEY k"), "1:16+3 KEY goes before MATCH" + kOrder);
  CHECK_EQ(complaint("RULE r MATCH a HAVING a.x > 1 WHERE a.y = 1"), "1:31+5 WHERE goes before HAVING" + kOrder);
  CHECK_EQ(complaint("RULE r MATCH a DO log() EMIT a.x"), "1:25+4 EMIT goes before DO" + kOrder);
  CHECK_EQ(complaint("RULE r MATCH a ON TIMEOUT DO log() EMIT a.x"), "1:36+4 EMIT goes before DO" + kOrder);
  CHECK_EQ(complaint("RULE r MATCH a ON TIMEOUT DO log() WHERE a.x = 1"),
           "1:36+5 WHERE goes before ON TIMEOUT" + kOrder);
  CHECK_EQ(complaint("RULE r WHERE a.x = 1"), "1:8+5 a rule needs MATCH before WHERE" + kOrder);
  CHECK_EQ(complaint("RULE r MATCH a WITHIN 5m WITHIN 6m"), "1:26+6 a second WITHIN: a rule has one | leave one out");
  CHECK_EQ(complaint("RULE r MATCH a WHERE a.x = 1 WHERE a.y = 2"),
           "1:30+5 a second WHERE: a rule has one | join the conditions with AND");
  CHECK_EQ(complaint("RULE r MATCH a AFTER MATCH NO SKIP AFTER MATCH CONSUME"),
           "1:36+5 a second AFTER MATCH: a rule has one | leave one out");
  CHECK_EQ(complaint("RULE r KEY a KEY b MATCH a"),
           "1:14+3 a second KEY: a rule has one | put all into one list, with commas");
  CHECK_EQ(complaint("RULE r \"text\" SHADOW MATCH a"), "1:15+6 SHADOW goes right after the name of the rule");
  CHECK_EQ(complaint("RULE r KEY MATCH a"),
           "1:18+1 expected FROM or MATCH after MATCH | MATCH was taken for the name of a field here");
}

TEST_CASE("syntax error: a bare pattern has no clauses") {
  const std::string message =
      " a file that begins with a pattern holds nothing but the pattern and its WITHIN | for more write RULE name, "
      "MATCH "
      "and the pattern";
  CHECK_EQ(complaint("a THEN b WHERE a.x = 1"), "1:10+5" + message);
  CHECK_EQ(complaint("a THEN b\nRULE r MATCH a"), "2:1+4" + message);
}

TEST_CASE("syntax error: operators of other languages") {
  CHECK_EQ(joined_complaints("a[x == 1 && y <> 2 || !z]"),
           "1:5+2 equality is written with one = | write =\n"
           "1:10+2 && is no operator | write AND\n"
           "1:15+2 <> is no operator | write !=\n"
           "1:20+2 || is no operator | write OR (one | joins the types of an element)\n"
           "1:23+1 ! is no operator | write NOT\n");
  CHECK_EQ(complaint("a[x < y < z]"), "1:9+1 comparisons do not chain | write them apart: a < b AND b < c");
  CHECK_EQ(complaint("a[x = y IS NULL]"), "1:9+2 comparisons do not chain | write them apart: a < b AND b < c");
  CHECK_EQ(complaint("a[x LIKE \"y%\"]"),
           "1:5+4 LIKE is no operator | write MATCHES with a regular expression, starts_with or contains");
  CHECK_EQ(complaint("a[x = NOT y]"),
           "1:7+3 NOT binds less tightly than what stands before it | put it in parentheses: (NOT a)");
  CHECK_EQ(complaint("a -> b"), "1:3+2 -> is no operator | write THEN or NEXT");
  CHECK_EQ(complaint("a; "), "1:2+1 statements do not end with ; | leave it out");
  CHECK_EQ(complaint("a // b"), "1:3+2 a comment begins with # | write # instead of //");
}

TEST_CASE("syntax error: durations") {
  CHECK_EQ(complaint("a WITHIN 1h 30m"), "1:10+6 a duration has no spaces in it | write 1h30m");
  CHECK_EQ(complaint("a WITHIN 5 m"), "1:10+3 a duration has no spaces in it | write 5m");
  CHECK_EQ(complaint("a WITHIN 1.5h"), "1:10+4 a duration has no fraction: 1.5h | write 1h30m");
  const std::string units = " a duration is written with the units d h m s ms us, larger first and each once: ";
  CHECK_EQ(complaint("a WITHIN 30m1h"), "1:10+5" + units + "30m1h | write 1h30m");
  CHECK_EQ(complaint("a WITHIN 1h1h"), "1:10+4" + units + "1h1h | write 2h");
  CHECK_EQ(complaint("a WITHIN 5min"), "1:10+4" + units + "5min | write 5m");
  CHECK_EQ(complaint("a WITHIN 5M"), "1:10+2" + units + "5M | write 5m");
  CHECK_EQ(complaint("a WITHIN 5"), "1:10+1 a duration needs a unit | write it like 5s, 5m or 5h");
  CHECK_EQ(complaint("a WITHIN \"5m\""), "1:10+4 a duration has no quotes | write 5m");
  CHECK_EQ(complaint("a WITHIN -5m"), "1:10+1 a duration cannot be negative");
  CHECK_EQ(complaint("a WITHIN soon"),
           "1:10+4 expected a duration such as 5m after WITHIN | if soon is a CONST, write $soon");
  CHECK_EQ(
      complaint("a[ts > 9999999999999999999d]"),
      "1:8+20 this duration is no sum of units or too long: 9999999999999999999d | units are us ms s m h d, larger "
      "first: 5m, 1h30m");
  const std::string zero = " this duration must be greater than zero";
  CHECK_EQ(complaint("a WITHIN 0s"), "1:10+2" + zero);
  CHECK_EQ(complaint("a THEN AFTER 0ms b"), "1:14+3" + zero);
  CHECK_EQ(complaint("RULE r MATCH a LIMIT 1 PER 0h"), "1:28+2" + zero);
  CHECK_EQ(complaint("TEST t FOR r GIVEN a @0s {} TIMES 2 EVERY 0s EXPECT NOTHING"), "1:43+2" + zero);
}

TEST_CASE("syntax error: numbers, strings and names") {
  CHECK_EQ(complaint("a[x = .5]"), "1:7+2 a number begins with a digit | write 0.5");
  CHECK_EQ(complaint("a[x = 5.]"), "1:7+2 a number has digits after its point | write 5.0");
  CHECK_EQ(complaint("a[x = 1_000]"), "1:7+5 a number has no _ in it | write 1000");
  CHECK_EQ(complaint("a[x = 12abc]"),
           "1:7+5 neither a number nor a duration: 12abc | units are us ms s m h d, larger first: 5m, 1h30m");
  const std::string wide = " this number does not fit 64 bits | write it with a point for a double";
  CHECK_EQ(complaint("a[x = 9223372036854775808]"), "1:7+19" + wide);
  CHECK_EQ(complaint("a[x = -9223372036854775809]"), "1:8+19" + wide);
  CHECK_EQ(complaint("a[x[4294967296].y = 1]"), "1:5+10 this index is too large");
  CHECK(complaints("RULE r KEY k MATCH a BY b[4294967296 > x]").empty());
  CHECK_EQ(complaint("a[x = 1e999]"), "1:7+5 this number is too large for a double");
  CHECK_EQ(complaint(R"(a[x MATCHES "\d+"])"),
           R"(1:14+2 unknown escape \d: known are \n \t \\ \" \' \u{...} | for a backslash write \\d)");
  CHECK_EQ(complaint(R"(a[x = "\u00e9"])"),
           R"(1:8+2 \u needs the number of a character in braces | write it like \u{e9} or \u{1F600})");
  CHECK_EQ(complaint("a[x = \"y]\nTHEN b"),
           "1:7+3 this string does not end on its line | put a \" after it; a new line in a string is written \\n");
  CHECK_EQ(complaint("a THEN `b\n"), "1:8+2 this name in back quotes does not end on its line | put a ` after it");
  CHECK_EQ(complaint("a[x = \u201cy\u201d]"), "1:7+1 strings stand in straight quotes | write \" or '");
  const std::string quotes = " a name with other characters than A-Z a-z 0-9 _ stands in back quotes | write ";
  CHECK_EQ(complaint("door/open THEN b"), "1:1+9" + quotes + "`door/open`");
  CHECK_EQ(complaint("RULE my-rule MATCH b"), "1:6+7" + quotes + "`my-rule`");
  CHECK_EQ(complaint("T\u00fcr THEN b"), "1:1+3" + quotes + "`T\u00fcr`");
  CHECK_EQ(complaint("\"door open\" THEN b"),
           "1:1+11 a name is not written as a string | write it plain or in back quotes: `door open`");
  CHECK_EQ(complaint("a THEN match"),
           "1:8+5 expected an event type after THEN | match is a keyword; as a name it stands in back quotes: `match`");
  CHECK_EQ(complaint("test THEN b"),
           "1:1+4 test is a keyword; as an event type it stands in back quotes | write `test`");
  CHECK_EQ(complaint("a[t > @\"yesterday\"]"),
           "1:7+12 this is no time of RFC 3339 | write it like @\"2026-01-05T22:00:00Z\"");
  CHECK_EQ(complaint("a[x = $ y]"),
           "1:7+1 expected the name of a constant after $ | constants are declared like CONST max_gap = 5m and written "
           "$max_gap");
}

TEST_CASE("syntax error: counts") {
  CHECK_EQ(complaint("a{3,2}"), "1:2+5 this repeat ends before it begins | write {2,3}");
  CHECK_EQ(complaint("a{0}"), "1:2+3 a repeat of at most 0 events is none | say NOT for an event that must not come");
  CHECK_EQ(complaint("a{,0}"), "1:2+4 a repeat of at most 0 events is none | say NOT for an event that must not come");
  CHECK_EQ(complaint("a{1000001}"), "1:3+7 a repeat counts to 1000000 at most");
  CHECK_EQ(complaint("a{1.5}"), "1:3+3 expected a whole number or , after {");
  CHECK_EQ(complaint("RULE r MATCH a LIMIT 0 PER 1h"), "1:22+1 this number must be at least 1");
  CHECK_EQ(complaint("a+ GREEDY GREEDY"), "1:11+6 GREEDY stands here a second time | leave one out");
  CHECK_EQ(complaint("a+ CONSECUTIVE COMBINATIONS"),
           "1:16+12 CONSECUTIVE and COMBINATIONS exclude each other | leave one out");
  CHECK_EQ(complaint("a THEN WITHIN 1s WITHIN 2s b"),
           "1:18+9 WITHIN stands in this link a second time | leave one out");
}

TEST_CASE("syntax error: what is not supported yet") {
  CHECK_EQ(
      joined_complaints("RULE r FROM a KEY k WINDOW TUMBLING 1m\n  HAVING count() > 1\n"
                        "STREAM s = a AS x JOIN b AS y ON x.i = y.i WITHIN 1m\nTABLE t FROM a KEY k\nRULE q MATCH a b"),
      "1:21+6 WINDOW is not supported yet\n"
      "3:1+6 STREAM is not supported yet\n"
      "4:1+5 TABLE is not supported yet\n"
      "5:16+1 expected THEN, NEXT, WITHIN or another clause after a | write AS b for a name, or THEN b for a next "
      "element\n");
  CHECK_EQ(complaint("a[count(login PAST 10m) = 0]"), "1:15+4 PAST is not supported yet");
  CHECK_EQ(complaint("a[avg(login[ok = true].ms PAST 10m) = 0]"), "1:27+4 PAST is not supported yet");
  CHECK_EQ(complaint("a[limits[id].most < 3]"),
           "1:10+2 expected a whole number between [ and ]; look-ups in tables are not supported yet");
}

TEST_CASE("syntax error: what is missing at the end is missing there") {
  CHECK_EQ(complaint("a THEN\n\n"), "1:7+1 expected an event type after THEN");
  CHECK_EQ(complaint("RULE r MATCH (a THEN b\nRULE q MATCH c"), "1:23+1 expected THEN, NEXT, WITHIN or ) after b");
  CHECK_EQ(complaint("RULE r MATCH a WHERE a.x =\n  EMIT a.y"), "1:27+1 expected a value after =");
  CHECK_EQ(complaint("RULE r MATCH a EMIT a.x b"),
           "1:25+1 expected a comma, INTO or another clause after x | write AS b for a name, or a comma before another "
           "item");
  CHECK_EQ(complaint("CONST x = y"), "1:11+1 a CONST is a literal | write \"y\" if it is a text");
  CHECK_EQ(
      complaint("EVENT e (a)"),
      "1:11+1 expected a type: bool, int, double, string, timestamp or duration after a | write it like EVENT cart_add "
      "(user_id string, price double?)");
}

TEST_CASE("syntax error: tests") {
  CHECK_EQ(complaint("TEST t FOR r GIVEN a 5m {} EXPECT NOTHING"), "1:22+2 a time in a test begins with @ | write @5m");
  CHECK_EQ(complaint("TEST t FOR r GIVEN a @5 {} EXPECT NOTHING"),
           "1:22+2 a time after @ needs a unit | write it like @5s or @\"2026-01-05T22:00:00Z\"");
  CHECK_EQ(complaint("TEST t FOR r GIVEN a @5s {x: 1 y: 2} EXPECT NOTHING"),
           "1:32+1 expected , or } after 1 | write it like GIVEN cart_add @0s {user_id: \"u1\"}");
  CHECK_EQ(complaint("TEST t FOR r GIVEN a @5s {x: y} EXPECT NOTHING"),
           "1:30+1 a text in a test stands in quotes | write \"y\"");
  CHECK_EQ(complaint("TEST t FOR r GIVEN a @5s {}"),
           "1:28+1 expected WATERMARK, an event type or EXPECT after } | write it like GIVEN cart_add @0s {user_id: "
           "\"u1\"}");
}

TEST_CASE("syntax error: all errors of a file come in one go, in order") {
  CHECK_EQ(joined_complaints("RULE a\n  MATCH x y\n  WHERE \"\\q\"\n\nRULE b\n  MATCH x{0}\n  EMIT x.event\n\nRULE c "
                             "MATCH\n\nCONST d = 1e\n"),

           "2:11+1 expected THEN, NEXT, WITHIN or another clause after x | write AS y for a name, or THEN y for a next "
           "element\n"
           "3:10+2 unknown escape \\q: known are \\n \\t \\\\ \\\" \\' \\u{...} | for a backslash write \\\\q\n"
           "6:10+3 a repeat of at most 0 events is none | say NOT for an event that must not come\n"
           "9:13+1 expected an event type after MATCH\n"
           "11:11+2 neither a number nor a duration: 1e | units are us ms s m h d, larger first: 5m, 1h30m\n");
}

TEST_CASE("syntax error: statements with an error are left out, the others are kept") {
  const Parsed result = parse("x.rules", "RULE a MATCH x y\nRULE b MATCH x\n  WHERE rule = 1\nTEST\nCONST c = 3\n");
  CHECK_EQ(result.diagnostics.size(), 2);
  REQUIRE_EQ(result.file.statements.size(), 2);
  CHECK_EQ(std::get<ast::Rule>(result.file.statements[0]).name.text, "b");
  CHECK_EQ(std::get<ast::ConstDecl>(result.file.statements[1]).name.text, "c");
}

}  // namespace
}  // namespace cepd::dsl::testing
