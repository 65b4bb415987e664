#include "base/match.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

namespace cepd {
namespace {

FieldPath path(std::initializer_list<FieldPath::Step> steps) { return FieldPath{steps}; }

EventPtr event(std::int64_t offset, std::string_view raw = {}) {
  EventDraft made;
  made.position = {SourceId("orders"), 2, offset};
  made.raw = raw;
  return made.build();
}

void fill(Match& made) {
  made.id = {0, 1};
  made.rule = "a \"b\"";
  made.time = event_time_us(1'500);
  made.last = event_time_us(2'000);
}

std::string key_json(std::vector<std::pair<FieldPath, Value>> key) {
  Match made;
  fill(made);
  made.key = std::move(key);
  const std::string line = to_json(made, EventsForm::kLines);
  const std::size_t begin = line.find("\"key\":") + 6;
  return line.substr(begin, line.find(",\"time\"") - begin);
}

TEST_CASE("match: the line of a match") {
  Match made;
  fill(made);
  made.key = {{FieldPath::of("user"), Value::string("u1")}};
  made.bindings = {{"a", {event(3), event(5)}}, {"B#1", {event(7)}}};
  made.emit = {{"total", Value::real(30.0)}, {"n", Value::null()}};
  const std::string head =
      R"({"match":"00000000000000000000000000000001","rule":"a \"b\"","kind":"match","key":{"user":"u1"},)"
      R"("time":1.5,"first":0,"last":2,)";
  CHECK(to_json(made, EventsForm::kLines) ==
        head + R"("events":{"a":[3,5],"B#1":[7]},"emit":{"total":30.0,"n":null}})");
  made.suppressed = true;
  made.bindings.resize(1);
  made.bindings[0].events.resize(1);
  CHECK(to_json(made, EventsForm::kPositions) == head +
                                                     R"("events":{"a":[{"source":"orders","partition":2,"offset":3}]},)"
                                                     R"("emit":{"total":30.0,"n":null},"suppressed":true})");
}

TEST_CASE("match: whole events where they are there, positions where not") {
  Match made;
  fill(made);
  made.bindings = {{"a", {event(3, R"({"type":"x"})"), event(4)}}};
  CHECK(to_json(made, EventsForm::kFull).find(R"("a":[{"type":"x"},{"source":"orders","partition":2,"offset":4}])") !=
        std::string::npos);
}

TEST_CASE("match: derived events stand as their maker, windows have no events") {
  Match made;
  fill(made);
  EventDraft derived;
  derived.maker = MatchId{0, 0xff};
  made.bindings = {{"a", {derived.build()}}};
  for (const EventsForm form : {EventsForm::kLines, EventsForm::kFull, EventsForm::kPositions})
    CHECK(to_json(made, form).find(R"("a":["000000000000000000000000000000ff"])") != std::string::npos);
  made.kind = MatchKind::kWindow;
  CHECK(to_json(made, EventsForm::kLines).find("events") == std::string::npos);
  CHECK(to_json(made, EventsForm::kLines).find(R"("kind":"window")") != std::string::npos);
}

TEST_CASE("match: nested key paths come back nested, each name once") {
  const Value one = Value::integer(1), two = Value::integer(2), three = Value::integer(3);
  const std::string a = "a", b = "b", c = "c", d = "d";
  CHECK(key_json({}) == "{}");
  CHECK(key_json({{path({a}), one}, {path({b}), two}}) == R"({"a":1,"b":2})");
  CHECK(key_json({{path({a, b}), one}}) == R"({"a":{"b":1}})");
  CHECK(key_json({{path({a, b}), one}, {path({a, c}), two}, {path({d}), three}}) == R"({"a":{"b":1,"c":2},"d":3})");
  CHECK(key_json({{path({a, b, c}), one}, {path({a, b, d}), two}, {path({a, c}), three}}) ==
        R"({"a":{"b":{"c":1,"d":2},"c":3}})");
  CHECK(key_json({{path({a, b}), one}, {path({d}), two}, {path({a, c}), three}}) == R"({"a":{"b":1,"c":3},"d":2})");
  CHECK(key_json({{path({a, b, c}), one}, {path({b, b}), two}}) == R"({"a":{"b":{"c":1}},"b":{"b":2}})");
}

}  // namespace
}  // namespace cepd
