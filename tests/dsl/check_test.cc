#include "dsl/check.h"

#include <doctest/doctest.h>

#include "tests/dsl/check_testing.h"

using namespace cepd;
using namespace cepd::dsl;

TEST_CASE("check: two statements of one kind with one name anywhere in the set are an error") {
  CHECK(errors_of_files({"RULE a MATCH x", "CONST a = 1\nRULE a MATCH y"}) ==
        "`a`: a second RULE a; the first stands at f1.rules:1:6\n");
  CHECK(errors("CONST a = 1\nCONST a = 2") == "`a`: a second CONST a; the first stands at f1.rules:1:7\n");
  CHECK(errors("EVENT x (a int)\nEVENT x (a int)") == "`x`: a second EVENT x; the first stands at f1.rules:1:7\n");
  CHECK(errors_of_files({"RULE r MATCH x", "TEST t FOR r GIVEN x @0s {} EXPECT MATCH {}",
                         "TEST t FOR r GIVEN x @0s {} EXPECT MATCH {}"}) ==
        "`t`: a second TEST t; the first stands at f2.rules:1:6\n");
  CHECK(errors("CONST x = 1\nEVENT x (a int)\nRULE x MATCH x\nTEST x FOR x GIVEN x @0s {} EXPECT MATCH {}") == "");
}

TEST_CASE("check: rules are sorted by name, disabled ones only listed") {
  const auto set = loaded_files({"RULE b MATCH x RULE c DISABLED MATCH only_c[f = 1]", "RULE a SHADOW MATCH y[f = 1]"});
  REQUIRE(set->rules.size() == 2);
  CHECK(set->rules[0].name == "a");
  CHECK(set->files.at(set->rules[0].file) == "f2.rules");
  CHECK(set->rules[0].status == plan::Status::kShadow);
  CHECK(set->rules[1].name == "b");
  CHECK(set->disabled == std::vector<std::string>{"c"});
  CHECK_FALSE(set->fields.find("only_c"));
  CHECK(errors("RULE c DISABLED MATCH x[lowr(f) = 1]") == "`lowr`: unknown function lowr (did you mean lower?)\n");
}

TEST_CASE("check: the field plan holds the types and fields that rules read") {
  const auto set = loaded("RULE a KEY u MATCH x[p > 1] THEN y WITHIN 1m WHERE y.q = x.r EMIT x.s");
  const FieldPlan& fields = set->fields;
  const auto x = fields.find("x");
  const auto y = fields.find("y");
  REQUIRE(x);
  REQUIRE(y);
  CHECK(fields.type(*x).named);
  for (const char* name : {"u", "p", "r", "s"}) CHECK(fields.slot(*x, FieldPath::of(name)));
  CHECK_FALSE(fields.slot(*x, FieldPath::of("q")));
  for (const char* name : {"u", "q"}) CHECK(fields.slot(*y, FieldPath::of(name)));
  CHECK_FALSE(fields.slot(*y, FieldPath::of("p")));
}

TEST_CASE("check: a field of any type has its slot in every type of the set") {
  const auto set = loaded("RULE a MATCH x THEN *[p = 1] WITHIN 1m RULE b MATCH y[q = 1] THEN z WITHIN 1m");
  const auto& test = set->rules[0].elements[1].test;
  REQUIRE(test.types.any);
  const auto& binary = std::get<plan::Binary>(test.conditions.at(0)->node);
  const auto& ref = std::get<plan::FieldRef>(binary.left->node);
  REQUIRE(ref.slots.size() == set->fields.types().size());
  for (std::size_t i = 0; i < ref.slots.size(); ++i) {
    CHECK(ref.slots[i].first == static_cast<TypeId>(i));
    CHECK(ref.slots[i].second == set->fields.slot(static_cast<TypeId>(i), FieldPath::of("p")));
  }
}

TEST_CASE("check: ids and slots of the running set stay as they are") {
  const auto first = loaded("RULE a MATCH x[p = 1] THEN y[q = 1] WITHIN 1m");
  Checked second = check_files({"RULE b MATCH z[p = 1] THEN y[r = 1] WITHIN 1m"}, &first->fields);
  REQUIRE(second.rules);
  const FieldPlan& fields = second.rules->fields;
  CHECK(fields.find("x") == first->fields.find("x"));
  CHECK(fields.find("y") == first->fields.find("y"));
  CHECK_FALSE(fields.type(*fields.find("x")).named);
  CHECK(fields.type(*fields.find("z")).named);
  CHECK(fields.slot(*fields.find("y"), FieldPath::of("q")) == 0);
  CHECK(fields.slot(*fields.find("y"), FieldPath::of("r")) == 1);
}

TEST_CASE("check: constants are literals for all files") {
  const auto set = loaded_files({"CONST gap = 5m CONST most = -20 CONST word = \"^a\"",
                                 "RULE a MATCH x[p > $most AND q MATCHES $word] THEN y WITHIN $gap LIMIT 1 PER $gap"});
  CHECK(set->rules[0].within == Micros(std::chrono::minutes(5)));
  CHECK(set->rules[0].limit->per == Micros(std::chrono::minutes(5)));
  CHECK(errors_of_files({"CONST most = 20", "RULE a MATCH x[p > $mots]"}) ==
        "`$mots`: unknown constant $mots (did you mean $most?)\n");
  CHECK(errors("RULE a MATCH x THEN y WITHIN $gap") == "`$gap`: unknown constant $gap\n");
  CHECK(errors("CONST gap = 5 RULE a MATCH x THEN y WITHIN $gap") ==
        "`$gap`: WITHIN needs a duration, and $gap is an int (write it like CONST gap = 5m)\n");
  CHECK(errors("CONST gap = 0s RULE a MATCH x THEN y WITHIN $gap") ==
        "`$gap`: WITHIN needs a duration greater than zero\n");
  CHECK(errors("CONST gap = 0s RULE a MATCH x LIMIT 1 PER $gap") == "`$gap`: PER needs a duration greater than zero\n");
}

TEST_CASE("check: once an EVENT exists, types and fields must be declared") {
  const std::string events =
      "EVENT cart_add (user_id string, price double, at timestamp)\n"
      "EVENT payment_fail (user_id string, amount double?)\n";
  CHECK(errors(events +
               "RULE r KEY user_id MATCH cart_add THEN payment_fail WITHIN 5m WHERE payment_fail.amount > 1") == "");
  CHECK(errors(events + "RULE r MATCH payment_fial") ==
        "`payment_fial`: unknown event type payment_fial (did you mean payment_fail?)\n");
  CHECK(errors(events + "RULE r FROM payment_fial MATCH *") ==
        "`payment_fial`: unknown event type payment_fial (did you mean payment_fail?)\n");
  CHECK(errors(events + "RULE r MATCH cart_add UNLESS nothing_like_it") ==
        "`nothing_like_it`: unknown event type nothing_like_it\n");
  CHECK(errors(events + "RULE r MATCH cart_add[prise > 3]") ==
        "`prise`: cart_add has no field prise (did you mean price?)\n");
  CHECK(errors(events + "RULE r MATCH cart_add AS c THEN payment_fail AS p WITHIN 5m WHERE p.price > c.price") ==
        "`p.price`: payment_fail has no field price\n");
  CHECK(errors(events + "RULE r KEY price MATCH cart_add THEN payment_fail WITHIN 5m") ==
        "`price`: payment_fail has no field price\n");
  CHECK(errors(events + "RULE r MATCH cart_add[price.net > 3]") ==
        "`price.net`: the field price of cart_add is declared as double and has no parts\n");
  CHECK(errors(events + "RULE r MATCH (cart_add | payment_fail)[amount > 3]") != "");
  CHECK(errors(events + "RULE r MATCH cart_add | payment_fail[amount > 3]") == "");
  CHECK(errors(events + "RULE r MATCH cart_add[ts > @\"2026-01-05T22:00:00Z\" AND type = \"cart_add\"]") == "");
  CHECK(errors("EVENT a (x strnig)") == "`strnig`: unknown field type strnig (did you mean string?)\n");
  CHECK(errors("EVENT a (x object)") ==
        "`object`: unknown field type object (there are bool, int, double, string, timestamp and duration)\n");
  CHECK(errors("EVENT a (x int, x string)") == "`x`: two fields of a are called x\n");
}

TEST_CASE("check: declarations are in the field plan, also of types that no rule names") {
  const auto set = loaded("EVENT a (x int, y string?)");
  const auto id = set->fields.find("a");
  REQUIRE(id);
  const auto& declared = set->fields.type(*id).declared;
  REQUIRE(declared);
  REQUIRE(declared->size() == 2);
  CHECK((*declared)[0].type == FieldType::kInt);
  CHECK_FALSE((*declared)[0].nullable);
  CHECK((*declared)[1].nullable);
  CHECK_FALSE(set->fields.type(*id).named);
}

TEST_CASE("check: all mistakes of all files are reported, by file and place") {
  const Checked checked = check_files({"RULE b MATCH x[lowr(f)]\nRULE a MATCH y[uper(f)]", "RULE c MATCH z[trimm(f)]"});
  CHECK(checked.rules == nullptr);
  CHECK(lines(checked.diagnostics, Severity::kError) ==
        "`lowr`: unknown function lowr (did you mean lower?)\n"
        "`uper`: unknown function uper (did you mean upper?)\n"
        "`trimm`: unknown function trimm (did you mean trim?)\n");
  CHECK(checked.diagnostics.back().file == "f2.rules");
}

TEST_CASE("check: an empty set is a set") {
  CHECK(loaded_files({})->rules.empty());
  CHECK(loaded("# nothing\n")->rules.empty());
}
