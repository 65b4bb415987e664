#include "dsl/parse.h"

#include "tests/dsl/parse_testing.h"

namespace cepd::dsl::testing {
namespace {

template <class Node>
Node node(const ast::ExprPtr& expr) {
  REQUIRE(std::holds_alternative<Node>(expr->node));
  return std::get<Node>(expr->node);
}

template <class Value>
Value value(const std::string& text) {
  const auto literal = node<ast::Literal>(condition(text));
  REQUIRE(std::holds_alternative<Value>(literal.value));
  return std::get<Value>(literal.value);
}

std::string slice(const ast::File& file, ast::Location where) {
  return file.text.substr(where.begin, where.end - where.begin);
}

/// A tree with all its parentheses.
std::string grouped(const ast::ExprPtr& expr) {
  const auto* binary = std::get_if<ast::Binary>(&expr->node);
  if (const auto* unary = std::get_if<ast::Unary>(&expr->node)) {
    return std::string(unary->op == ast::UnaryOp::kNot ? "(NOT " : "(- ") + grouped(unary->operand) + ")";
  }
  if (const auto* in = std::get_if<ast::In>(&expr->node)) return "(" + grouped(in->operand) + " IN)";
  if (const auto* between = std::get_if<ast::Between>(&expr->node)) {
    return "(" + grouped(between->operand) + " BETWEEN " + grouped(between->low) + " AND " + grouped(between->high) +
           ")";
  }
  if (binary == nullptr) return print(*expr);
  const std::vector<std::string> names = {"OR", "AND", "=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"};
  return "(" + grouped(binary->left) + " " + names.at(static_cast<std::size_t>(binary->op)) + " " +
         grouped(binary->right) + ")";
}

const ast::Element& element(const ast::Sequence& sequence, std::size_t index) {
  return sequence.steps.at(index).choice.alternatives.at(0).members.at(0);
}

TEST_CASE("parse: a file without statements is empty") {
  CHECK(parsed("").statements.empty());
  CHECK(parsed("# nothing yet\n\n  # here").statements.empty());
  CHECK(parsed("\xEF\xBB\xBF").statements.empty());
}

TEST_CASE("parse: a bare pattern is a rule named after its file") {
  const Parsed result = parse("rules/door open.rules", "# first\n`door/open` THEN alarm WITHIN 5m # last");
  CHECK(result.diagnostics.empty());
  REQUIRE_EQ(result.file.statements.size(), 1);
  const auto& rule = std::get<ast::Rule>(result.file.statements[0]);
  CHECK(rule.bare);
  CHECK_EQ(rule.name.text, "door open");
  CHECK_EQ(rule.pattern.steps.size(), 2);
  REQUIRE(rule.within);
  CHECK_EQ(std::get<Micros>(rule.within->value), std::chrono::minutes(5));
  CHECK_FALSE(rule.pattern.within);
}

TEST_CASE("parse: every clause of a rule is read") {
  const auto rule = only<ast::Rule>(R"(RULE cart_rescue SHADOW "soon after"
    FROM * KEY user_id, cart.`type`
    MATCH a THEN b WITHIN 5m UNLESS c[x = 1], d BY e, f
    WHERE a.x = 1 HAVING b.y > 2 AFTER MATCH SKIP TO LAST b
    EMIT user_id, a.x AS x INTO derived LIMIT 3 PER 1h LABELS severity: "warning"
    DO alert("{x}", to: user_id) ON TIMEOUT EMIT user_id DO log())");
  CHECK_EQ(rule.name.text, "cart_rescue");
  CHECK(rule.status == ast::RuleStatus::kShadow);
  CHECK_EQ(*rule.description, "soon after");
  CHECK(rule.from->any);
  REQUIRE_EQ(rule.key.size(), 2);
  CHECK_EQ(to_string(rule.key[1].path), "cart.type");
  CHECK(rule.key[1].quoted);
  CHECK_EQ(rule.unless.size(), 2);
  CHECK_EQ(rule.unless[1].by.size(), 2);
  CHECK(rule.where_condition);
  CHECK(rule.having);
  CHECK(rule.after_match->policy == ast::Policy::kSkipToLast);
  CHECK_EQ(rule.after_match->element->text, "b");
  CHECK_EQ(rule.emit->items.size(), 2);
  CHECK_EQ(rule.emit->into->text, "derived");
  CHECK_EQ(rule.limit->count, 3);
  CHECK_EQ(rule.labels.size(), 1);
  REQUIRE_EQ(rule.actions.size(), 1);
  CHECK_FALSE(rule.actions[0].arguments[0].name);
  CHECK_EQ(rule.actions[0].arguments[1].name->text, "to");
  CHECK_EQ(rule.on_timeout->emit->items.size(), 1);
  CHECK_EQ(rule.on_timeout->actions.size(), 1);
}

TEST_CASE("parse: FROM and KEY stand in either order") {
  const std::string one = "RULE r FROM a KEY k MATCH a", other = "RULE r KEY k FROM a MATCH a";
  CHECK_EQ(canonical(one), canonical(other));
}

TEST_CASE("parse: in a list of events BY has as many fields as KEY") {
  const auto one = only<ast::Rule>("RULE r FROM a BY x, b BY y, c KEY k MATCH a");
  REQUIRE_EQ(one.from->inputs.size(), 3);
  CHECK_EQ(one.from->inputs[1].by.size(), 1);
  CHECK_EQ(only<ast::Rule>("RULE r FROM a BY match, b KEY k MATCH a").from->inputs.size(), 2);
  const auto two = only<ast::Rule>("RULE r KEY key, k.from MATCH a UNLESS b BY x, y, c");
  REQUIRE_EQ(two.unless.size(), 2);
  CHECK_EQ(two.unless[0].by.size(), 2);
}

TEST_CASE("parse: a bracket after BY is an index or a condition") {
  const auto rule = only<ast::Rule>("RULE r KEY k MATCH a BY tags[0][x > 1] THEN b BY y[5 > x]");
  const auto& a = std::get<ast::EventPattern>(element(rule.pattern, 0).item);
  CHECK_EQ(to_string(a.by.at(0)), "tags[0]");
  CHECK(a.condition);
  const auto& b = std::get<ast::EventPattern>(element(rule.pattern, 1).item);
  CHECK_EQ(to_string(b.by.at(0)), "y");
  CHECK_EQ(print(*b.condition), "5 > x");
}

TEST_CASE("parse: keywords have any case and are names where no keyword is expected") {
  CHECK_EQ(canonical("a then any b within 5m"), "a THEN ANY b WITHIN 5m\n");
  CHECK_EQ(
      canonical("rule disabled disabled key match, from match per then first[times = key and this.`null` = 1]"),
      "RULE disabled DISABLED\n  KEY     match, from\n  MATCH   per THEN first[times = key AND this.`null` = 1]\n");
  CHECK_EQ(canonical("RULE r MATCH a WHERE a.null = b.in EMIT a.and AS or DO log(not: a.x)"),
           "RULE r\n  MATCH   a\n  WHERE   a.null = b.in\n  EMIT    a.and AS or\n  DO      log(not: a.x)\n");
}

TEST_CASE("parse: every reserved word is a name in back quotes and nowhere else") {
  for (const std::string& word : keywords()) {
    CAPTURE(word);
    CHECK(parse("x.rules", "a THEN `" + word + "`").diagnostics.empty());
    CHECK_EQ(parse("x.rules", "a THEN " + word + " AS x").diagnostics.empty(), !is_reserved(word));
    CHECK_EQ(parse("x.rules", "a AS " + word).diagnostics.empty(), !is_reserved(word));
    CHECK_EQ(parse("x.rules", "RULE " + word + " MATCH a").diagnostics.empty(), !is_reserved(word));
    CHECK(parse("x.rules", "a[b." + word + " = 1]").diagnostics.empty());
  }
  CHECK_EQ(is_reserved("Match"), true);
  CHECK_EQ(is_reserved("matching"), false);
  for (const std::string word : {"AND", "OR", "NOT", "IN", "IS", "BETWEEN", "MATCHES", "PAST", "this"}) {
    CAPTURE(word);
    CHECK_FALSE(parse("x.rules", "a[" + word + " = 1]").diagnostics.empty());
    CHECK(parse("x.rules", "a[`" + word + "` = 1]").diagnostics.empty());
  }
}

TEST_CASE("parse: literals") {
  CHECK_EQ(value<std::int64_t>("30"), 30);
  CHECK_EQ(value<std::int64_t>("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  CHECK_EQ(value<std::int64_t>("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  CHECK_EQ(value<double>("3.0"), 3.0);
  CHECK_EQ(value<double>("-3.5"), -3.5);
  CHECK_EQ(value<double>("1e3"), 1000.0);
  CHECK_EQ(value<double>("2.5E-3"), 0.0025);
  CHECK_EQ(value<double>("1e-400"), 0.0);
  CHECK_EQ(value<bool>("TRUE"), true);
  CHECK_EQ(value<bool>("false"), false);
  value<ast::Null>("null");
  CHECK_EQ(value<Micros>("1h30m"), std::chrono::minutes(90));
  CHECK_EQ(value<Micros>("250us"), Micros(250));
  CHECK_EQ(value<Micros>("0s"), Micros(0));
  CHECK_EQ(value<EventTime>("@\"1970-01-01T00:00:01Z\""), event_time_us(1'000'000));
  CHECK_EQ(node<ast::ConstantRef>(condition("$max_amount")).name, "max_amount");
}

TEST_CASE("parse: strings take both quotes and the escapes") {
  CHECK_EQ(value<std::string>(R"("it's #1")"), "it's #1");
  CHECK_EQ(value<std::string>(R"('say "hi"')"), "say \"hi\"");
  CHECK_EQ(value<std::string>(R"("\n\t\\\"\'")"), "\n\t\\\"'");
  CHECK_EQ(value<std::string>(R"("\u{41}\u{e9}\u{20AC}\u{1F600}")"), "A\u00e9\u20ac\U0001F600");
  CHECK_EQ(value<std::string>("\"\u00fcber\""), "\u00fcber");
}

TEST_CASE("parse: a minus sign is part of a number") {
  CHECK_EQ(value<std::int64_t>("-(5)"), -5);
  CHECK_EQ(grouped(condition("a -5 = 1")), "((a - 5) = 1)");
  CHECK_EQ(grouped(condition("- -5 = 1")), "((- -5) = 1)");
  CHECK_EQ(grouped(condition("-a * 2 = 1")), "(((- a) * 2) = 1)");
}

TEST_CASE("parse: precedence from OR to the sign") {
  CHECK_EQ(grouped(condition("a = 1 OR b = 2 AND NOT c = 3 + 4 * -d % 5")),
           "((a = 1) OR ((b = 2) AND (NOT (c = (3 + ((4 * (- d)) % 5))))))");
  CHECK_EQ(grouped(condition("1 - 2 - 3 = a / b / c")), "(((1 - 2) - 3) = ((a / b) / c))");
  CHECK_EQ(grouped(condition("(a OR b) AND c")), "((a OR b) AND c)");
  CHECK_EQ(grouped(condition("NOT NOT a")), "(NOT (NOT a))");
  CHECK_EQ(grouped(condition("a + 1 BETWEEN 2 AND 3 + 4 AND b")), "(((a + 1) BETWEEN 2 AND (3 + 4)) AND b)");
  CHECK_EQ(grouped(condition("NOT a IN (1, 2) OR b")), "((NOT (a IN)) OR b)");
}

TEST_CASE("parse: tests of values with and without NOT") {
  for (const bool negated : {false, true}) {
    const std::string no = negated ? "not " : "";
    CHECK_EQ(node<ast::In>(condition("a " + no + "in (1, b, \"c\")")).list.size(), 3);
    CHECK_EQ(node<ast::In>(condition("a " + no + "in (1)")).negated, negated);
    CHECK_EQ(node<ast::Between>(condition("a " + no + "between 1 and 2")).negated, negated);
    CHECK_EQ(node<ast::Matches>(condition("a " + no + "matches \"^x\"")).negated, negated);
    CHECK_EQ(node<ast::Matches>(condition("a " + no + "matches $re")).negated, negated);
    CHECK_EQ(node<ast::IsNull>(condition("a is " + no + "null")).negated, negated);
  }
}

TEST_CASE("parse: paths and calls") {
  const auto path = node<ast::PathRef>(condition("this.cart.`door/open`[-1].f"));
  CHECK(path.from_this);
  CHECK_EQ(to_string(path.path), "cart.`door/open`[-1].f");
  CHECK_FALSE(node<ast::PathRef>(condition("`this`.cart")).from_this);
  CHECK(node<ast::PathRef>(condition("n.`ts`")).quoted);
  CHECK_FALSE(node<ast::PathRef>(condition("n.ts")).quoted);
  CHECK_FALSE(node<ast::PathRef>(condition("`ts`.n")).quoted);
  const auto call = node<ast::Call>(condition("if(a > 1, count(), coalesce(b, 2))"));
  CHECK_EQ(call.function.text, "if");
  CHECK_EQ(call.arguments.size(), 3);
  CHECK(node<ast::Call>(call.arguments[1]).arguments.empty());
}

TEST_CASE("parse: elements") {
  const auto rule = only<ast::Rule>("NOT a|b BY x, y[c = 1]{2,3} AS n THEN (p OR q AND r WITHIN 2s)? NEXT *");
  const ast::Element& first = element(rule.pattern, 0);
  CHECK(first.negated);
  const auto& event = std::get<ast::EventPattern>(first.item);
  CHECK_EQ(event.types.size(), 2);
  CHECK_EQ(event.by.size(), 2);
  CHECK(event.condition);
  CHECK_EQ(first.as->text, "n");
  const auto& group = *std::get<std::shared_ptr<const ast::Sequence>>(element(rule.pattern, 1).item);
  CHECK(group.within);
  CHECK_EQ(group.steps.at(0).choice.alternatives.size(), 2);
  CHECK_EQ(group.steps.at(0).choice.alternatives.at(1).members.size(), 2);
  CHECK(std::get<ast::EventPattern>(element(rule.pattern, 2).item).types.empty());
  CHECK(rule.pattern.steps[2].link.kind == ast::LinkKind::kNext);
}

TEST_CASE("parse: quantifiers") {
  struct Case {
    std::string text;
    std::uint32_t min;
    std::optional<std::uint32_t> max;
  };
  for (const Case& c : {Case{"?", 0, 1}, Case{"+", 1, {}}, Case{"*", 0, {}}, Case{"{3}", 3, 3}, Case{"{3,}", 3, {}},
                        Case{"{3,5}", 3, 5}, Case{"{,5}", 0, 5}, Case{"{1000000}", 1000000, 1000000}}) {
    CAPTURE(c.text);
    const auto rule = only<ast::Rule>("a" + c.text);
    const auto& quantifier = element(rule.pattern, 0).quantifier;
    REQUIRE(quantifier);
    CHECK_EQ(quantifier->min, c.min);
    CHECK(quantifier->max == c.max);
  }
}

TEST_CASE("parse: modifiers of a quantifier and bounds of a link stand in any order") {
  CHECK_EQ(canonical("a+ UNTIL x[c = 1] GREEDY CONSECUTIVE THEN AFTER 1s WITHIN $far b"),
           "a+ CONSECUTIVE GREEDY UNTIL x[c = 1] THEN WITHIN $far AFTER 1s b\n");
  CHECK_EQ(canonical("a+ GREEDY UNTIL x COMBINATIONS THEN ANY WITHIN 2s AFTER 1s b"),
           "a+ COMBINATIONS GREEDY UNTIL x THEN ANY WITHIN 2s AFTER 1s b\n");
}

TEST_CASE("parse: locations are those of the text") {
  const ast::File file =
      parsed("RULE r\n  MATCH a{2,3} GREEDY UNTIL x THEN WITHIN 2s b[c + 1 = 2] AS n\n  WHERE n.d > 3\n");
  const auto& rule = std::get<ast::Rule>(file.statements.at(0));
  CHECK_EQ(slice(file, rule.name.where), "r");
  CHECK_EQ(slice(file, rule.where).substr(0, 6), "RULE r");
  CHECK_EQ(slice(file, element(rule.pattern, 0).where), "a{2,3} GREEDY UNTIL x");
  CHECK_EQ(slice(file, element(rule.pattern, 0).quantifier->where), "{2,3}");
  CHECK_EQ(slice(file, element(rule.pattern, 0).quantifier->modifiers_where), "GREEDY UNTIL x");
  CHECK_EQ(slice(file, rule.pattern.steps[1].link.where), "THEN WITHIN 2s");
  const auto& event = std::get<ast::EventPattern>(element(rule.pattern, 1).item);
  CHECK_EQ(slice(file, event.where), "b[c + 1 = 2]");
  CHECK_EQ(slice(file, event.condition->where), "c + 1 = 2");
  CHECK_EQ(slice(file, std::get<ast::Binary>(event.condition->node).left->where), "c + 1");
  CHECK_EQ(slice(file, element(rule.pattern, 1).as->where), "n");
  CHECK_EQ(slice(file, rule.where_condition->where), "n.d > 3");
}

TEST_CASE("parse: EVENT and CONST") {
  const auto event = only<ast::EventDecl>("EVENT `door/open` (user string, test int?, `a b` double)");
  CHECK_EQ(event.name.text, "door/open");
  REQUIRE_EQ(event.fields.size(), 3);
  CHECK_EQ(event.fields[1].name.text, "test");
  CHECK(event.fields[1].nullable);
  CHECK_FALSE(event.fields[2].nullable);
  const auto constant = only<ast::ConstDecl>("CONST low = -3");
  CHECK_EQ(std::get<std::int64_t>(std::get<ast::Literal>(constant.value->node).value), -3);
}

TEST_CASE("parse: TEST") {
  const auto test = only<ast::Test>(R"(TEST t FOR r MAX DELAY 0s
    GIVEN a @0s {user: "u1", "x y": [1, {in: null}], n: -2.5, d: $c}
          a @"1970-01-01T00:00:02Z" TIMES 5 EVERY 10s
          times @3s
          WATERMARK @10m
    EXPECT MATCH {user: "u1"} @2m TIMEOUT WINDOW {}
    GIVEN b @20m {}
    EXPECT NOTHING)");
  CHECK_EQ(test.rule.text, "r");
  CHECK_EQ(std::get<Micros>(test.max_delay->value), Micros(0));
  REQUIRE_EQ(test.stages.size(), 2);
  REQUIRE_EQ(test.stages[0].given.size(), 4);
  const auto& first = std::get<ast::GivenEvent>(test.stages[0].given[0]);
  REQUIRE_EQ(first.fields.fields.size(), 4);
  CHECK_EQ(first.fields.fields[1].name.text, "x y");
  CHECK_EQ(std::get<ast::TestList>(first.fields.fields[1].value.node).values.size(), 2);
  const auto& second = std::get<ast::GivenEvent>(test.stages[0].given[1]);
  CHECK_EQ(to_us(second.at.value), 2'000'000);
  CHECK_EQ(second.times, 5);
  CHECK(second.every);
  CHECK_EQ(std::get<ast::GivenEvent>(test.stages[0].given[2]).type.text, "times");
  CHECK_EQ(to_us(std::get<ast::GivenWatermark>(test.stages[0].given[3]).at.value), 600'000'000);
  REQUIRE_EQ(test.stages[0].expected.size(), 3);
  CHECK_EQ(to_us(test.stages[0].expected[0].at->value), 120'000'000);
  CHECK(test.stages[0].expected[1].kind == ast::ExpectKind::kTimeout);
  CHECK(test.stages[0].expected[2].kind == ast::ExpectKind::kWindow);
  CHECK(test.stages[1].expected.empty());
}

TEST_CASE("parse: line ends, byte order mark and comments do not matter") {
  const std::string text = "\xEF\xBB\xBFRULE r # one\r\n  MATCH a # `two`\r\n  WHERE a.x = \"#3\"\r\n";
  CHECK_EQ(canonical(text), "RULE r\n  MATCH   a\n  WHERE   a.x = \"#3\"\n");
}

TEST_CASE("parse: nesting is bounded before it can exhaust the stack") {
  const auto nested = [](std::size_t n) { return "a[" + std::string(n, '(') + "x" + std::string(n, ')') + "]"; };
  CHECK(complaints(nested(kMaxNesting - 1)).empty());
  CHECK_EQ(complaint(nested(kMaxNesting)), "1:102+1 nested more than 100 deep");
  CHECK_EQ(complaint(nested(100'000)), "1:102+1 nested more than 100 deep");
  std::string nots, signs;
  for (int i = 0; i < 100'000; ++i) nots += "NOT ", signs += "- ";
  CHECK_EQ(complaint("a[" + nots + "x]"), "1:399+3 nested more than 100 deep");
  CHECK_EQ(complaint("a[" + signs + "x]"), "1:201+1 nested more than 100 deep");
  CHECK_EQ(complaint(std::string(10'000, '(') + "a"), "1:101+1 nested more than 100 deep");
  CHECK_EQ(complaint("TEST t FOR r GIVEN a @0s {x: " + std::string(10'000, '[')), "1:129+1 nested more than 100 deep");
}

TEST_CASE("parse: subtraction is not nesting, long chains have a bound") {
  std::string chain = "a[x", longer = "a[x";
  for (int i = 0; i < 1000; ++i) chain += " - y";
  for (int i = 0; i < 50'000; ++i) longer += " AND y";
  CHECK(complaints(chain + "]").empty());
  CHECK_EQ(
      complaint(longer + "]"),
      "1:3+6007 this expression is too long: more than 1000 operators | put parts of it in parentheses, or use IN");
}

TEST_CASE("parse: what is no rule file gives diagnostics") {
  CHECK_EQ(complaint(std::string(kMaxFileBytes + 1, '#')),
           "1:1+1 this file is too large: a rule file has at most 1048576 bytes");
  CHECK(complaints(std::string(kMaxFileBytes, '#')).empty());
  CHECK_EQ(complaint(std::string("a\nTHEN \0 b", 10)), "2:6+1 a NUL character: this is no text file");
  for (const std::string bad :
       {"\x80", "\xC0\xAF", "\xC3", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE0\x80\x80", "\xFF"}) {
    CHECK_EQ(complaint("a # " + bad), "1:5+1 this is not UTF-8 text | save the file as UTF-8");
  }
  CHECK(complaints("a # \u00e9 \u20ac \U0001F600").empty());
}

TEST_CASE("parse: after the hundredth error the rest is not shown") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "RULE r MATCH a b\n";
  const std::vector<std::string> all = complaints(text);
  REQUIRE_EQ(all.size(), 101);
  CHECK_EQ(all.back(), "100:16+1 too many errors; what follows is not shown");
}

}  // namespace
}  // namespace cepd::dsl::testing
