#include <doctest/doctest.h>

#include "tests/actions/helpers.h"
#include "tests/support/http_receiver.h"

using namespace cepd;
using namespace cepd::actions;
using namespace cepd::test;

TEST_CASE("alert: an alert of Alertmanager's API v2") {
  const HttpReceiver receiver;
  const auto sink = open_sink("alert: {url: '" + receiver.url("") + "'}", "alert");
  auto record =
      make_record("alert", {text_argument("message", "Payment \"failed\""), text_argument("severity", "critical"),
                            text_argument("description", "long text"), argument("amount", Value::integer(30)),
                            text_argument("data-center.1", "fra"), text_argument("empty", "")});
  record.labels = {text_argument("team", "shop"), text_argument("severity", "info")};
  CHECK(sink->deliver(record).delivery == Delivery::kDone);
  REQUIRE(receiver.wait_for(1));
  const auto request = receiver.requests()[0];
  CHECK(request.path == "/api/v2/alerts");
  CHECK(request.header("idempotency-key") == std::string(kMatch));
  CHECK(json_at(request.body, "/0/labels") ==
        R"({"alertname":"cart_rescue","severity":"critical","user_id":"u\"1","n":"7","team":"shop","amount":"30",)"
        R"("data_center_1":"fra"})");
  CHECK(json_at(request.body, "/0/annotations") ==
        R"({"summary":"Payment \"failed\"","description":"long text","match":")" + std::string(kMatch) + "\"}");
  CHECK(json_at(request.body, "/0/startsAt") == "\"2023-11-14T22:15:20.000500Z\"");
  CHECK(json_at(request.body, "/1") == "nothing there");
}

TEST_CASE("alert: the rule's severity, then the option's") {
  const HttpReceiver receiver;
  const auto sink = open_sink("alert: {url: '" + receiver.url("/") + "', severity: page}", "alert");
  auto record = make_record("alert", {text_argument("message", "m")});
  sink->deliver(record);
  record.labels = {text_argument("severity", "info")};
  sink->deliver(record);
  REQUIRE(receiver.wait_for(2));
  CHECK(json_at(receiver.requests()[0].body, "/0/labels/severity") == "\"page\"");
  CHECK(json_at(receiver.requests()[1].body, "/0/labels/severity") == "\"info\"");
  CHECK(json_at(receiver.requests()[0].body, "/0/annotations/description") == "nothing there");
}

TEST_CASE("alert: the API's path is added once and before a query") {
  const HttpReceiver receiver;
  const auto path_for = [&](std::string_view path) {
    const auto sink = open_sink("alert: {url: '" + receiver.url(path) + "'}", "alert");
    CHECK(sink->deliver(make_record("alert", {text_argument("message", "m")})).delivery == Delivery::kDone);
    return receiver.requests().back().path;
  };
  CHECK(path_for("") == "/api/v2/alerts");
  CHECK(path_for("/am/") == "/am/api/v2/alerts");
  CHECK(path_for("/api/v2/alerts") == "/api/v2/alerts");
  CHECK(path_for("/api/v2/alerts/?x=1") == "/api/v2/alerts?x=1");
}

TEST_CASE("alert: keys that are nested or missing") {
  const HttpReceiver receiver;
  const auto sink = open_sink("alert: {url: '" + receiver.url() + "'}", "alert");
  auto record = make_record("alert", {text_argument("message", "m")});
  record.match_json = R"({"key":{"payload.device.id":{"a":[1]},"ok":true,"1st":1.5}})";
  sink->deliver(record);
  record.match_json = R"({"key":{}})";
  sink->deliver(record);
  REQUIRE(receiver.wait_for(2));
  CHECK(
      json_at(receiver.requests()[0].body, "/0/labels") ==
      R"({"alertname":"cart_rescue","severity":"warning","payload_device_id":"{\"a\":[1]}","ok":"true","_1st":"1.5"})");
  CHECK(json_at(receiver.requests()[1].body, "/0/labels") == R"({"alertname":"cart_rescue","severity":"warning"})");
}

TEST_CASE("alert: without a url it is a warning in the log") {
  const LogCapture log;
  const auto sink = open_sink("{}", "alert");
  CHECK(sink->deliver(make_record("alert", {text_argument("message", "m")})).delivery == Delivery::kDone);
  CHECK(
      log.text() ==
      R"(warning alert cart_rescue: m {"alertname":"cart_rescue","severity":"warning","user_id":"u\"1","n":"7"} [match )" +
          std::string(kMatch) + "]\n");
}
