#include "actions/deliver.h"

#include <doctest/doctest.h>

#include "tests/actions/helpers.h"
#include "tests/support/http_receiver.h"

using namespace cepd;
using namespace cepd::actions;
using namespace cepd::test;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr std::string_view kQuick = "retry_first_wait: 1ms, retry_longest_wait: 20ms";

bool empty_soon(state::Outbox& outbox) { return outbox.wait_empty(steady_clock::now() + std::chrono::seconds(20)); }

std::string hook(const std::string& name, const std::string& url, std::string_view further) {
  return name + ": {type: webhook, url: '" + url + "', " + std::string(further) + "}\n";
}

}  // namespace

TEST_CASE("deliver: a service that fails for a while gets the same grant with the same key, once it works") {
  HttpReceiver receiver;
  receiver.answer({{503, "busy", {}}, {500, "", {}}, {429, "", {}}});
  state::Outbox outbox;
  Deliverer deliverer(open_yaml("discount: {url: '" + receiver.url() + "', " + std::string(kQuick) + "}"), outbox);
  deliverer.start();
  outbox.add(make_record("discount", {text_argument("user", "u1"), argument("percent", Value::integer(10))}));
  CHECK(empty_soon(outbox));
  deliverer.stop();
  const auto requests = receiver.requests();
  REQUIRE(requests.size() == 4);
  for (const auto& request : requests) {
    CHECK(request.body == requests[0].body);
    CHECK(request.header("idempotency-key") == std::string(kMatch));
  }
  CHECK(deliverer.counts("discount").delivered == 1);
  CHECK(deliverer.counts("discount").retried == 3);
  CHECK(deliverer.counts("discount").rejected == 0);
}

TEST_CASE("deliver: what a service refuses is logged, counted and given up") {
  const LogCapture log;
  HttpReceiver receiver;
  receiver.answer({{400, "no such field", {}}});
  state::Outbox outbox;
  Deliverer deliverer(open_yaml(hook("hook", receiver.url(), kQuick)), outbox);
  deliverer.start();
  outbox.add(make_record("hook", {}));
  outbox.add(make_record("hook", {}));
  CHECK(empty_soon(outbox));
  deliverer.stop();
  CHECK(receiver.requests().size() == 2);
  CHECK(deliverer.counts("hook").rejected == 1);
  CHECK(deliverer.counts("hook").delivered == 1);
  CHECK(log.text() == "error action hook: " + std::string(kMatch) + " is given up: http://127.0.0.1:" +
                          std::to_string(receiver.port()) + " answered 400: no such field\n");
}

TEST_CASE("deliver: a service that is away is waited for, and order is kept") {
  HttpReceiver receiver;
  receiver.refuse();
  state::Outbox outbox;
  Deliverer deliverer(open_yaml(hook("hook", receiver.url(), kQuick)), outbox);
  std::vector<std::uint64_t> begun;
  deliverer.before_call([&](const state::OutboxRecord& call) { begun.push_back(call.sequence); });
  deliverer.start();
  for (int i = 0; i < 3; ++i) outbox.add(make_record("hook", {argument("i", Value::integer(i))}));
  CHECK(eventually([&] { return deliverer.counts("hook").retried >= 2; }));
  CHECK(deliverer.counts("hook").failing);
  CHECK(outbox.size("hook") == 3);
  receiver.listen();
  CHECK(empty_soon(outbox));
  deliverer.stop();
  const auto requests = receiver.requests();
  REQUIRE(requests.size() == 3);
  for (int i = 0; i < 3; ++i)
    CHECK(json_at(requests[static_cast<std::size_t>(i)].body, "/arguments/i") == std::to_string(i));
  CHECK(deliverer.counts("hook").delivered == 3);
  CHECK(!deliverer.counts("hook").failing);
  CHECK(begun == std::vector<std::uint64_t>{1, 2, 3});  // each once, whatever its attempts
}

TEST_CASE("deliver: a longer wait that a service asks for is kept, up to the longest wait") {
  HttpReceiver receiver;
  receiver.answer({{503, "", {{"Retry-After", "3600"}}}});
  state::Outbox outbox;
  Deliverer deliverer(open_yaml(hook("hook", receiver.url(), "retry_first_wait: 1ms, retry_longest_wait: 300ms")),
                      outbox);
  const auto begin = steady_clock::now();
  deliverer.start();
  outbox.add(make_record("hook", {}));
  CHECK(empty_soon(outbox));
  const auto taken = steady_clock::now() - begin;
  deliverer.stop();
  CHECK(taken >= milliseconds(300));  // without Retry-After it were 1 ms
  CHECK(receiver.requests().size() == 2);
}

TEST_CASE("deliver: stop ends a wait for a retry at once and puts the call back") {
  HttpReceiver receiver;
  receiver.answer({{503, "", {}}});
  state::Outbox outbox;
  {
    Deliverer deliverer(open_yaml(hook("hook", receiver.url(), "retry_first_wait: 1h, retry_longest_wait: 1h")),
                        outbox);
    deliverer.start();
    outbox.add(make_record("hook", {argument("i", Value::integer(1))}));
    outbox.add(make_record("hook", {argument("i", Value::integer(2))}));
    CHECK(eventually([&] { return deliverer.counts("hook").retried == 1; }));
    const auto begin = steady_clock::now();
    deliverer.stop();
    CHECK(steady_clock::now() - begin < std::chrono::seconds(5));
    CHECK(outbox.size("hook") == 2);
    CHECK(receiver.requests().size() == 1);
  }
  Deliverer next(open_yaml(hook("hook", receiver.url(), kQuick)), outbox);
  next.start();
  CHECK(empty_soon(outbox));
  next.stop();
  REQUIRE(receiver.requests().size() == 3);
  CHECK(json_at(receiver.requests()[1].body, "/arguments/i") == "1");
  CHECK(json_at(receiver.requests()[2].body, "/arguments/i") == "2");
}

TEST_CASE("deliver: a slow action does not hold up another") {
  HttpReceiver slow;
  const HttpReceiver fast;
  slow.hold();
  state::Outbox outbox;
  Deliverer deliverer(open_yaml(hook("slow", slow.url(), kQuick) + hook("fast", fast.url(), kQuick)), outbox);
  deliverer.start();
  outbox.add(make_record("slow", {}));
  REQUIRE(slow.wait_for(1));
  for (int i = 0; i < 5; ++i) outbox.add(make_record("fast", {}));
  CHECK(fast.wait_for(5));
  CHECK(eventually([&] { return deliverer.counts("fast").delivered == 5; }));
  CHECK(deliverer.counts("slow").delivered == 0);
  CHECK(outbox.size() == 1);
  slow.release();
  CHECK(empty_soon(outbox));
  deliverer.stop();
  CHECK(deliverer.counts("slow").delivered == 1);
}

TEST_CASE("deliver: stop lets a delivery under way end") {
  HttpReceiver receiver;
  receiver.hold();
  state::Outbox outbox;
  Deliverer deliverer(open_yaml(hook("hook", receiver.url(), kQuick)), outbox);
  deliverer.start();
  outbox.add(make_record("hook", {}));
  REQUIRE(receiver.wait_for(1));
  std::jthread stopping([&] { deliverer.stop(); });
  receiver.release();
  stopping.join();
  CHECK(deliverer.counts("hook").delivered == 1);
  CHECK(outbox.size() == 0);
}

TEST_CASE("deliver: secrets do not reach the log") {
  const LogCapture log;
  ::setenv("CEPD_TEST_HOOK_TOKEN", "s3cr3t-t0ken", 1);
  HttpReceiver receiver;
  receiver.answer({{503, "Bearer s3cr3t-t0ken for /hooks/T0PATH", {}}, {400, "s3cr3t-t0ken /hooks/T0PATH", {}}});
  state::Outbox outbox;
  Deliverer deliverer(
      open_yaml(hook("hook", receiver.url("/hooks/T0PATH"),
                     "headers: ['Authorization: Bearer ${env:CEPD_TEST_HOOK_TOKEN}'], " + std::string(kQuick))),
      outbox);
  ::unsetenv("CEPD_TEST_HOOK_TOKEN");
  deliverer.start();
  outbox.add(make_record("hook", {}));
  CHECK(empty_soon(outbox));
  deliverer.stop();
  REQUIRE(receiver.requests().size() == 2);
  CHECK(receiver.requests()[0].header("authorization") == "Bearer s3cr3t-t0ken");
  CHECK(log.text().find("*** for ***") != std::string::npos);
  CHECK(log.text().find("t0ken") == std::string::npos);
  CHECK(log.text().find("T0PATH") == std::string::npos);
}

TEST_CASE("deliver: names and counts of actions") {
  state::Outbox outbox;
  const Deliverer deliverer(open_yaml("orders: {type: webhook}"), outbox);
  CHECK(deliverer.names() ==
        std::vector<std::string>{"alert", "discount", "file", "kafka", "log", "mqtt", "orders", "redis", "webhook"});
  CHECK(deliverer.counts("orders").delivered == 0);
  CHECK(deliverer.counts("nobody").delivered == 0);
}

TEST_CASE("breaker: opens after so many failures in a row, tries once at a time, and closes at the first success") {
  Breaker breaker(3);
  breaker.attempt();
  CHECK_FALSE(breaker.failed());
  breaker.succeeded();  // in a row
  CHECK_FALSE(breaker.failed());
  CHECK_FALSE(breaker.failed());
  CHECK(breaker.state() == BreakerState::kClosed);
  CHECK(breaker.failed());
  CHECK(breaker.state() == BreakerState::kOpen);
  breaker.attempt();
  CHECK(breaker.state() == BreakerState::kHalfOpen);
  CHECK_FALSE(breaker.failed());  // it was no longer closed
  CHECK(breaker.state() == BreakerState::kOpen);
  CHECK(breaker.failures() == 4);
  breaker.attempt();
  breaker.succeeded();
  CHECK(breaker.state() == BreakerState::kClosed);
  CHECK(breaker.opened() == 1);
}

namespace {

/// Takes all it is given, and answers as it is told.
class Batches final : public BatchSink {
 public:
  std::function<std::vector<Outcome>(std::span<const state::RecordPtr>)> answer;
  std::vector<std::string> seen;  // of each batch: the calls' numbers
  std::size_t most_at_once() const override { return 4; }
  std::vector<Outcome> deliver_all(std::span<const state::RecordPtr> records) override {
    std::string numbers;
    for (const auto& record : records) numbers += std::to_string(record->sequence) + " ";
    seen.push_back(numbers);
    return answer(records);
  }
};

}  // namespace

TEST_CASE("deliver: of a batch what did not work is tried again alone, in order, and one call at a time on trial") {
  state::Outbox outbox;
  for (int i = 0; i < 6; ++i) outbox.add(make_record("batch", {}));
  auto sink = std::make_unique<Batches>();
  Batches& batches = *sink;
  batches.answer = [&](std::span<const state::RecordPtr> records) {
    std::vector<Outcome> outcomes(records.size());
    const std::size_t time = batches.seen.size();
    if (time == 1) {  // 1 is through, 2 fails, 3 is given up, 4 was not tried
      outcomes.pop_back();
      outcomes[1].delivery = Delivery::kRetry;
      outcomes[2].delivery = Delivery::kRejected;
    } else if (time == 2 || time == 3) {
      outcomes.assign(1, {Delivery::kRetry});
    }
    return outcomes;
  };
  std::vector<OpenedAction> actions(1);
  actions[0].name = "batch";
  actions[0].retry = {milliseconds(1), milliseconds(1)};
  actions[0].breaker_failures = 2;
  actions[0].sink = std::move(sink);
  Deliverer deliverer(std::move(actions), outbox);
  deliverer.start();
  CHECK(empty_soon(outbox));
  deliverer.stop();
  // The first failure opens nothing (1 got through), the next one does; the trial is of one call, and closes it.
  CHECK(batches.seen == std::vector<std::string>{"1 2 3 4 ", "2 4 ", "2 ", "2 ", "4 ", "5 6 "});
  const ActionCounts counts = deliverer.counts("batch");
  CHECK(counts.delivered == 5);
  CHECK(counts.rejected == 1);
  CHECK(counts.retried == 3);
  CHECK(counts.breaker == BreakerState::kClosed);
  CHECK(counts.breaker_opened == 1);
}
