#include "engine/json_part.h"

#include <doctest/doctest.h>

using namespace cepd;

namespace {

using Steps = std::vector<FieldPath::Step>;

std::string part(std::string_view json, const Steps& steps) {
  Arena arena;
  const Value value = engine::json_part(json, steps, arena);
  std::string out(kind_name(value.kind()));
  out += ' ';
  append_json(out, value);
  return out;
}

}  // namespace

TEST_CASE("json part: every kind of value") {
  const std::string_view json = R"({"a":[1,2.0,9007199254740993,-9223372036854775808,1.8446744073709552e19],"b":true,)"
                                R"("n":null,"o":{"p":{"q":"r"}},"s":"x\n\"é"})";
  CHECK(part(json, {"a", 0}) == "int 1");
  CHECK(part(json, {"a", 1}) == "double 2.0");
  CHECK(part(json, {"a", 2}) == "int 9007199254740993");
  CHECK(part(json, {"a", 3}) == "int -9223372036854775808");
  CHECK(part(json, {"a", 4}) == "double 18446744073709551616.0");
  CHECK(part(json, {"b"}) == "bool true");
  CHECK(part(json, {"n"}) == "null null");
  CHECK(part(json, {"s"}) == "string \"x\\n\\\"é\"");
  CHECK(part(json, {"o"}) == R"(array or object {"p":{"q":"r"}})");
  CHECK(part(json, {"o", "p", "q"}) == "string \"r\"");
  CHECK(part(json, {"a"}) == "array or object [1,2.0,9007199254740993,-9223372036854775808,1.8446744073709552e19]");
  CHECK(part("[[],[{}]]", {1, 0}) == "array or object {}");
  CHECK(part("[[],[{}]]", {0}) == "array or object []");
}

TEST_CASE("json part: what leads nowhere is null") {
  const std::string_view json = R"({"a":[1],"s":"x"})";
  for (const Steps& steps : {Steps{"b"}, Steps{0}, Steps{"a", "b"}, Steps{"a", 1}, Steps{"a", -1}, Steps{"a", 0, 0},
                             Steps{"s", "x"}, Steps{"s", 0}, Steps{"A"}}) {
    CHECK(part(json, steps) == "null null");
  }
}

TEST_CASE("json part: names with escapes are found by what they mean") {
  const std::string_view json = R"({"\u0001":1,"\"":2,"\\":3,"\n":4,"é":5})";
  CHECK(part(json, {std::string("\x01")}) == "int 1");
  CHECK(part(json, {std::string("\"")}) == "int 2");
  CHECK(part(json, {std::string("\\")}) == "int 3");
  CHECK(part(json, {std::string("\n")}) == "int 4");
  CHECK(part(json, {std::string("é")}) == "int 5");
}
