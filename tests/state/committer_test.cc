#include "state/committer.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "state/lmdb_backend.h"
#include "state/memory_backend.h"
#include "tests/state/temporary_directory.h"
#include "tests/state/wrapped_backend.h"

namespace cepd::state {
namespace {

using namespace std::chrono_literals;

/// Far enough: a test that gets there has failed.
std::chrono::steady_clock::time_point far() { return std::chrono::steady_clock::now() + 60s; }
std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

/// Commits nothing by itself, so that tests say when.
CommitterOptions patient() {
  CommitterOptions options;
  options.max_wait = 1h;
  options.first_retry = options.longest_retry = 1h;
  return options;
}

WriteBatch one(const std::string& key, const std::string& value = "v") {
  WriteBatch batch;
  batch.put(Space::kJournal, key, value);
  return batch;
}

std::size_t stored(StateBackend& backend) { return backend.size(Space::kJournal).value().entries; }

TEST_CASE("committer: what is added becomes durable by itself after max_wait") {
  const auto backend = memory_backend();
  CommitterOptions options;
  options.max_wait = 1ms;
  Committer committer(*backend, options, {});
  CHECK(committer.wait_durable(committer.add(one("a")), far()));
  CHECK(stored(*backend) == 1);
}

TEST_CASE("committer: nothing is durable before its time, and hurry() makes one commit of all that waits") {
  const auto backend = memory_backend();
  std::vector<Commit> commits;
  Committer committer(*backend, patient(), {[&](const Commit& commit) { commits.push_back(commit); }, {}, {}});
  CHECK(committer.add({}) == 0);
  CHECK(committer.add(one("a", "12")) == 1);
  CHECK(committer.add(one("b", "34")) == 2);
  CHECK(committer.add({}) == 2);
  CHECK_FALSE(committer.wait_durable(1, now()));
  CHECK(committer.waiting_bytes() == 6);
  CHECK(stored(*backend) == 0);
  committer.hurry();
  CHECK(committer.wait_durable(2, far()));
  CHECK(committer.durable() == 2);
  CHECK(stored(*backend) == 2);
  CHECK(committer.stop().has_value());
  REQUIRE(commits.size() == 1);
  CHECK(commits[0].through == 2);
  CHECK(commits[0].changes == 2);
  CHECK(commits[0].bytes == 6);
}

TEST_CASE("committer: what comes during a commit goes into one that follows, in order") {
  const auto inner = memory_backend();
  std::promise<void> entered, released;
  std::vector<std::vector<std::string>> seen;
  WrappedBackend backend(*inner, [&](const WriteBatch& batch) -> Status {
    seen.emplace_back();
    for (const WriteBatch::Change& change : batch.changes()) seen.back().push_back(change.key);
    if (seen.size() == 1) {
      entered.set_value();
      released.get_future().wait();
    }
    return {};
  });
  CommitterOptions options = patient();
  options.max_wait = 0us;
  Committer committer(backend, options, {});
  committer.add(one("a"));
  entered.get_future().wait();
  for (const char* key : {"b", "c", "d"}) committer.add(one(key));
  CHECK(committer.durable() == 0);
  released.set_value();
  CHECK(committer.wait_durable(4, far()));
  CHECK(committer.stop().has_value());
  CHECK(seen == std::vector<std::vector<std::string>>{{"a"}, {"b", "c", "d"}});
}

TEST_CASE("committer: when as much waits as may, there is no room, and it is committed at once") {
  const auto inner = memory_backend();
  std::promise<void> released;
  auto release = released.get_future().share();
  WrappedBackend backend(*inner, [&](const WriteBatch&) -> Status {
    release.wait();
    return {};
  });
  CommitterOptions options = patient();
  options.most_bytes = 100;
  Committer committer(backend, options, {});
  CHECK(committer.wait_room(now()));
  committer.add(one("a", std::string(98, 'x')));
  CHECK(committer.wait_room(now()));  // 99 bytes
  const CommitTicket last = committer.add(one("b", "y"));
  CHECK_FALSE(committer.wait_room(now()));
  released.set_value();
  CHECK(committer.wait_room(far()));
  CHECK(committer.wait_durable(last, far()));
}

TEST_CASE("committer: a failing commit is repeated whole, nothing is durable meanwhile, nothing is lost") {
  const auto inner = memory_backend();
  std::atomic<int> failures = 3;
  WrappedBackend backend(*inner, [&](const WriteBatch& batch) -> Status {
    CHECK(batch.changes().size() == (failures >= 0 ? 2 : 1));
    if (failures-- > 0) return error(Errc::kNoSpace, "the disk is full");
    return {};
  });
  std::vector<std::chrono::milliseconds> waits;
  std::promise<void> failed;
  int recovered = 0;
  CommitterOptions options = patient();
  options.longest_retry = 3h;
  Committer committer(backend, options,
                      {{},
                       [&](const Error& reason, std::chrono::milliseconds retry_in) {
                         CHECK(reason.code == Errc::kNoSpace);
                         if (waits.empty()) failed.set_value();
                         waits.push_back(retry_in);
                       },
                       [&] { ++recovered; }});
  committer.add(one("a"));
  const CommitTicket first = committer.add(one("b"));
  committer.hurry();
  failed.get_future().wait();
  CHECK(committer.failing()->message == "the disk is full");
  CHECK_FALSE(committer.wait_room(now()));
  CHECK(committer.durable() == 0);
  CHECK(stored(*inner) == 0);
  const CommitTicket second = committer.add(one("c"));
  while (!committer.wait_durable(first, now() + 1ms)) committer.retry_now();
  CHECK_FALSE(committer.failing());
  CHECK(committer.wait_room(now()));
  committer.hurry();
  CHECK(committer.wait_durable(second, far()));
  CHECK(committer.stop().has_value());
  CHECK(stored(*inner) == 3);
  CHECK(recovered == 1);
  CHECK(waits == std::vector<std::chrono::milliseconds>{1h, 2h, 3h});
}

TEST_CASE("committer: a failing commit is repeated by itself after its wait") {
  const auto inner = memory_backend();
  int failures = 5;
  WrappedBackend backend(*inner, [&](const WriteBatch&) -> Status {
    if (failures-- > 0) return error(Errc::kIo, "no");
    return {};
  });
  CommitterOptions options;
  options.first_retry = options.longest_retry = 1ms;
  Committer committer(backend, options, {});
  CHECK(committer.wait_durable(committer.add(one("a")), far()));
}

TEST_CASE("committer: stop commits what waits") {
  const auto backend = memory_backend();
  Committer committer(*backend, patient(), {});
  const CommitTicket last = committer.add(one("a"));
  CHECK(committer.stop().has_value());
  CHECK(committer.durable() == last);
  CHECK(stored(*backend) == 1);
  CHECK(committer.stop().has_value());
}

TEST_CASE("committer: stop tries a failing commit once more and says what went wrong") {
  const auto inner = memory_backend();
  std::atomic<int> attempts = 0;
  WrappedBackend backend(*inner, [&](const WriteBatch&) -> Status {
    ++attempts;
    return error(Errc::kIo, "the disk is gone");
  });
  std::promise<void> failed;
  Committer committer(backend, patient(),
                      {{},
                       [&](const Error&, auto) {
                         if (attempts == 1) failed.set_value();
                       },
                       {}});
  const CommitTicket ticket = committer.add(one("a"));
  committer.hurry();
  failed.get_future().wait();
  const Status stopped = committer.stop();
  REQUIRE(stopped.has_error());
  CHECK(stopped.error().message == "the disk is gone");
  CHECK(attempts == 2);
  CHECK_FALSE(committer.wait_durable(ticket, far()));
}

TEST_CASE("committer: from many threads, with readers beside it, over a growing map of lmdb") {
  const TemporaryDirectory directory;
  auto lock = DirectoryLock::take(directory.path());
  REQUIRE(lock.has_value());
  auto backend = open_lmdb({directory.path(), std::size_t{1} << 20, std::size_t{64} << 20}, std::move(*lock));
  REQUIRE(backend.has_value());
  constexpr int kThreads = 3, kEach = 40;
  CommitterOptions options;
  options.max_wait = 0us;
  std::atomic<CommitTicket> reported = 0;
  Committer committer(**backend, options,
                      {[&](const Commit& commit) {
                         CHECK(commit.through > reported);
                         reported = commit.through;
                       },
                       {},
                       {}});
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) {
      // What is seen is a whole commit: each has a pair.
      std::size_t seen = 0;
      CHECK((*backend)
                ->scan(Space::kOutbox, {},
                       [&](std::string_view, std::string_view value) -> Status {
                         CHECK(value.size() == 20'000);
                         ++seen;
                         return {};
                       })
                .has_value());
      CHECK(seen % 2 == 0);
    }
  });
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) {
        const std::string key = std::to_string(thread) + "/" + std::to_string(i);
        WriteBatch pair;
        pair.put(Space::kOutbox, key + "a", std::string(20'000, 'a'));
        pair.put(Space::kOutbox, key + "b", std::string(20'000, 'b'));
        const CommitTicket ticket = committer.add(std::move(pair));
        if (i % 8 == 0) CHECK(committer.wait_durable(ticket, far()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(committer.stop().has_value());
  done = true;
  reader.join();
  CHECK(reported == kThreads * kEach);
  CHECK((*backend)->size(Space::kOutbox).value().entries == 2 * kThreads * kEach);
}

}  // namespace
}  // namespace cepd::state
