// The LMDB backend, group commits and checkpoints with faults on purpose: commits that fail, and a process that is
// killed at each point between two steps.
#include "base/fault.h"

#include <doctest/doctest.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "state/checkpoints.h"
#include "state/committer.h"
#include "state/journal.h"
#include "state/layout.h"
#include "state/lmdb_backend.h"
#include "state/verify.h"
#include "tests/state/in_child.h"
#include "tests/state/state_dump.h"
#include "tests/state/temporary_directory.h"

namespace cepd::state {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kRounds = 6;

std::chrono::steady_clock::time_point far() { return std::chrono::steady_clock::now() + 60s; }

std::unique_ptr<StateBackend> open(const std::string& directory) {
  auto lock = DirectoryLock::take(directory);
  REQUIRE(lock.has_value());
  LmdbOptions options;
  options.directory = directory;
  auto backend = open_lmdb(options, std::move(*lock));
  REQUIRE(backend.has_value());
  return std::move(*backend);
}

WriteBatch entry(std::uint64_t sequence) {
  WriteBatch batch;
  batch.put(Space::kJournal, ordered_key(sequence),
            encode(JournalRecord{sequence, system_clock().now(), JournalAdvance{}}));
  batch.put(Space::kOutbox, ordered_key(sequence), "call");
  return batch;
}

/// A process at work: in round n it commits entry n, then makes a checkpoint in which everything says n. Goes on where
/// an earlier one was killed. `told` is called with each entry once it is known to be durable.
void work(const std::string& directory, const std::function<void(std::uint64_t)>& told) {
  const auto backend = open(directory);
  CheckpointOptions options;
  options.keep = 3;
  options.slice_changes = 4;
  options.journal_retain = 24h;
  auto checkpoints = Checkpoints::open(*backend, options, {}, system_clock());
  REQUIRE(checkpoints.has_value());
  CommitterOptions quick;
  quick.max_wait = 0us;
  quick.first_retry = quick.longest_retry = 1ms;
  Committer committer(*backend, quick, {}, checkpoints->get());
  auto journal = Journal::open(*backend, 0);
  REQUIRE(journal.has_value());
  for (std::uint64_t round = (*checkpoints)->last() ? (*checkpoints)->last()->journal_sequence + 1 : 1;
       round <= kRounds; ++round) {
    if (round > journal->last()) {
      REQUIRE(committer.wait_durable(committer.add(entry(round)), far()));
      told(round);
    }
    const std::uint64_t number = (*checkpoints)->begin(round, round + 1);
    WriteBatch changes;
    for (int key = 0; key < 10; ++key) changes.put(Space::kPartial, std::to_string(key), std::to_string(round));
    changes.put(Space::kPositions, "p", std::to_string(round));
    (*checkpoints)->add(std::move(changes));
    (*checkpoints)->finish();
    REQUIRE((*checkpoints)->wait_finished(number, far()));
  }
  REQUIRE(committer.stop().has_value());
}

/// What a killed process has left: only whole checkpoints after the next start, and all that it has told of.
void check_left(const std::string& directory, std::uint64_t told) {
  const auto backend = open(directory);
  REQUIRE(verify_state(*backend)->good());
  const auto checkpoints = Checkpoints::open(*backend, {}, {}, system_clock());
  REQUIRE(checkpoints.has_value());
  CHECK(verify_state(*backend)->good());
  const auto last = (*checkpoints)->last();
  const Records records = checkpointed_records(*backend);
  CHECK(records.size() == (last ? 11 : 0));
  for (const auto& [key, value] : records) CHECK(value == std::to_string(last->journal_sequence));
  CHECK(backend->size(Space::kJournal).value().entries >= told);
  CHECK(backend->size(Space::kOutbox).value().entries == backend->size(Space::kJournal).value().entries);
}

TEST_CASE(
    "fault: killed at any step of group commit and checkpoint, whole checkpoints and all that was told are left") {
  int kills = 0;
  for (const char* point :
       {"commit", "before_group", "after_group", "before_slice", "after_slice", "before_finish", "after_finish"}) {
    for (const int first : {1, 4, 9}) {
      const std::string plan = std::string(point) + "=kill@" + std::to_string(first);
      INFO(plan);
      const TemporaryDirectory directory;
      // The child's last word is in a file: it dies without another.
      const std::string said = directory.file("told");
      const auto tell = [&said](std::uint64_t sequence) { std::ofstream(said) << sequence; };
      const bool killed = killed_in_child([&] {
        if (plan_faults(plan)) work(directory.path(), tell);
      });
      kills += killed ? 1 : 0;
      std::uint64_t told = 0;
      std::ifstream(said) >> told;
      check_left(directory.path(), told);
      // The next process goes on as if nothing had been.
      std::uint64_t last = told;
      work(directory.path(), [&last](std::uint64_t sequence) { last = sequence; });
      check_left(directory.path(), last);
      CHECK(open(directory.path())->size(Space::kJournal).value().entries == kRounds);
    }
  }
  CHECK(kills >= 16);  // some points are not passed so often
}

TEST_CASE("fault: commits that fail for a while hold everything up and lose nothing") {
  for (const std::string plan : {"commit=ENOSPC@2x5", "commit=EIO@9x12", "commit=ENOSPC@1x1"}) {
    INFO(plan);
    const TemporaryDirectory directory;
    const std::string said = in_child([&] {
      static std::atomic<std::uint64_t> told = 0;
      if (!plan_faults(plan)) return std::string("no plan");
      work(directory.path(), [](std::uint64_t sequence) { told = sequence; });
      return std::to_string(told);
    });
    CHECK(said == std::to_string(kRounds));
    check_left(directory.path(), kRounds);
    CHECK(Checkpoints::open(*open(directory.path()), {}, {}, system_clock()).value()->last()->journal_sequence ==
          kRounds);
  }
}

TEST_CASE("fault: a commit that is made to fail says what a full or broken disk says") {
  for (const auto& [plan, code] : {std::pair{"commit=ENOSPC", Errc::kNoSpace}, std::pair{"commit=EIO", Errc::kIo}}) {
    const TemporaryDirectory directory;
    const auto backend = open(directory.path());
    REQUIRE(plan_faults(plan).has_value());
    const Status failed = backend->commit(entry(1));
    forget_faults();
    REQUIRE(failed.has_error());
    CHECK(failed.error().code == code);
    CHECK(failed.error().message.find("cannot write " + directory.path()) == 0);
    CHECK(backend->size(Space::kJournal).value().entries == 0);
    CHECK(backend->commit(entry(1)).has_value());
  }
}

}  // namespace
}  // namespace cepd::state
