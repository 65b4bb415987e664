#include "dsl/check_into.h"

#include <doctest/doctest.h>

#include "dsl/plan_print.h"
#include "tests/dsl/check_testing.h"

using namespace cepd;
using namespace cepd::dsl;

namespace {

constexpr const char* kSource = "EVENT src (u string, n int, d double, o double?)\n";

/// Errors of a rule with those items under `EVENT out (fields)`.
std::string against(const std::string& fields, const std::string& items) {
  return errors(kSource + ("EVENT out (" + fields + ")\nRULE r KEY u MATCH src AS s EMIT " + items + " INTO out"));
}

}  // namespace

TEST_CASE("INTO: the type stands in the plan, and the rule does not log") {
  const auto set = loaded(
      "RULE r MATCH a THEN b WITHIN 1m EMIT a.x INTO y ON TIMEOUT EMIT a.x INTO z\n"
      "RULE s MATCH a THEN b WITHIN 1m EMIT a.x INTO y ON TIMEOUT DO log('late')\n"
      "RULE t MATCH a THEN b WITHIN 1m ON TIMEOUT EMIT a.x INTO z DO log('late')");
  const plan::Rule& r = set->rules.at(0);
  CHECK(r.into == set->fields.find("y"));
  CHECK(r.actions.empty());
  REQUIRE(r.on_timeout);
  CHECK(r.on_timeout->into == set->fields.find("z"));
  CHECK(r.on_timeout->actions.empty());
  CHECK(set->rules.at(1).actions.empty());
  CHECK(!set->rules.at(1).on_timeout->into);
  CHECK(set->rules.at(1).on_timeout->actions.size() == 1);
  CHECK(!set->rules.at(2).into);
  CHECK(set->rules.at(2).actions.size() == 1);  // logs
  CHECK(set->rules.at(2).on_timeout->actions.size() == 1);
}

TEST_CASE("INTO: what is made of a match is no part of the rule's meaning for its partial matches") {
  const auto fingerprint = [](const std::string& into) {
    return loaded("RULE r MATCH a THEN b WITHIN 1m EMIT a.x" + into)->rules.at(0).fingerprint;
  };
  CHECK(fingerprint("") == fingerprint(" INTO y"));
}

TEST_CASE("INTO a declared type: every field that must not be null, in its type") {
  CHECK(against("u string, n int, d double", "s.n, s.d") == "");
  CHECK(against("u string, n double", "s.n") == "");
  CHECK(against("u string, n int?", "s.d") == "");
  CHECK(against("amount double", "s.d AS amuont") ==
        "`out`: out needs amount double, and EMIT has no item of that name (is amuont meant?)\n");
  CHECK(
      against("amount double", "s.n") ==
      "`out`: out needs amount double, and EMIT has no item of that name (add it, or declare it as amount double?)\n");
  CHECK(against("n string", "s.n") == "`s.n`: n of out is declared as string, and this is an int\n");
  CHECK(against("x timestamp", "s.u AS x") == "`x`: x of out is declared as timestamp, and this is a string\n");
  CHECK(against("n int", "s.d AS n") == "`n`: n of out is declared as int, and this is a double\n");
  CHECK(against("u int, n int", "s.n") == "`out`: u of out is declared as int, and this is a string\n");
  CHECK(against("x int", "null AS x") == "`x`: x of out is declared as int, and this is null\n");
  CHECK(against("x int?", "null AS x") == "");
}

TEST_CASE("INTO a declared type: further items are only for the match, but for a near miss") {
  const auto warned = [](const std::string& items) {
    return warnings(kSource + ("EVENT out (amount double?)\nRULE r MATCH src AS s EMIT " + items + " INTO out"));
  };
  CHECK(warned("s.d AS other") == "");
  CHECK(warned("s.d AS amount, s.d AS amuont") == "");
  CHECK(warned("s.d AS amuont") == "`amuont`: out has no field amuont (did you mean amount?)\n");
}

TEST_CASE("a made type is known where others must be declared, and its fields are the items and the key") {
  const auto reader = [](const std::string& text) {
    return errors(kSource + ("RULE r KEY u MATCH src AS s EMIT s.n, s.d AS amount INTO made\nRULE q " + text));
  };
  CHECK(reader("KEY u MATCH made[n > 1 AND amount > 2] EMIT made.n") == "");
  CHECK(reader("MATCH maed") == "`maed`: unknown event type maed (did you mean made?)\n");
  CHECK(reader("MATCH made[amuont > 2]") == "`amuont`: made has no field amuont (did you mean amount?)\n");
  CHECK(reader("MATCH made[n = 'x']") == "`n = 'x'`: unlike types: int and string never compare\n");
  CHECK(reader("KEY user MATCH made") == "`user`: made has no field user\n");
  CHECK(reader("MATCH made[n.x = 1]") == "`n.x`: the field n of made is declared as int and has no parts\n");
  CHECK(reader("MATCH made TEST t FOR q GIVEN made @0s {} EXPECT NOTHING") == "");
}

TEST_CASE("a made type has the fields of all its makers, and parts of arrays and objects may be anything") {
  const std::string makers = kSource + std::string(
                                           "RULE r MATCH src AS s EMIT s.n AS x INTO made\n"
                                           "RULE q MATCH src AS s EMIT s.u AS x, collect(s.n) AS list INTO made\n");
  CHECK(errors(makers + "RULE z MATCH made[x = 1 OR x = 'one' OR list[0] = 2]") == "");
  CHECK(errors(makers + "RULE z MATCH made[x = true]") ==
        "`x = true`: unlike types: int or string and bool never compare\n");
}

TEST_CASE("a made type whose maker has mistakes: nothing is said of its fields") {
  CHECK(errors(kSource + std::string("RULE r MATCH src AS s EMIT s.nn AS x INTO made RULE q MATCH made[y = 1]")) ==
        "`s.nn`: src has no field nn (did you mean n?)\n");
}

TEST_CASE("without declarations a field that no maker emits is a warning: a source may bring that type too") {
  CHECK(warnings("RULE r MATCH a EMIT a.amount INTO made RULE q MATCH made[amuont > 2]") ==
        "`amuont`: no rule that makes made emits amuont (did you mean amount?)\n");
  CHECK(warnings("RULE r MATCH a EMIT a.amount INTO made RULE q MATCH made | other[amuont > 2]") == "");
}

TEST_CASE("a type that only DISABLED rules make is as one that none makes; DISABLED rules read it") {
  const std::string text = kSource + std::string("RULE r DISABLED MATCH src AS s EMIT s.n INTO made RULE q ");
  CHECK(errors(text + "MATCH made") == "`made`: unknown event type made\n");
  CHECK(errors(text + "DISABLED MATCH made[n > 1]") == "");
  CHECK(errors(text + "DISABLED MATCH made[nn > 1]") == "`nn`: made has no field nn (did you mean n?)\n");
}

TEST_CASE("a rule that is no SHADOW over a type that only SHADOW rules make") {
  const std::string shadow = "RULE r SHADOW MATCH a EMIT a.n INTO made ";
  CHECK(warnings(shadow + "RULE q MATCH made") ==
        "`made`: only SHADOW rules make made, and only SHADOW rules read what they make "
        "(as long as that is so, this rule gets none of it)\n");
  CHECK(warnings(shadow + "RULE q SHADOW MATCH made") == "");
  CHECK(warnings(shadow + "RULE p MATCH a EMIT a.n INTO made RULE q MATCH made") == "");
}

TEST_CASE("FROM * and a made type in the pattern") {
  const std::string maker = "RULE r MATCH a EMIT a.n INTO made ";
  CHECK(errors(maker + "RULE q FROM * MATCH made") ==
        "`made`: made is made by rules, and * in FROM is what comes from sources (add made to FROM)\n");
  CHECK(errors(maker + "RULE q FROM *, made MATCH made") == "");
  CHECK(errors(maker + "RULE q MATCH made THEN * AS x WITHIN 1m") == "");
  CHECK(errors(maker + "RULE q FROM * MATCH a THEN b WITHIN 1m UNLESS made") == "");
}

TEST_CASE("an item may not take the place of a nested key field") {
  CHECK(
      errors("RULE r KEY device.id MATCH a EMIT a.device INTO made") ==
      "`a.device`: an item called device takes the place of the key field device.id (give it another name with AS)\n");
  CHECK(errors("RULE r KEY device.id MATCH a EMIT a.device") == "");
  CHECK(errors("RULE r KEY device.id MATCH a EMIT device.id INTO made") == "");
}
