#include "state/outbox.h"

#include <doctest/doctest.h>

#include <chrono>
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

/// A save that succeeds.
void save(Outbox& outbox, StateBackend& backend) {
  WriteBatch batch;
  outbox.save(batch);
  REQUIRE(backend.commit(batch).has_value());
  outbox.saved();
}

std::string take_key(Outbox& outbox, const std::string& action) {
  const auto taken = outbox.take(action, {});
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
  const auto first = outbox.take("alert", {});
  const auto second = outbox.take("alert", {});
  outbox.put_back("alert", first->sequence);
  CHECK(take_key(outbox, "alert") == "1");
  outbox.put_back("alert", first->sequence);
  outbox.put_back("alert", second->sequence);
  CHECK(take_key(outbox, "alert") == "1");
  CHECK(take_key(outbox, "alert") == "2");
  CHECK(take_key(outbox, "alert") == "3");
}

TEST_CASE("outbox: take waits for a call and ends when asked to stop") {
  Outbox outbox;
  std::string first, second = "unset";
  std::jthread worker([&](std::stop_token stop) {
    const auto taken = outbox.take("alert", stop);
    first = taken ? taken->idempotency_key : "none";
    if (taken) outbox.finish("alert", taken->sequence);
    const auto none = outbox.take("alert", stop);
    second = none ? none->idempotency_key : "none";
  });
  outbox.add(record("log", "other"));
  outbox.add(record("alert", "1"));
  const auto held = outbox.take("log", {});
  outbox.finish("log", held->sequence);
  CHECK(outbox.wait_empty(std::chrono::steady_clock::now() + std::chrono::seconds(30)));
  worker.request_stop();
  worker.join();
  CHECK(first == "1");
  CHECK(second == "none");
  // Also when there is something to take.
  outbox.add(record("alert", "2"));
  std::stop_source stopped;
  stopped.request_stop();
  CHECK_FALSE(outbox.take("alert", stopped.get_token()));
  CHECK(outbox.size("alert") == 1);
}

TEST_CASE("outbox: what was saved loads as it was, held or not") {
  const auto backend = memory_backend();
  Outbox outbox;
  for (const char* key : {"1", "2", "3"}) outbox.add(record("alert", key));
  OutboxRecord bare;
  bare.action = "log";
  bare.time = kMinTime;
  outbox.add(bare);
  const auto held = outbox.take("alert", {});
  save(outbox, *backend);

  Outbox loaded;
  REQUIRE(loaded.load(*backend).has_value());
  CHECK(loaded.size() == 4);
  CHECK(text(*loaded.take("alert", {})) == text(*held));
  CHECK(text(*loaded.take("alert", {})) == text(*outbox.take("alert", {})));
  CHECK(text(*loaded.take("alert", {})) == text(*outbox.take("alert", {})));
  CHECK(text(*loaded.take("log", {})) == text(*outbox.take("log", {})));
  // New calls come after the loaded ones, on disk too.
  loaded.add(record("alert", "5"));
  save(loaded, *backend);
  CHECK(stored(*backend) == 5);
  CHECK(loaded.take("alert", {})->sequence == 5);
}

TEST_CASE("outbox: finished calls leave the disk with the next save") {
  const auto backend = memory_backend();
  Outbox outbox;
  for (const char* key : {"1", "2"}) outbox.add(record("alert", key));
  save(outbox, *backend);
  outbox.finish("alert", outbox.take("alert", {})->sequence);
  CHECK(stored(*backend) == 2);
  save(outbox, *backend);
  CHECK(stored(*backend) == 1);
  outbox.finish("alert", 2);  // given up without a worker
  save(outbox, *backend);
  CHECK(stored(*backend) == 0);
  CHECK(outbox.size() == 0);
}

TEST_CASE("outbox: a call finished before the first save is never stored") {
  Outbox outbox;
  outbox.add(record("alert", "1"));
  outbox.finish("alert", outbox.take("alert", {})->sequence);
  WriteBatch batch;
  outbox.save(batch);
  CHECK(batch.empty());
}

TEST_CASE("outbox: a call finished while it is being saved is erased by the next save") {
  const auto backend = memory_backend();
  Outbox outbox;
  outbox.add(record("alert", "1"));
  WriteBatch batch;
  outbox.save(batch);
  outbox.finish("alert", outbox.take("alert", {})->sequence);
  outbox.add(record("alert", "2"));
  outbox.add(record("alert", "3"));
  outbox.finish("alert", outbox.take("alert", {})->sequence);
  REQUIRE(backend->commit(batch).has_value());
  outbox.saved();
  CHECK(stored(*backend) == 1);
  save(outbox, *backend);
  CHECK(stored(*backend) == 1);
  Outbox loaded;
  REQUIRE(loaded.load(*backend).has_value());
  CHECK(take_key(loaded, "alert") == "3");
  WriteBatch nothing;
  outbox.save(nothing);
  CHECK(nothing.empty());
}

TEST_CASE("outbox: a save that failed is made up for by the next") {
  const auto backend = memory_backend();
  Outbox outbox;
  outbox.add(record("alert", "1"));
  outbox.add(record("alert", "2"));
  save(outbox, *backend);
  outbox.add(record("alert", "3"));
  outbox.add(record("alert", "4"));
  outbox.finish("alert", 1);
  WriteBatch lost;
  outbox.save(lost);
  outbox.finish("alert", 2);
  outbox.finish("alert", 3);
  save(outbox, *backend);
  Outbox loaded;
  REQUIRE(loaded.load(*backend).has_value());
  CHECK(loaded.size() == 1);
  CHECK(take_key(loaded, "alert") == "4");
}

TEST_CASE("outbox: records cut or altered are kCorrupt") {
  const auto good = memory_backend();
  Outbox outbox;
  outbox.add(record("alert", "1"));
  save(outbox, *good);
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
  Outbox outbox;
  std::vector<int> delivered(kCalls, 0);
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 3; ++i) {
      workers.emplace_back([&](std::stop_token stop) {
        bool failing = true;
        while (const auto call = outbox.take("alert", stop)) {
          failing = !failing;
          if (failing) {
            outbox.put_back("alert", call->sequence);
            continue;
          }
          ++delivered[std::stoul(call->idempotency_key)];
          outbox.finish("alert", call->sequence);
        }
      });
    }
    for (int i = 0; i < kCalls; ++i) {
      outbox.add(record("alert", std::to_string(i)));
      if (i % 50 == 0) save(outbox, *backend);
    }
    CHECK(outbox.wait_empty(std::chrono::steady_clock::now() + std::chrono::seconds(60)));
    save(outbox, *backend);
  }
  CHECK(stored(*backend) == 0);
  CHECK((delivered == std::vector<int>(kCalls, 1)));
}

}  // namespace
}  // namespace cepd::state
