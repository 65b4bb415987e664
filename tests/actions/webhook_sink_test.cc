#include <doctest/doctest.h>

#include "tests/actions/helpers.h"
#include "tests/support/http_receiver.h"

using namespace cepd;
using namespace cepd::actions;
using namespace cepd::test;

TEST_CASE("webhook: posts the match and all arguments") {
  const HttpReceiver receiver;
  const auto sink = open_sink("webhook: {url: '" + receiver.url("/hook") + "', headers: ['X-Env: test']}", "webhook");
  auto record = make_record("webhook", {text_argument("user", "ü\"1"), argument("amount", Value::real(30)),
                                        argument("none", Value::null()), argument("list", Value::json("[1,2]"))});
  record.idempotency_key += "-2";
  CHECK(sink->deliver(record).delivery == Delivery::kDone);
  REQUIRE(receiver.wait_for(1));
  const auto request = receiver.requests()[0];
  CHECK(request.method == "POST");
  CHECK(request.path == "/hook");
  CHECK(request.header("content-type") == "application/json");
  CHECK(request.header("idempotency-key") == std::string(kMatch) + "-2");
  CHECK(request.header("x-env") == "test");
  CHECK(json_at(request.body, "/id") == "\"" + std::string(kMatch) + "\"");
  CHECK(json_at(request.body, "/rule") == "\"cart_rescue\"");
  CHECK(json_at(request.body, "/time_ms") == "1700000120000.5");
  CHECK(json_at(request.body, "/arguments") == R"({"user":"ü\"1","amount":30.0,"none":null,"list":[1,2]})");
  CHECK(json_at(request.body, "/match") == json_at(record.match_json, ""));
}

TEST_CASE("webhook: the call's url is used when none is configured, and is not sent along") {
  const HttpReceiver receiver;
  const auto sink = open_sink("{}", "webhook");
  const auto record = make_record("webhook", {text_argument("url", receiver.url("/own")), text_argument("a", "b")});
  CHECK(sink->deliver(record).delivery == Delivery::kDone);
  REQUIRE(receiver.wait_for(1));
  CHECK(receiver.requests()[0].path == "/own");
  CHECK(json_at(receiver.requests()[0].body, "/arguments") == R"({"a":"b"})");
  CHECK(sink->deliver(make_record("webhook", {})).delivery == Delivery::kRejected);
}
