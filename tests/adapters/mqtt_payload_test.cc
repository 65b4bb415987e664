#include "adapters/mqtt_payload.h"

#include <doctest/doctest.h>

#include "adapters/record_text.h"

using cepd::adapters::add_members;
using cepd::adapters::event_of_payload;
using cepd::adapters::MqttSourceOptions;
using Payload = MqttSourceOptions::Payload;

namespace {

std::string made(Payload kind, const std::string& payload, const std::string& arrival_field = "") {
  MqttSourceOptions options;
  options.payload = kind;
  options.value_field = "v";
  options.arrival_field = arrival_field;
  return event_of_payload(options, payload, cepd::event_time_us(1'000'000));
}

std::string added(std::string_view text) {
  std::string out = "untouched";
  const bool done = add_members(text, {{"a", "1"}, {"b\"", "\n"}}, out);
  CHECK(done == (out != "untouched"));
  return out;
}

}  // namespace

TEST_CASE("mqtt payload: numbers") {
  CHECK(made(Payload::kNumber, "21") == R"({"v":21})");
  CHECK(made(Payload::kNumber, " +21.50\n") == R"({"v":21.5})");
  CHECK(made(Payload::kNumber, "-0.25") == R"({"v":-0.25})");
  CHECK(made(Payload::kNumber, ".5") == R"({"v":0.5})");
  CHECK(made(Payload::kNumber, "1e3") == R"({"v":1000.0})");
  CHECK(made(Payload::kNumber, "9223372036854775807") == R"({"v":9223372036854775807})");
  for (const char* other : {"", " ", "x", "1 2", "1,5", "0x10", "nan", "inf", "1e999", "1}", "+-1", "{\"v\":1}"})
    CHECK(made(Payload::kNumber, other, "ts") == other);
}

TEST_CASE("mqtt payload: texts") {
  CHECK(made(Payload::kText, "ON") == R"({"v":"ON"})");
  CHECK(made(Payload::kText, "a\"b\\\x01") == R"({"v":"a\"b\\\u0001"})");
  CHECK(made(Payload::kText, "\xff", "ts") == "\xff");
}

TEST_CASE("mqtt payload: the time of arrival takes the place of what the payload says") {
  CHECK(made(Payload::kNumber, "1", "ts") == R"({"v":1,"ts":"1970-01-01T00:00:01Z"})");
  CHECK(made(Payload::kJson, R"({"ts":5,"a":1} )", "ts") == R"({"ts":5,"a":1,"ts":"1970-01-01T00:00:01Z"})");
  CHECK(made(Payload::kJson, "{}", "ts") == R"({"ts":"1970-01-01T00:00:01Z"})");
  CHECK(made(Payload::kJson, "[1]", "ts") == "[1]");
  CHECK(made(Payload::kJson, R"({"a":1})") == R"({"a":1})");
}

TEST_CASE("record text: members behind an object's own") {
  CHECK(added(R"({"x":{}})") == R"({"x":{},"a":"1","b\"":"\n"})");
  CHECK(added(" { } ") == R"( { "a":"1","b\"":"\n"})");
  for (const char* other : {"", "   ", "}", " }", "1", "[{}]", R"({"x":1)"}) CHECK(added(other) == "untouched");
}
