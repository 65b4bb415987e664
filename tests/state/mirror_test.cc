#include "state/mirror.h"

#include <doctest/doctest.h>

#include <atomic>
#include <vector>

#include "state/memory_backend.h"
#include "state/mirror_copies.h"
#include "tests/state/checkpoints_subject.h"
#include "tests/state/map_store.h"
#include "tests/state/state_dump.h"

namespace cepd::state {
namespace {

/// A mirror over a store that the test keeps, whose writes it may refuse.
class Watched {
 public:
  Watched(StateBackend& backend, MirrorOptions options, std::uint64_t last = 0) {
    auto owned = std::make_unique<MapStore>();
    store = owned.get();
    store->before_write = [this]() -> Status {
      ++writes;
      return refuse ? Status(error(refuse_as, "away")) : Status();
    };
    MirrorCallbacks callbacks;
    callbacks.failed = [this](const Error&, std::optional<std::chrono::milliseconds> retry_in) {
      const std::lock_guard lock(mutex);
      waits.push_back(retry_in);
    };
    mirror =
        std::make_unique<Mirror>(backend, *identity_of(backend), std::move(owned), options, std::move(callbacks), last);
  }
  std::atomic<int> writes = 0;
  std::atomic<bool> refuse = false;
  Errc refuse_as = Errc::kUnavailable;
  std::mutex mutex;
  std::vector<std::optional<std::chrono::milliseconds>> waits;
  MapStore* store = nullptr;
  std::unique_ptr<Mirror> mirror;
};

MirrorOptions quick(int retries) {
  MirrorOptions options;
  options.keep = 3;
  options.retries = retries;
  options.first_wait = 1ms;
  options.longest_wait = 2ms;
  return options;
}

TEST_CASE("mirror: each checkpoint is copied, the last one at a start") {
  const auto backend = memory_backend();
  Subject subject(*backend);
  subject.whole(put(Space::kPartial, "a", "1"));
  Watched watched(*backend, quick(3), 1);
  REQUIRE(watched.mirror->wait_copied(1, far()));
  subject.whole(put(Space::kPartial, "a", "2"));
  watched.mirror->checkpoint_finished(2);
  REQUIRE(watched.mirror->wait_copied(2, far()));
  watched.mirror->stop();
  const MirrorStatus status = watched.mirror->status();
  CHECK(status.copied == 2);
  CHECK(status.copies == 2);
  CHECK(status.full_copies == 1);
  CHECK(status.failures == 0);
  CHECK(watched.store->listed == std::set<std::uint64_t>{1, 2});
}

TEST_CASE("mirror: what fails is tried again with growing waits, then with the next checkpoint") {
  const auto backend = memory_backend();
  Subject subject(*backend);
  Watched watched(*backend, quick(3));
  watched.refuse = true;
  subject.whole(put(Space::kPartial, "a", "1"));
  watched.mirror->checkpoint_finished(1);
  CHECK_FALSE(watched.mirror->wait_copied(1, far()));
  CHECK(watched.writes == 4);
  REQUIRE(watched.mirror->status().failing);
  watched.refuse = false;
  subject.whole(put(Space::kPartial, "a", "2"));
  watched.mirror->checkpoint_finished(2);
  CHECK(watched.mirror->wait_copied(2, far()));
  watched.mirror->stop();
  CHECK_FALSE(watched.mirror->status().failing);
  CHECK(watched.mirror->status().failures == 4);
  CHECK(watched.waits == std::vector<std::optional<std::chrono::milliseconds>>{1ms, 2ms, 2ms, std::nullopt});
  const auto made = memory_backend();
  REQUIRE(restore_copy(*watched.store, *made, std::nullopt).has_value());
  CHECK(checkpointed_records(*made) == checkpointed_records(*backend));
}

TEST_CASE("mirror: copies of another state are told once a checkpoint") {
  const auto backend = memory_backend();
  Subject subject(*backend);
  Watched watched(*backend, quick(3));
  watched.refuse = true;
  watched.refuse_as = Errc::kInvalidArgument;
  subject.whole(put(Space::kPartial, "a", "1"));
  watched.mirror->checkpoint_finished(1);
  CHECK_FALSE(watched.mirror->wait_copied(1, far()));
  watched.mirror->stop();
  CHECK(watched.writes == 1);
}

TEST_CASE("mirror: a stop does not wait for the next attempt") {
  const auto backend = memory_backend();
  Subject subject(*backend);
  MirrorOptions options = quick(3);
  options.first_wait = options.longest_wait = 1h;
  Watched watched(*backend, options);
  watched.refuse = true;
  subject.whole(put(Space::kPartial, "a", "1"));
  watched.mirror->checkpoint_finished(1);
  while (watched.writes == 0) std::this_thread::yield();
  watched.mirror->stop();
  CHECK(watched.mirror->status().copied == 0);
}

}  // namespace
}  // namespace cepd::state
