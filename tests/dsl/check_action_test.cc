#include "dsl/check_action.h"

#include <doctest/doctest.h>

#include "dsl/plan_print.h"
#include "tests/dsl/check_testing.h"

using namespace cepd;
using namespace cepd::dsl;

namespace {

std::string calls(const List<plan::Action>& actions) {
  std::string out;
  for (const plan::Action& action : actions) {
    out += action.name + "(";
    for (const plan::ActionArgument& argument : action.arguments) {
      if (out.back() != '(') out += ", ";
      out += argument.name + ": " + print(*argument.value);
    }
    out += ")\n";
  }
  return out;
}

const std::string kRule =
    "RULE r KEY user_id, dev.id MATCH cart AS c THEN fail{2} AS f WITHIN 5m "
    "EMIT user_id, sum(f.amount) AS amount, c.item LABELS team: 'x', level: 3 ";

std::string actions(const std::string& text) { return calls(loaded(kRule + "DO " + text)->rules.at(0).actions); }
std::string mistakes(const std::string& text) { return errors(kRule + "DO " + text); }

}  // namespace

TEST_CASE("DO: what a URL begins with is checked where it is known") {
  CHECK(mistakes("post('garbage')") == "`'garbage'`: url of post is a URL that begins with http:// or https://\n");
  CHECK(mistakes("post('{amount}/x')").empty());
  CHECK(mistakes("post('ftp://a/{amount}')") ==
        "`'ftp://a/{amount}'`: url of post is a URL that begins with http:// or https://\n");
  CHECK(mistakes("post(5)") == "`5`: url of post is a URL that begins with http:// or https://\n");
  CHECK(mistakes("post('https://a/{amount}')").empty());
  CHECK(mistakes("post(c.item)").empty());
}

TEST_CASE("DO: arguments by place and by name") {
  CHECK(actions("discount(user_id, 10, valid: 5m), log('done')") ==
        "discount(user: emit0, percent: 10, valid: 5m)\nlog(message: \"done\")\n");
  CHECK(actions("discount(percent: amount / 10, user: c.user_id, data: dev.id)") ==
        "discount(percent: (emit1 / 10), user: #0.user_id, data: key1)\n");
  CHECK(actions("alert(text: 'x', colour: 'red', n: count(f))") ==
        "alert(text: \"x\", colour: \"red\", n: count(#1))\n");
}

TEST_CASE("DO: mistakes in a call") {
  CHECK(mistakes("allert('x')") == "`allert`: unknown action allert (did you mean alert?)\n");
  CHECK(mistakes("send('x')") == "`send`: unknown action send (there are log, alert, post, discount)\n");
  CHECK(mistakes("log(mesage: 'x')") ==
        "`log`: log needs message (log(message, level?))\n`mesage`: log has no argument mesage (did you mean "
        "message?)\n");
  CHECK(mistakes("log('x', colour: 'y')") == "`colour`: log has no argument colour (log(message, level?))\n");
  CHECK(mistakes("discount(user_id)") ==
        "`discount`: discount needs percent (discount(user, percent, valid?, data?))\n");
  CHECK(mistakes("log('x', 'info', 3)") ==
        "`3`: log takes at most 2 arguments without a name (log(message, level?))\n");
  CHECK(mistakes("log(level: 'info', 'x')") ==
        "`log`: log needs message (log(message, level?))\n"
        "`'x'`: an argument without a name stands after one with a name (log(message, level?))\n");
  CHECK(mistakes("log('x', message: 'y')") == "`message`: message is given twice\n");
  CHECK(mistakes("discount(user_id, 'ten')") == "`'ten'`: percent of discount is a number, and this is a string\n");
  CHECK(mistakes("discount(user_id, 0)") == "`0`: percent of discount is a number from 1 to 100, not 0\n");
  CHECK(mistakes("discount(user_id, 10, valid: 5)") ==
        "`5`: valid of discount is a duration, like 5m, and this is an int\n");
  CHECK(mistakes("log(amuont)") ==
        "`amuont`: amuont is not an emitted item, a key field or an element's field (did you mean amount?)\n");
  CHECK(mistakes("log(team)") ==
        "`team`: team is not an emitted item, a key field or an element's field (write c.team or f.team)\n");
}

TEST_CASE("templates: emitted items, key fields, labels and elements' fields; {{ is a brace") {
  CHECK(actions("log('{user_id} {amount}/{dev.id}: {c.item}{f[0].x}')") ==
        "log(message: template(emit0, \" \", emit1, \"/\", key1, \": \", #0.item, #1[0].x))\n");
  CHECK(actions("log('{team} {level}')") == "log(message: template(\"x\", \" \", 3))\n");
  CHECK(actions("log('{{user_id}} } {{')") == "log(message: \"{user_id} } {\")\n");
  CHECK(actions("log(concat('{amount}', amount))") == "log(message: concat(\"{amount}\", emit1))\n");
  CHECK(loaded("CONST text = 'of {a.x}' RULE r MATCH a DO log($text)")->rules.size() == 1);
}

TEST_CASE("templates: mistakes point into the string") {
  CHECK(mistakes("log('of {amuont} ')") ==
        "`amuont`: amuont is not an emitted item, a key field or an element's field (did you mean amount?)\n");
  CHECK(mistakes("log('of {taem} ')") ==
        "`taem`: taem is not an emitted item, a key field or an element's field (did you mean team?)\n");
  CHECK(mistakes("log('of {fail.amount} ')") ==
        "`fail.amount`: the element of type fail is called f (write f.amount)\n");
  CHECK(mistakes("log('of {amount + 1}')") == "`amount + 1`: expected a name in { } (write {{ for a brace)\n");
  CHECK(mistakes("log('of {}')") == "`}`: expected a name in { } (write {{ for a brace)\n");
  CHECK(mistakes("log('of {amount')") == "`'of {amount'`: a { in the text has no } (write {{ for a brace)\n");
}

TEST_CASE("without DO a rule logs what it emits") {
  const auto log_of = [](const std::string& text) {
    const auto set = loaded("RULE r " + text);
    return calls(set->rules.at(0).actions);
  };
  CHECK(log_of("KEY u MATCH a EMIT u, a.x") == "log(message: template(\"u=\", emit0, \" x=\", emit1))\n");
  CHECK(log_of("MATCH a") == "log(message: template(\"match\"))\n");
  const auto late = loaded("RULE r KEY u MATCH a THEN b WITHIN 1m DO log('x') ON TIMEOUT EMIT a.x");
  CHECK(calls(late->rules[0].on_timeout->actions) == "log(message: template(\"timeout x=\", emit0))\n");
}
