#include <doctest/doctest.h>

#include "tests/actions/helpers.h"
#include "tests/support/http_receiver.h"

using namespace cepd;
using namespace cepd::actions;
using namespace cepd::test;

namespace {
state::OutboxRecord grant(std::string user, Value percent) {
  return make_record("discount", {text_argument("user", std::move(user)), argument("percent", percent)});
}
}  // namespace

TEST_CASE("discount: posts a grant whose code is the call's own") {
  const HttpReceiver receiver;
  const auto sink = open_sink("discount: {url: '" + receiver.url("/grants") + "'}", "discount");
  auto record = grant("u1", Value::integer(10));
  CHECK(sink->deliver(record).delivery == Delivery::kDone);
  CHECK(sink->deliver(record).delivery == Delivery::kDone);
  record.idempotency_key += "-2";
  record.arguments.push_back(argument("valid_for", Value::duration(Micros(5'400'000'000))));
  CHECK(sink->deliver(record).delivery == Delivery::kDone);
  REQUIRE(receiver.wait_for(3));
  const auto requests = receiver.requests();
  CHECK(requests[0].path == "/grants");
  CHECK(requests[0].header("idempotency-key") == std::string(kMatch));
  CHECK(requests[0].body == requests[1].body);
  CHECK(json_at(requests[0].body, "/user") == "\"u1\"");
  CHECK(json_at(requests[0].body, "/percent") == "10");
  CHECK(json_at(requests[0].body, "/expires") == "\"2023-11-15T22:15:20.000500Z\"");
  CHECK(json_at(requests[0].body, "/rule") == "\"cart_rescue\"");
  CHECK(json_at(requests[0].body, "/match") == "\"" + std::string(kMatch) + "\"");
  const std::string code = json_at(requests[0].body, "/code");
  CHECK(code.size() == 12);  // with its quotes
  CHECK(code.find_first_not_of("\"0123456789ABCDEFGHJKMNPQRSTVWXYZ") == std::string::npos);
  CHECK(json_at(requests[2].body, "/code") != code);
  CHECK(json_at(requests[2].body, "/match") == "\"" + std::string(kMatch) + "\"");
  CHECK(json_at(requests[2].body, "/expires") == "\"2023-11-14T23:45:20.000500Z\"");
}

TEST_CASE("discount: what cannot be granted is rejected before anything is sent") {
  const HttpReceiver receiver;
  const auto sink = open_sink("discount: {url: '" + receiver.url() + "'}", "discount");
  const auto rejected = [&](const state::OutboxRecord& record) {
    const Outcome outcome = sink->deliver(record);
    CHECK(outcome.delivery == Delivery::kRejected);
    return outcome.detail;
  };
  CHECK(rejected(grant("u1", Value::integer(0))) == "percent is 0, expected 0.01 to 100");
  CHECK(rejected(grant("u1", Value::real(100.5))) == "percent is 100.5, expected 0.01 to 100");
  CHECK(rejected(grant("u1", Value::integer(-5))) == "percent is -5, expected 0.01 to 100");
  CHECK(rejected(grant("u1", Value::null())) == "percent is null, expected 0.01 to 100");
  CHECK(rejected(grant("u1", Value::string("10"))) == "percent is 10, expected 0.01 to 100");
  CHECK(rejected(make_record("discount", {text_argument("user", "u1")})) == "percent is missing, expected 0.01 to 100");
  CHECK(rejected(grant("", Value::integer(10))) == "no user to grant it to");
  auto record = make_record("discount", {argument("user", Value::null()), argument("percent", Value::integer(10))});
  CHECK(rejected(record) == "no user to grant it to");
  record = grant("u1", Value::integer(10));
  record.arguments.push_back(argument("valid_for", Value::null()));
  CHECK(rejected(record) == "valid_for is null, expected a duration like 24h");
  CHECK(receiver.requests().empty());
  CHECK(sink->deliver(grant("u1", Value::real(0.01))).delivery == Delivery::kDone);
  CHECK(sink->deliver(grant("u1", Value::integer(100))).delivery == Delivery::kDone);
}

TEST_CASE("discount: without a url the grant goes into the log") {
  const LogCapture log;
  const auto sink = open_sink("discount: {valid_for: 1h}", "discount");
  CHECK(sink->deliver(grant("u1", Value::real(12.5))).delivery == Delivery::kDone);
  const std::string text = log.text();
  CHECK(text.find(R"(info discount (no url is configured, nothing granted): {"user":"u1","percent":12.5,"code":")") ==
        0);
  CHECK(text.find(R"("expires":"2023-11-14T23:15:20.000500Z","rule":"cart_rescue")") != std::string::npos);
}
