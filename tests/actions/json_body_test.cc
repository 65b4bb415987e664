#include "actions/json_body.h"

#include <doctest/doctest.h>

#include "tests/actions/helpers.h"

using namespace cepd;
using namespace cepd::actions;
using namespace cepd::test;

TEST_CASE("json body: values from events cannot end a string") {
  auto record = make_record("webhook", {text_argument("note", "\"},\\\n\x01"), argument("n", Value::integer(3))});
  record.rule = "a\"b";
  const std::string body = match_body(record, {}).finish();
  CHECK(json_at(body, "/rule") == R"("a\"b")");
  CHECK(json_at(body, "/arguments/note") == R"("\"},\\\n\u0001")");
  CHECK(json_at(body, "/arguments/n") == "3");
  CHECK(json_at(body, "/time_ms") == "1700000120000.5");
  CHECK(json_at(body, "/match/key/n") == "7");
}

TEST_CASE("json body: arguments named in `without` stay out, and an object may be empty") {
  const auto record = make_record("webhook", {text_argument("url", "http://x"), text_argument("a", "b")});
  CHECK(json_at(match_body(record, {"url"}).finish(), "/arguments") == R"({"a":"b"})");
  CHECK(json_at(match_body(record, {"url", "a"}).finish(), "/arguments") == "{}");
}

TEST_CASE("json body: a second call's key has the same match id") {
  auto record = make_record("webhook", {});
  CHECK(match_id(record) == kMatch);
  record.idempotency_key += "-2";
  CHECK(match_id(record) == kMatch);
}

TEST_CASE("one_line: control characters are shown, long text is cut between characters") {
  CHECK(one_line("a\nb\r\x7f", 100) == "a\\nb\\x0d\\x7f");
  CHECK(one_line("abc", 3) == "abc");
  CHECK(one_line("abcd", 3) == "abc…");
  CHECK(one_line("aé", 2) == "a…");
}
