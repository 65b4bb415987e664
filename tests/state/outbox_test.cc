#include "state/outbox.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "state/layout.h"
#include "state/memory_backend.h"

namespace cepd::state {
namespace {

OutboxRecord record(const std::string& action, const std::string& key) {
  OutboxRecord made;
  made.action = action;
  made.idempotency_key = key;
  made.rule = "abandoned_cart";
  made.time = event_time_us(-1'500);
  made.arguments = {{"title", "Überschrift", "\"Überschrift\""}, {"percent", "10", "10"}};
  made.labels = {{"severity", "high", "\"high\""}};
  made.match_json = R"({"match":"00"})";
  return made;
}

std::string text(const OutboxRecord& r) {
  std::string out = std::to_string(r.sequence) + " " + r.action + " " + r.idempotency_key + " " + r.rule + " " +
                    std::to_string(to_us(r.time)) + " " + r.match_json;
  for (const auto& list : {r.arguments, r.labels}) {
    out += " |";
    for (const OutboxArgument& a : list) out += " " + a.name + "=" + a.text + "=" + a.json;
  }
  return out;
}

std::size_t stored(StateBackend& backend) {
  std::size_t count = 0;
  const Status scanned = backend.scan(Space::kOutbox, {}, [&count](std::string_view, std::string_view) -> Status {
    ++count;
    return {};
  });
  REQUIRE(scanned.has_value());
  return count;
}

/// An outbox whose changes go to `backend`, as in the daemon.
struct Stored {
  explicit Stored(StateBackend& backend, std::uint64_t next = 1, DeliverWhen when = DeliverWhen::kDurable)
      : committer(
            backend, {.max_wait = std::chrono::microseconds(0)},
            {.durable = [this](const Commit& done) { outbox.durable(done.through); }, .failed = {}, .recovered = {}}) {
    REQUIRE(outbox.load(backend, next).has_value());
    outbox.attach(committer, when);
  }
  /// Hands over what is new and waits until all is durable and known to be.
  void save() {
    outbox.hand_over({});
    WriteBatch last;
    last.put(Space::kRules, "end", "");
    REQUIRE(committer.wait_durable(committer.add(std::move(last)),
                                   std::chrono::steady_clock::now() + std::chrono::seconds(30)));
  }

  Outbox outbox;
  Committer committer;
};

/// The next call, or null when `stop` was asked for.
RecordPtr take(Outbox& outbox, const std::string& action, const std::stop_token& stop = {}) {
  auto taken = outbox.take(action, 1, stop);
  REQUIRE(taken.has_value());
  return taken->empty() ? nullptr : taken->front();
}

void finish(Outbox& outbox, const std::string& action, std::uint64_t sequence) {
  outbox.finish(action, {&sequence, 1});
}

void put_back(Outbox& outbox, const std::string& action, std::uint64_t sequence) {
  outbox.put_back(action, {&sequence, 1});
}

std::string take_key(Outbox& outbox, const std::string& action) {
  const auto taken = take(outbox, action);
  return taken ? taken->idempotency_key : "none";
}

TEST_CASE("outbox: each action's calls come oldest first") {
  Outbox outbox;
  for (const char* key : {"1", "2", "3"}) outbox.add(record("alert", key));
  outbox.add(record("log", "4"));
  CHECK(outbox.size() == 4);
  CHECK(outbox.size("alert") == 3);
  CHECK(outbox.size("webhook") == 0);
  CHECK(take_key(outbox, "log") == "4");
  CHECK(take_key(outbox, "alert") == "1");
  CHECK(take_key(outbox, "alert") == "2");
  CHECK(outbox.size("alert") == 3);  // held ones count
}

TEST_CASE("outbox: put back in any order, the oldest is first again") {
  Outbox outbox;
  for (const char* key : {"1", "2", "3"}) outbox.add(record("alert", key));
  const auto first = take(outbox, "alert");
  const auto second = take(outbox, "alert");
  put_back(outbox, "alert", first->sequence);
  CHECK(take_key(outbox, "alert") == "1");
  put_back(outbox, "alert", first->sequence);
  put_back(outbox, "alert", second->sequence);
  CHECK(take_key(outbox, "alert") == "1");
  CHECK(take_key(outbox, "alert") == "2");
  CHECK(take_key(outbox, "alert") == "3");
}

TEST_CASE("outbox: take waits for a call and ends when asked to stop") {
  Outbox outbox;
  std::string first, second = "unset";
  std::jthread worker([&](std::stop_token stop) {
    const auto taken = take(outbox, "alert", stop);
    first = taken ? taken->idempotency_key : "none";
    if (taken) finish(outbox, "alert", taken->sequence);
    const auto none = take(outbox, "alert", stop);
    second = none ? none->idempotency_key : "none";
  });
  outbox.add(record("log", "other"));
  outbox.add(record("alert", "1"));
  const auto held = take(outbox, "log");
  finish(outbox, "log", held->sequence);
  CHECK(outbox.wait_empty(std::chrono::steady_clock::now() + std::chrono::seconds(30)));
  worker.request_stop();
  worker.join();
  CHECK(first == "1");
  CHECK(second == "none");
  // Also when there is something to take.
  outbox.add(record("alert", "2"));
  std::stop_source stopped;
  stopped.request_stop();
  CHECK_FALSE(take(outbox, "alert", stopped.get_token()));
  CHECK(outbox.size("alert") == 1);
}

TEST_CASE("outbox: what was stored loads as it was, held or not") {
  const auto backend = memory_backend();
  std::vector<std::string> before;
  {
    Stored first(*backend);
    for (const char* key : {"1", "2", "3"}) first.outbox.add(record("alert", key));
    OutboxRecord bare;
    bare.action = "log";
    bare.time = kMinTime;
    first.outbox.add(bare);
    first.save();
    for (const char* action : {"alert", "alert", "alert", "log"}) before.push_back(text(*take(first.outbox, action)));
  }
  Stored second(*backend, 5);
  CHECK(second.outbox.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(text(*take(second.outbox, i < 3 ? "alert" : "log")) == before[i]);
  // New calls come after the loaded ones, on disk too.
  second.outbox.add(record("alert", "5"));
  second.save();
  CHECK(stored(*backend) == 5);
  CHECK(take(second.outbox, "alert")->sequence == 5);
}

TEST_CASE("outbox: a call is given out when it is durable, or at once where that is asked for") {
  const auto backend = memory_backend();
  std::stop_source stopped;
  stopped.request_stop();
  {
    Stored calls(*backend);
    calls.outbox.add(record("alert", "1"));
    CHECK(calls.outbox.has_new());
    std::jthread worker([&](const std::stop_token& stop) {
      if (const auto taken = take(calls.outbox, "alert", stop)) {
        CHECK(stored(*backend) == 1);
        finish(calls.outbox, "alert", taken->sequence);
      }
    });
    calls.save();
    CHECK_FALSE(calls.outbox.has_new());
    CHECK(calls.outbox.wait_empty(std::chrono::steady_clock::now() + std::chrono::seconds(30)));
  }
  CHECK(stored(*backend) == 0);  // the mark is committed at the committer's end
  Stored at_once(*backend, 2, DeliverWhen::kAtOnce);
  at_once.outbox.add(record("alert", "2"));
  CHECK(take_key(at_once.outbox, "alert") == "2");
  CHECK(stored(*backend) == 0);
}

TEST_CASE("outbox: a call finished before it was handed over is not stored, and not made again") {
  const auto backend = memory_backend();
  {
    Stored calls(*backend, 1, DeliverWhen::kAtOnce);
    calls.outbox.add(record("alert", "1"));
    finish(calls.outbox, "alert", take(calls.outbox, "alert")->sequence);
    CHECK(calls.outbox.has_new());
    calls.save();
    CHECK(stored(*backend) == 0);
  }
  Stored again(*backend, 1);
  CHECK(again.outbox.behind());
  again.outbox.add(record("alert", "1"));
  CHECK_FALSE(again.outbox.behind());
  CHECK(again.outbox.size() == 0);
  again.outbox.add(record("alert", "2"));
  CHECK(again.outbox.size() == 1);
}

TEST_CASE("outbox: what a replay makes again is left out, delivered or not") {
  const auto backend = memory_backend();
  {
    Stored first(*backend);
    for (const char* key : {"1", "2", "3", "4"}) first.outbox.add(record("alert", key));
    first.save();
    for (int i = 0; i < 4; ++i) take(first.outbox, "alert");
    finish(first.outbox, "alert", 2);
    finish(first.outbox, "alert", 4);
  }
  CHECK(stored(*backend) == 2);
  // From a checkpoint behind the first call.
  Stored second(*backend, 2);
  for (const char* key : {"2", "3", "4", "5"}) second.outbox.add(record("alert", key));
  CHECK(second.outbox.next_sequence() == 6);
  second.save();
  for (const char* key : {"1", "3", "5"}) CHECK(take_key(second.outbox, "alert") == key);
  CHECK(second.outbox.size() == 3);
  // One that does not come to all of them goes on behind them.
  Stored third(*backend, 2);
  third.outbox.add(record("alert", "2"));
  CHECK(third.outbox.behind());
  third.outbox.catch_up();
  CHECK(third.outbox.next_sequence() == 6);
}

TEST_CASE("outbox: no more calls are given out than may be repeated, until it is stored that they were delivered") {
  const auto backend = memory_backend();
  Outbox outbox;
  std::atomic<bool> blocked = false;
  std::promise<void> go_on;
  auto wait = go_on.get_future();
  Committer committer(*backend, {.max_wait = std::chrono::microseconds(0)},
                      {.durable =
                           [&](const Commit& done) {
                             if (blocked) wait.wait();
                             outbox.durable(done.through);
                           },
                       .failed = {},
                       .recovered = {}});
  outbox.attach(committer, DeliverWhen::kAtOnce);
  for (std::size_t i = 0; i <= kMostUnmarked; ++i) outbox.add(record("alert", std::to_string(i)));
  REQUIRE(committer.wait_durable(outbox.hand_over({}), std::chrono::steady_clock::now() + std::chrono::seconds(30)));
  blocked = true;
  for (std::size_t i = 0; i < kMostUnmarked; ++i) finish(outbox, "alert", take(outbox, "alert")->sequence);
  auto last = std::async(std::launch::async, [&] { return take_key(outbox, "alert"); });
  CHECK(last.wait_for(std::chrono::milliseconds(1)) == std::future_status::timeout);
  go_on.set_value();
  CHECK(last.get() == std::to_string(kMostUnmarked));
}

TEST_CASE("outbox: what is more than memory holds is read again when it is its turn, in order") {
  const auto backend = memory_backend();
  constexpr std::size_t kCalls = 3'000;
  const std::string big(1'000, 'x');  // some three times kCallsInMemory
  const auto named = [&](std::size_t i) {
    OutboxRecord made = record(i % 10 == 0 ? "log" : "alert", std::to_string(i));
    made.match_json = big + std::to_string(i);
    return made;
  };
  std::vector<std::uint64_t> seen;
  std::size_t batch = 0;
  // Takes up to `most` at a time, gives some back, and goes on until `until` calls were finished.
  const auto take_up_to = [&](Outbox& outbox, std::size_t until) {
    while (seen.size() < until) {
      const auto taken = outbox.take("alert", 1 + batch % 700, {});
      REQUIRE(taken.has_value());
      std::vector<std::uint64_t> done, back;
      for (const RecordPtr& each : *taken) {
        CHECK(text(*each) == [&] {
          OutboxRecord same = named(each->sequence - 1);
          same.sequence = each->sequence;
          return text(same);
        }());
        (batch % 3 == 0 ? back : done).push_back(each->sequence);
      }
      ++batch;
      outbox.put_back("alert", back);
      outbox.finish("alert", done);
      seen.insert(seen.end(), done.begin(), done.end());
    }
  };
  {
    Stored calls(*backend);
    for (std::size_t i = 0; i < kCalls; ++i) {
      calls.outbox.add(named(i));
      if (i % 100 == 0) calls.save();
    }
    calls.save();
    CHECK(calls.outbox.size("alert") == kCalls - kCalls / 10);
    CHECK(calls.outbox.bytes("alert") > 2 * kCallsInMemory);
    take_up_to(calls.outbox, 1'500);
    calls.save();
  }
  Stored again(*backend, kCalls + 1);
  take_up_to(again.outbox, kCalls - kCalls / 10);
  again.save();
  CHECK(std::ranges::is_sorted(seen));
  CHECK(again.outbox.bytes("alert") == 0);
  CHECK(again.outbox.size() == kCalls / 10);
  CHECK(stored(*backend) == kCalls / 10);
}

TEST_CASE("outbox: a full queue has no room until enough of it was delivered") {
  const auto now = [] { return std::chrono::steady_clock::now(); };
  Outbox outbox;
  outbox.add(record("alert", "1"));
  const std::size_t one = outbox.bytes("alert");
  outbox.set_limits("alert", {.bytes = 2 * one});
  outbox.set_limits("log", {.bytes = one});
  CHECK(outbox.wait_room(now()));
  outbox.add(record("alert", "2"));
  CHECK_FALSE(outbox.wait_room(now()));
  CHECK(outbox.full() == std::vector<std::string>{"alert"});
  auto room = std::async(std::launch::async, [&] { return outbox.wait_room(now() + std::chrono::seconds(30)); });
  const auto held = take(outbox, "alert");
  CHECK_FALSE(outbox.wait_room(now()));  // what is held still takes room
  put_back(outbox, "alert", held->sequence);
  finish(outbox, "alert", take(outbox, "alert")->sequence);
  CHECK(room.get());
  CHECK(outbox.full().empty());
  CHECK(outbox.bytes("alert") == one);
}

TEST_CASE("outbox: a stored call that is gone or altered is an error for who takes it") {
  const auto backend = memory_backend();
  Stored calls(*backend);
  const std::string big(kCallsInMemory, 'x');
  for (int i = 0; i < 3; ++i) {
    OutboxRecord made = record("alert", std::to_string(i));
    made.match_json = big;
    calls.outbox.add(std::move(made));
    calls.save();
  }
  WriteBatch damage;
  damage.put(Space::kOutbox, ordered_key(2), "x");
  damage.erase(Space::kOutbox, ordered_key(3));
  REQUIRE(backend->commit(damage).has_value());
  CHECK(take(calls.outbox, "alert")->sequence == 1);
  for (int i = 0; i < 2; ++i) {
    const auto taken = calls.outbox.take("alert", 1, {});
    REQUIRE(taken.has_error());
    CHECK(taken.error().code == Errc::kCorrupt);
  }
}

TEST_CASE("outbox: records cut or altered are kCorrupt") {
  const auto good = memory_backend();
  {
    Stored calls(*good);
    calls.outbox.add(record("alert", "1"));
    calls.save();
  }
  std::string key, value;
  const Status scanned = good->scan(Space::kOutbox, {}, [&](std::string_view k, std::string_view v) -> Status {
    key = k;
    value = v;
    return {};
  });
  REQUIRE(scanned.has_value());
  const auto load = [](const std::string& k, const std::string& v) {
    const auto backend = memory_backend();
    WriteBatch batch;
    batch.put(Space::kOutbox, k, v);
    REQUIRE(backend->commit(batch).has_value());
    return Outbox().load(*backend);
  };
  CHECK(load(key, value).has_value());
  for (std::size_t size = 0; size < value.size(); ++size) {
    const Status loaded = load(key, value.substr(0, size));
    REQUIRE(loaded.has_error());
    CHECK(loaded.error().code == Errc::kCorrupt);
  }
  CHECK(load(key, value + "x").has_error());
  CHECK(load(key.substr(1), value).has_error());
  // The number that was reached must not be below that of a stored call.
  WriteBatch reached;
  const auto number = good->get(Space::kDelivered, "next");
  REQUIRE((number.has_value() && number->has_value()));
  reached.put(Space::kDelivered, "next", (*number)->substr(0, (*number)->size() - 1) + "\x01");
  REQUIRE(good->commit(reached).has_value());
  CHECK(Outbox().load(*good).has_error());
}

TEST_CASE("outbox: wait_empty gives up at its deadline") {
  Outbox outbox;
  CHECK(outbox.wait_empty(std::chrono::steady_clock::now()));
  outbox.add(record("alert", "1"));
  CHECK_FALSE(outbox.wait_empty(std::chrono::steady_clock::now()));
  CHECK(outbox.wait_empty(std::chrono::steady_clock::now(), {"of another action"}));
}

TEST_CASE("outbox: several workers and a saving pump deliver each call once") {
  constexpr int kCalls = 2'000;
  const auto backend = memory_backend();
  std::vector<int> delivered(kCalls, 0);
  Stored calls(*backend);
  Outbox& outbox = calls.outbox;
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 3; ++i) {
      workers.emplace_back([&](std::stop_token stop) {
        bool failing = true;
        while (const auto call = take(outbox, "alert", stop)) {
          failing = !failing;
          if (failing) {
            put_back(outbox, "alert", call->sequence);
            continue;
          }
          ++delivered[std::stoul(call->idempotency_key)];
          finish(outbox, "alert", call->sequence);
        }
      });
    }
    for (int i = 0; i < kCalls; ++i) {
      outbox.add(record("alert", std::to_string(i)));
      if (i % 50 == 0) outbox.hand_over({});
    }
    outbox.hand_over({});
    CHECK(outbox.wait_empty(std::chrono::steady_clock::now() + std::chrono::seconds(60)));
    calls.save();
  }
  CHECK(stored(*backend) == 0);
  CHECK((delivered == std::vector<int>(kCalls, 1)));
}

}  // namespace
}  // namespace cepd::state
