#include "adapters/record_text.h"

#include <doctest/doctest.h>

using namespace cepd;
using namespace cepd::adapters;

namespace {

Message record(std::optional<std::string> value, std::optional<std::string> key, std::optional<std::string> time = {}) {
  auto parts = std::make_shared<RecordParts>();
  parts->key = std::move(key);
  parts->time = std::move(time);
  parts->no_value = !value;
  Message message;
  message.bytes = value.value_or("");
  message.parts = std::move(parts);
  return message;
}

std::string text(const Message& message, std::string_view key_field = "user") {
  std::string scratch = "what was there before";
  return std::string(event_text(message, message.bytes, key_field, scratch));
}

std::optional<std::int64_t> time_us(std::string header, TimeUnit unit = TimeUnit::kMillis) {
  const auto time = record_time(record("{}", {}, std::move(header)), unit);
  return time ? std::optional(time->time_since_epoch().count()) : std::nullopt;
}

}  // namespace

TEST_CASE("record text: the key stands before the value's members, which win") {
  CHECK(text(record(R"({"n":1})", "u1")) == R"({"user":"u1","n":1})");
  CHECK(text(record(R"( { "user":"u2"})", "u1")) == R"({"user":"u1", "user":"u2"})");
  CHECK(text(record(" { } ", "a\"b")) == R"({"user":"a\"b" } )");
  CHECK(text(record("{}", "")) == R"({"user":""})");
}

TEST_CASE("record text: the value stays as it is without a key, or where it is no object") {
  CHECK(text(record(R"({"n":1})", {})) == R"({"n":1})");
  CHECK(text(record(R"({"n":1})", "u1"), "") == R"({"n":1})");
  CHECK(text(record("[1]", "u1")) == "[1]");
  CHECK(text(record("", "u1")).empty());
  Message plain;
  plain.bytes = "{}";
  CHECK(text(plain) == "{}");
}

TEST_CASE("record text: a tombstone is an event that says so") {
  CHECK(text(record({}, "u1")) == R"({"user":"u1","__deleted":true})");
  CHECK(text(record({}, {})) == R"({"__deleted":true})");
}

TEST_CASE("record text: times of headers are numbers of the unit or RFC 3339") {
  CHECK(time_us("1500") == 1'500'000);
  CHECK(time_us("1.5", TimeUnit::kSeconds) == 1'500'000);
  CHECK(time_us("-1") == -1000);
  CHECK(time_us("1970-01-01T00:00:02Z") == 2'000'000);
  for (const char* wrong : {"", "soon", "1e400", "nan", "inf", "9223372036854775807", "1 ", " 1"}) {
    CAPTURE(std::string(wrong));
    CHECK_FALSE(time_us(wrong).has_value());
  }
  CHECK_FALSE(record_time(Message{}, TimeUnit::kMillis).has_value());
}
