#include "dsl/check_expr.h"

#include <doctest/doctest.h>

#include "dsl/plan_print.h"
#include "tests/dsl/check_testing.h"

using namespace cepd;
using namespace cepd::dsl;

namespace {

/// Conditions of all elements of the rule, each as `#number condition`.
std::string conditions(const std::string& text) {
  std::string out;
  const auto set = loaded("RULE r " + text);
  const plan::Rule& rule = set->rules.at(0);
  for (std::size_t i = 0; i < rule.elements.size(); ++i) {
    for (const plan::ExprPtr& each : rule.elements[i].test.conditions) {
      out += "#" + std::to_string(i) + " " + print(*each) + "\n";
    }
  }
  return out;
}

std::string condition(const std::string& text) { return conditions("MATCH a[" + text + "]"); }

/// Errors of a condition in the [ ] of `b` in: a AS first THEN b{2} AS own THEN c AS later.
std::string in_brackets(const std::string& text) {
  return errors("RULE r MATCH a AS one THEN b[" + text + "]{2} AS own THEN c AS later WITHIN 1m");
}
std::string in_where(const std::string& text) {
  return errors("RULE r KEY u, dev.id MATCH a AS one THEN b{2} AS own WITHIN 1m WHERE " + text);
}
std::string in_having(const std::string& text) {
  return errors("RULE r KEY u, dev.id MATCH a AS one THEN NOT n AS none THEN b{2} AS own WITHIN 1m HAVING " + text);
}

}  // namespace

TEST_CASE("expressions: operators and literals stand in the plan as written") {
  CHECK(condition("x = 1 AND NOT y > 2.5 OR z IN (\"a\", 'b') AND w NOT BETWEEN 1 AND 2") ==
        "#0 (((tested.x = 1) AND (NOT (tested.y > 2.5))) OR ((tested.z IN (\"a\", \"b\")) AND "
        "(tested.w NOT BETWEEN 1 AND 2)))\n");
  CHECK(condition("x + 2 * y - z / 4 % 3 < -5") == "#0 (((tested.x + (2 * tested.y)) - ((tested.z / 4) % 3)) < -5)\n");
  CHECK(condition("-x < -2.5") == "#0 ((-tested.x) < -2.5)\n");
  CHECK(condition("x IS NULL OR y IS NOT NULL") == "#0 ((tested.x IS NULL) OR (tested.y IS NOT NULL))\n");
  CHECK(condition("x MATCHES \"^a+$\" OR y NOT MATCHES 'b'") ==
        "#0 ((tested.x MATCHES \"^a+$\") OR (tested.y NOT MATCHES \"b\"))\n");
  CHECK(condition("ts > @\"2026-01-05T22:00:00Z\" AND d < 1h30m AND b = true AND flag") ==
        "#0 ((((tested.@time > @\"2026-01-05T22:00:00Z\") AND (tested.d < 1h30m)) AND (tested.b = true)) AND "
        "tested.flag)\n");
  CHECK(condition("round(x) = abs(y) AND if(z > 1, true, flag)") ==
        "#0 ((round(tested.x) = abs(tested.y)) AND if((tested.z > 1), true, tested.flag))\n");
}

TEST_CASE("paths: nested, indexed, ts and type, and payload fields of those names in back quotes") {
  CHECK(condition("dev.id = tags[0] AND this.dev.id = this.ts") ==
        "#0 ((tested.dev.id = tested.tags[0]) AND "
        "(tested.dev.id = tested.@time))\n");
  CHECK(condition("`ts` = 1 AND `type` = 'x' AND type = 'a'") ==
        "#0 (((tested.ts = 1) AND (tested.type = \"x\")) AND (tested.@type = \"a\"))\n");
  CHECK(conditions("MATCH a AS x THEN b AS y WITHIN 1m WHERE y.ts - x.ts > 5s AND y.`type` = x.type") ==
        "#1 ((tested.@time - #0.@time) > 5s)\n#1 (tested.type = #0.@type)\n");
}

TEST_CASE("paths: in [ ] a bare name is a field, also one that an element is called by") {
  CHECK(conditions("MATCH temp[temp > 30] AS a THEN b[temp > a.temp AND a = 1] WITHIN 1m") ==
        "#0 (tested.temp > 30)\n#1 ((tested.temp > #0.temp) AND (tested.a = 1))\n");
  CHECK(conditions("MATCH dev THEN b[this.dev.id = dev.id] WITHIN 1m") == "#1 (tested.dev.id = #0.id)\n");
}

TEST_CASE("paths: elements in [ ]") {
  CHECK(
      conditions("MATCH a THEN b[x > a.x AND x > first(b.x) AND x > b.x AND x > b[0].x AND x > b[-2].x AND count(b) < "
                 "3 AND prev(x) > prev(this.y)]{2} WITHIN 1m") ==
      "#1 (((((((tested.x > #0.x) AND (tested.x > #1.first.x)) AND (tested.x > #1.x)) AND (tested.x > #1[0].x)) AND "
      "(tested.x > #1[-2].x)) AND (count(#1) < 3)) AND (prev.x > prev.y))\n");
  CHECK(in_brackets("later.x = 1") ==
        "`later.x`: later stands later in the pattern; a condition in [ ] names elements before its own (put the "
        "condition in WHERE, or in the [ ] of later)\n");
  CHECK(errors("RULE r MATCH a[a.amount > 3]") ==
        "`a.amount`: a is the element being tested here; its fields stand bare (write amount)\n");
  CHECK(errors("RULE r MATCH a[count(a) > 3]") ==
        "`count(a)`: a is not repeated: in its own [ ] nothing is bound to it yet\n");
  CHECK(in_brackets("one[0] = 1") ==
        "`one[0]`: one[0] is an event; name a field of it, like one[0].amount (for the field of the event tested write "
        "this.one[0])\n");
  CHECK(errors("RULE r MATCH a THEN NOT n AS none THEN b[x > none.x] WITHIN 1m") ==
        "`none.x`: none is a NOT: no event is ever bound to it (a condition on it may name only elements before it)\n");
  CHECK(errors("RULE r FROM a[b.x = 1], b MATCH a THEN b WITHIN 1m") ==
        "`b.x`: a condition in FROM is tested before any element is bound; b is an element (for a field of that name "
        "write this.b.x)\n");
  CHECK(errors("RULE r MATCH a THEN b WITHIN 1m UNLESS c[x = a.x AND y = b.y AND prev(z) = 1]") == "");
}

TEST_CASE("paths: outside [ ] only elements' fields and key fields") {
  CHECK(in_where("own.x > one.x AND u > 3 AND dev.id > 3") == "");
  CHECK(in_where("amount > 3") ==
        "`amount`: amount is not an element's field or a key field (write one.amount or own.amount)\n");
  CHECK(in_having("ts > one.ts") == "`ts`: ts is not an element's field or a key field (write one.ts or own.ts)\n");
  CHECK(in_having("own > 3") == "`own`: own is an element; name a field of it, like own.amount\n");
  CHECK(in_having("b.x > 3") == "`b.x`: the element of type b is called own (write own.x)\n");
  CHECK(in_having("oown.x > 3") == "`oown.x`: unknown element oown (did you mean own.x?)\n");
  CHECK(in_having("this.x > 3") ==
        "`this.x`: `this.` is the event tested in [ ]; no event is tested here (write it with the element's name, like "
        "name.x)\n");
  CHECK(in_having("none.x > 3") == "`none.x`: none is a NOT: no event is ever bound to it\n");
  CHECK(errors("RULE r MATCH a THEN a WITHIN 1m WHERE a.x > 3") ==
        "`a.x`: more than one element is of type a: which one is meant? (name them with AS)\n");
  CHECK(errors("EVENT a (x int) EVENT b (y int) RULE r MATCH a THEN b WITHIN 1m WHERE y > 3") ==
        "`y`: y is not an element's field or a key field (write b.y)\n");
  CHECK(errors("RULE r KEY user_id MATCH a THEN b WITHIN 1m HAVING user_di = 3") ==
        "`user_di`: user_di is not an element's field or a key field (did you mean user_id?)\n");
}

TEST_CASE("WHERE: each part belongs to the last element that it names") {
  CHECK(conditions("KEY u MATCH a THEN b[x = 1] THEN c WITHIN 1m "
                   "WHERE b.x > a.x AND (a.y = 1 OR c.y = 2) AND u = 'z' AND a.z = 1 AND b.x + 1 > 2") ==
        "#0 (key0 = \"z\")\n#0 (tested.z = 1)\n#1 (tested.x = 1)\n#1 (tested.x > #0.x)\n#1 ((tested.x + 1) > 2)\n"
        "#2 ((#0.y = 1) OR (tested.y = 2))\n");
}

TEST_CASE("WHERE: a part over its own repeated element tests one event") {
  CHECK(conditions("MATCH a THEN b+ THEN c WITHIN 1m WHERE b.x > a.x AND c.x > sum(b.x) AND c.y = b[0].y") ==
        "#1 (tested.x > #0.x)\n#2 (tested.x > sum(#1.x))\n#2 (tested.y = #1[0].y)\n");
  const std::string speaks =
      ": a WHERE part tests one event of own, which is the last element it names; this speaks of "
      "all of them (put it in HAVING for the whole match, or in the [ ] of own for what it took "
      "so far)\n";
  CHECK(in_where("count(own) > 2") == "`count(own)`" + speaks);
  CHECK(in_where("own.x > avg(own.x)") == "`avg(own.x)`" + speaks);
  CHECK(in_where("first(own.x) > one.x") == "`first(own.x)`" + speaks);
  CHECK(in_where("own[0].x > one.x") == "`own[0].x`" + speaks);
  CHECK(in_where("count(one) = 1 AND own.x > max(one.x)") != "");
  CHECK(in_where("own.x > max(one.x) AND own.y > one[0].y") == "");
}

TEST_CASE("WHERE: a part over a NOT names elements before it") {
  CHECK(conditions("MATCH a THEN NOT n AS none THEN c WITHIN 1m WHERE none.x > a.x") == "#1 (tested.x > #0.x)\n");
  CHECK(errors("RULE r MATCH a THEN NOT n AS none THEN c WITHIN 1m WHERE none.x > c.x") ==
        "`none.x`: none is a NOT: no event is ever bound to it (a condition on it may name only elements before it)\n");
}

TEST_CASE("prev stands only in [ ]") {
  CHECK(in_where("own.x > prev(x)") ==
        "`prev(x)`: prev looks back from the event being tested and stands only in the [ ] of the pattern (put the "
        "condition in the [ ] of the element)\n");
  CHECK(in_having("prev(x) > 1") ==
        "`prev(x)`: prev looks back from the event being tested and stands only in the [ ] of the pattern\n");
  CHECK(in_brackets("prev(one.x) > 1") ==
        "`prev(one.x)`: prev takes a field of the event bound before, like prev(price)\n");
  CHECK(in_brackets("prev() > 1") == "`prev()`: prev takes a field of the event bound before, like prev(price)\n");
  CHECK(in_brackets("prev(ts) < ts AND prev(dev.id) = 1") == "");
}

TEST_CASE("aggregates: over elements, with the arguments they take") {
  CHECK(in_having("count(own) > 1 AND count(own.x) > 1 AND sum(own.x) > 1 AND avg(own.x) > 1 AND min(own.x) > 1 AND "
                  "max(own.x) > 1 AND stddev(own.x) > 1 AND percentile(own.x, 99.5) > 1 AND distinct(own.x) > 1 AND "
                  "first(own.x) = last(own.x) AND count(one) = 1") == "");
  CHECK(in_having("sum(own) > 1") == "`own`: sum takes a field of an element, like sum(own.amount)\n");
  CHECK(in_having("count() > 1") ==
        "`count()`: count takes an element or a field of one, like count(own) or count(own.amount)\n");
  CHECK(in_having("sum(own.x, 3) > 1") == "`sum(own.x, 3)`: sum takes a field of an element, like sum(own.amount)\n");
  CHECK(in_having("avg(x) > 1") == "`x`: avg takes a field of an element, like avg(own.amount)\n");
  CHECK(in_having("count(oown) > 1") == "`oown`: unknown element oown (did you mean own?)\n");
  CHECK(in_having("avg(own[0].x) > 1") == "`own[0].x`: avg takes a field of an element, like avg(own.amount)\n");
  CHECK(in_having("percentile(own.x) > 1") ==
        "`percentile(own.x)`: percentile takes a field and a number from 0 to 100, like percentile(own.amount, 95)\n");
  CHECK(in_having("percentile(own.x, 101) > 1") ==
        "`101`: percentile takes a number from 0 to 100 as its second argument\n");
  CHECK(in_having("percentile(own.x, one.x) > 1") ==
        "`one.x`: percentile takes a number from 0 to 100 as its second argument\n");
  CHECK(in_having("collect(own.x) = 1") == "`collect(own.x)`: collect makes a list and stands only in EMIT and DO\n");
  CHECK(in_having("count(none) = 1") == "`count(none)`: none is a NOT: no event is ever bound to it\n");
}

TEST_CASE("functions: names and numbers of arguments") {
  CHECK(in_having("hour(one.ts, 'Europe/Berlin') = 1").empty());
  CHECK(in_having("hour(one.ts, 'Europe/Berln') = 1") ==
        "`'Europe/Berln'`: unknown time zone Europe/Berln, expected a name like Europe/Berlin (did you mean "
        "Europe/Berlin?)\n");
  CHECK(in_having("lowr(one.x) = 'a'") == "`lowr`: unknown function lowr (did you mean lower?)\n");
  CHECK(in_having("lower(one.x, one.y) = 'a'") == "`lower(one.x, one.y)`: lower takes 1 argument, not 2\n");
  CHECK(in_having("substr(one.x) = 'a'") == "`substr(one.x)`: substr takes 2 to 3 arguments, not 1\n");
  CHECK(in_having("if(one.x, 1) = 1") == "`if(one.x, 1)`: if takes 3 arguments, not 2\n");
  CHECK(in_having("lower(5) = 'a'") == "`5`: lower takes a string here, and this is an int\n");
  CHECK(in_having("hour(one.ts, 'Europe/Berlin') >= 22") == "");
  for (const plan::FunctionInfo& info : plan::functions()) CHECK(info.min_arguments <= info.max_arguments);
}

TEST_CASE("MATCHES: a literal or constant that RE2 can compile") {
  CHECK(in_having("one.x MATCHES 'a('") == "`'a('`: not a regular expression: missing ): a(\n");
  CHECK(errors("CONST n = 5 RULE r MATCH a[x MATCHES $n]") ==
        "`$n`: MATCHES needs a string or a constant that is one (it is compiled when the rule is loaded; write it like "
        "MATCHES \"^a+$\")\n");
}

TEST_CASE("kinds: what declarations exclude is an error") {
  const std::string event = "EVENT a (s string, i int, d double, b bool, t timestamp, w duration) RULE r MATCH a[";
  CHECK(errors(event + "i = d AND s = 'x' AND b AND t > ts AND w > 5m AND t - ts > w AND w * 2 > w AND w / w > 1]") ==
        "");
  CHECK(errors(event + "s = 5]") == "`s = 5`: unlike types: string and int never compare\n");
  CHECK(errors(event + "i IN (1, 'x')]") == "`'x'`: unlike types: int and string never compare\n");
  CHECK(errors(event + "i BETWEEN 'a' AND 3]") == "`'a'`: unlike types: int and string never compare\n");
  CHECK(errors(event + "t > 5]") == "`t > 5`: unlike types: timestamp and int never compare\n");
  CHECK(errors(event + "b < true]") == "`b < true`: values of kind bool have no order\n");
  CHECK(errors(event + "s + 1 > 2]") == "`s + 1`: unlike types: string and int here give null\n");
  CHECK(errors(event + "t + t > ts]") == "`t + t`: unlike types: timestamp and timestamp here give null\n");
  CHECK(errors(event + "-s = 1]") == "`-s`: unlike types: a string has no negative and gives null\n");
  CHECK(errors(event + "i MATCHES 'x']") == "`i`: unlike types: MATCHES tests strings, and this is an int\n");
  CHECK(errors(event + "lower(i) = 'x']") == "`i`: lower takes a string here, and this is an int\n");
  CHECK(errors(event + "i]") == "`i`: expected a condition, and this is an int\n");
  CHECK(errors(event + "b AND s]") == "`s`: expected a condition, and this is a string\n");
  CHECK(errors(event + "NOT i]") == "`i`: expected a condition, and this is an int\n");
  CHECK(errors("EVENT a (s string) RULE r MATCH a{3} WITHIN 1m HAVING sum(a.s) > 1") ==
        "`a.s`: unlike types: sum is over numbers or durations, and this is a string\n");
}

TEST_CASE("kinds: without declarations what can be seen is a warning") {
  CHECK(warnings("RULE r MATCH a[ts > 5]") == "`ts > 5`: unlike types: timestamp and int never compare\n");
  CHECK(warnings("RULE r MATCH a[lower(x) = 5]") == "`lower(x) = 5`: unlike types: string and int never compare\n");
  CHECK(warnings("RULE r MATCH a[x = null]") ==
        "`x = null`: a comparison with null is never true (write IS NULL or IS NOT NULL)\n");
  CHECK(warnings("RULE r MATCH a['a' + 1 = x]") == "`'a' + 1`: unlike types: string and int here give null\n");
  CHECK(warnings("RULE r MATCH a[type MATCHES 'x' AND x = 5]") == "");
  CHECK(errors("RULE r MATCH a['x']") == "`'x'`: expected a condition, and this is a string\n");
}

TEST_CASE("a first element must be able to start") {
  const std::string hint =
      " is null on the first event of a match: this is never true there, and the rule could not "
      "start (say what holds then, like prev(x) IS NULL OR …)\n";
  CHECK(errors("RULE r MATCH a[x > prev(x)]{3} WITHIN 1m") == "`x > prev(x)`: prev" + hint);
  CHECK(errors("RULE r MATCH a? THEN b[x > 1 AND NOT x < prev(x)] WITHIN 1m") ==
        "`x > 1 AND NOT x < prev(x)`: prev" + hint);
  CHECK(errors("RULE r MATCH a[x > prev(x) OR prev(x) IS NULL]{3} WITHIN 1m") == "");
  CHECK(errors("RULE r MATCH a[x > coalesce(prev(x), 0)]{3} WITHIN 1m") == "");
  CHECK(errors("RULE r MATCH a[if(prev(x) > 1, false, true)]{3} WITHIN 1m") == "");
  CHECK(errors("RULE r MATCH a[x > least(prev(x), 3)]{3} WITHIN 1m") == "");
  CHECK(errors("RULE r MATCH a[x NOT IN (prev(x), 3)]{3} WITHIN 1m") == "`x NOT IN (prev(x), 3)`: prev" + hint);
  CHECK(errors("RULE r MATCH a[x NOT BETWEEN prev(x) AND 3]{3} WITHIN 1m") == "");
  CHECK(errors("RULE r MATCH a[x BETWEEN prev(x) AND 3]{3} WITHIN 1m") == "`x BETWEEN prev(x) AND 3`: prev" + hint);
  CHECK(errors("RULE r MATCH a[prev(x) MATCHES 'x']{3} WITHIN 1m") == "`prev(x) MATCHES 'x'`: prev" + hint);
  CHECK(
      errors("RULE r MATCH a[x > avg(a.x)]{3} WITHIN 1m") ==
      "`x > avg(a.x)`: a has taken nothing yet when its first event is tested: this is never true there, and the rule "
      "could not start (say what holds then, like count(a) = 0 OR …)\n");
  CHECK(errors("RULE r MATCH a[x > avg(a.x) OR count(a) = 0]{3} WITHIN 1m") == "");
  CHECK(errors("RULE r MATCH a[count(a) < 3]{3} WITHIN 1m") == "");
  CHECK(errors("RULE r MATCH a THEN b[x > prev(x)] WITHIN 1m") == "");
  CHECK(errors("RULE r MATCH a[false]") == "");
  CHECK(
      warnings("RULE r MATCH a THEN b[x > last(b.x)]{3} WITHIN 1m") ==
      "`x > last(b.x)`: b has taken nothing yet when its first event is tested: this is never true there, and it never "
      "takes one (say what holds then, like count(b) = 0 OR …)\n");
}
