// Random changes, groups and checkpoints, cut off at any commit and started again, against a model in plain maps.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "state/checkpoints.h"
#include "state/committer.h"
#include "state/journal.h"
#include "state/layout.h"
#include "state/lmdb_backend.h"
#include "state/memory_backend.h"
#include "state/undo.h"
#include "state/verify.h"
#include "tests/state/state_dump.h"
#include "tests/state/temporary_directory.h"
#include "tests/state/wrapped_backend.h"

namespace cepd::state {
namespace {

using namespace std::chrono_literals;
using Random = std::mt19937;

std::chrono::steady_clock::time_point far() { return std::chrono::steady_clock::now() + 60s; }

void change_records(Records& records, const WriteBatch& batch) {
  for (const WriteBatch::Change& change : batch.changes()) {
    switch (change.kind) {
      case WriteBatch::Change::Kind::kPut:
        records[{change.space, change.key}] = change.value;
        break;
      case WriteBatch::Change::Kind::kErase:
        records.erase({change.space, change.key});
        break;
      case WriteBatch::Change::Kind::kClear:
        std::erase_if(records, [&](const auto& record) { return record.first.first == change.space; });
        break;
    }
  }
}

WriteBatch random_changes(Random& random, const Space* spaces, std::size_t count, bool clears) {
  WriteBatch batch;
  for (std::size_t left = random() % 12; left > 0; --left) {
    const Space space = spaces[random() % count];
    const std::string key = "key" + std::to_string(random() % 8);
    switch (random() % 8) {
      case 0:
      case 1:
        batch.erase(space, key);
        break;
      case 2:
        if (clears) {
          batch.clear(space);
          break;
        }
        [[fallthrough]];
      default:
        batch.put(space, key, std::string(random() % 4, static_cast<char>('a' + random() % 3)));
    }
  }
  return batch;
}

/// One store and what must be in it. Each life() is one process: it works until it is stopped or "killed".
class Story {
 public:
  Story(StateBackend& stored, unsigned seed) : stored_(stored), random_(seed) {}

  void life() {
    // After so many commits the process is dead: nothing gets to the disk any more.
    std::atomic<int> commits_left = random_() % 4 == 0 ? 1'000'000 : static_cast<int>(random_() % 40);
    WrappedBackend dying(stored_, [&](const WriteBatch&) -> Status {
      if (commits_left-- <= 0) return error(Errc::kIo, "dead");
      return {};
    });
    CheckpointOptions options;
    options.keep = 1 + random_() % 4;
    options.slice_changes = 1 + random_() % 4;
    auto opened = Checkpoints::open(dying, options, {}, system_clock());
    if (!opened) return check_stored();  // killed while it started
    Checkpoints& checkpoints = **opened;
    check_start(checkpoints);
    CommitterOptions quick;
    quick.max_wait = 0us;
    quick.first_retry = quick.longest_retry = 1h;
    std::atomic<bool> dead = false;
    Committer committer(dying, quick, {{}, [&](const Error&, auto) { dead = true; }, {}}, &checkpoints);

    std::vector<std::pair<CommitTicket, WriteBatch>> groups;
    const auto add_group = [&] {
      WriteBatch batch = random_changes(random_, kLiveSpaces, std::size(kLiveSpaces), false);
      WriteBatch copy = batch;
      const CommitTicket ticket = committer.add(std::move(batch));
      if (!copy.empty()) groups.emplace_back(ticket, std::move(copy));
      if (random_() % 3 == 0) committer.wait_durable(ticket, dead ? std::chrono::steady_clock::time_point() : soon());
    };
    for (std::size_t rounds = random_() % 8; rounds > 0 && !dead; --rounds) {
      for (std::size_t left = random_() % 4; left > 0; --left) add_group();
      Records state = state_;
      Records live = live_;
      for (const auto& [ticket, batch] : groups) change_records(live, batch);
      const std::uint64_t number = checkpoints.begin(0, 1);
      // A number is taken once its barrier is durable.
      CHECK(number >= last_number_);
      last_number_ = number;
      for (std::size_t left = random_() % 4; left > 0; --left) {
        WriteBatch changes = random_changes(random_, kCheckpointSpaces, std::size(kCheckpointSpaces), true);
        change_records(state, changes);
        checkpoints.add(std::move(changes));
        if (random_() % 2 == 0) add_group();
      }
      checkpoints.finish();
      as_of_[number] = {state, live};
      while (!checkpoints.wait_finished(number, soon()) && !dead && !checkpoints.failing()) {
      }
      // Whether it was finished is what is stored, also when it died before it could say so.
      if (checkpoints.failing() || dead) break;
      state_ = state;
    }
    if (random_() % 2 == 0) add_group();
    const bool stopped = committer.stop().has_value();
    for (const auto& [ticket, batch] : groups) {
      if (ticket <= committer.durable()) change_records(live_, batch);
    }
    CHECK((stopped || commits_left < 0));
    check_stored();
  }

  /// Goes back to a random one of the checkpoints that are kept, possibly in two goes.
  void go_back() {
    const auto kept = list_checkpoints(stored_);
    REQUIRE(kept.has_value());
    if (kept->empty()) return;
    const std::uint64_t number = (*kept)[random_() % kept->size()].number;
    int commits_left = static_cast<int>(random_() % 6);
    WrappedBackend dying(stored_, [&](const WriteBatch&) -> Status {
      if (commits_left-- <= 0) return error(Errc::kIo, "dead");
      return {};
    });
    const Status back = roll_back(dying, number);
    if (!back && !get_number(stored_, kRollbackKey).value()) return;  // it died before it began
    if (!back) REQUIRE(finish_rollback(stored_).has_value());
    state_ = as_of_.at(number).first;
    live_ = as_of_.at(number).second;
    CHECK((checkpointed_records(stored_) == state_));
    CHECK((live_records(stored_) == live_));
    CHECK(list_checkpoints(stored_)->back().number == number);
    check_stored();
  }

 private:
  static std::chrono::steady_clock::time_point soon() { return std::chrono::steady_clock::now() + 2ms; }

  /// What a new process has before it does anything.
  void check_start(const Checkpoints& checkpoints) {
    const auto last = checkpoints.last();
    state_ = last ? as_of_.at(last->number).first : Records();
    CHECK((checkpointed_records(stored_) == state_));
    CHECK((live_records(stored_) == live_));
    if (last) CHECK(last->checkpointed.records == state_.size());
  }

  /// Everything that is kept can be gone back to, whatever was cut off.
  void check_stored() {
    CHECK((live_records(stored_) == live_));
    const auto verified = verify_state(stored_);
    REQUIRE(verified.has_value());
    for (const std::string& problem : verified->problems) MESSAGE(problem);
    CHECK(verified->good());
    for (const auto& checkpoint : verified->checkpoints) {
      // The sums that were kept up step by step are those of the model's records.
      StateSum state, live;
      for (const auto& [key, value] : as_of_.at(checkpoint.info.number).first) state.add(key.first, key.second, value);
      for (const auto& [key, value] : as_of_.at(checkpoint.info.number).second) live.add(key.first, key.second, value);
      CHECK((checkpoint.info.checkpointed == state));
      CHECK((checkpoint.info.live == live));
    }
  }

  StateBackend& stored_;
  Random random_;
  Records state_, live_;
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, std::pair<Records, Records>> as_of_;
};

void tell(StateBackend& backend, unsigned seed, int lives) {
  INFO("seed ", seed);
  Story story(backend, seed);
  for (int life = 0; life < lives; ++life) {
    story.life();
    if (life % 3 == 2) story.go_back();
  }
}

TEST_CASE("checkpoints: killed at any commit and gone back from, they are what the model says") {
  const char* asked = std::getenv("CEPD_RANDOM_CASES");
  const int cases = asked != nullptr ? std::atoi(asked) : 60;
  for (int seed = 0; seed < cases; ++seed) tell(*memory_backend(), 20261130U + static_cast<unsigned>(seed), 12);
}

TEST_CASE("checkpoints: the same on lmdb") {
  for (unsigned seed = 0; seed < 3; ++seed) {
    const TemporaryDirectory directory;
    auto lock = DirectoryLock::take(directory.path());
    REQUIRE(lock.has_value());
    LmdbOptions options;
    options.directory = directory.path();
    auto backend = open_lmdb(options, std::move(*lock));
    REQUIRE(backend.has_value());
    tell(**backend, seed, 9);
  }
}

/// Three checkpoints with something in every space, outbox calls before and after each, and a journal.
std::unique_ptr<StateBackend> full_state() {
  auto backend = memory_backend();
  CheckpointOptions options;
  options.keep = 3;
  options.slice_changes = 2;
  auto checkpoints = Checkpoints::open(*backend, options, {}, system_clock());
  REQUIRE(checkpoints.has_value());
  Committer committer(*backend, {}, {}, checkpoints->get());
  for (std::uint64_t i = 1; i <= 4; ++i) {
    const std::string text = std::to_string(i);
    WriteBatch group;
    group.put(Space::kOutbox, "call" + text, "a call");
    if (i > 1) group.erase(Space::kOutbox, "call" + std::to_string(i - 1));
    group.put(Space::kDelivered, "mark", text);
    group.put(Space::kJournal, ordered_key(i), encode(JournalRecord{i, event_time_us(0), JournalAdvance{}}));
    committer.add(std::move(group));
    const std::uint64_t number = (*checkpoints)->begin(i - 1, i);
    WriteBatch changes;
    for (const Space space : kCheckpointSpaces) {
      changes.put(space, "always", text);
      changes.put(space, "once" + text, "");
    }
    changes.erase(Space::kPending, "once" + std::to_string(i - 1));
    (*checkpoints)->add(std::move(changes));
    (*checkpoints)->finish();
    REQUIRE((*checkpoints)->wait_finished(number, far()));
  }
  WriteBatch after;
  after.put(Space::kOutbox, "after", "the last barrier");
  committer.add(std::move(after));
  while ((*checkpoints)->has_slice()) std::this_thread::yield();
  REQUIRE(committer.stop().has_value());
  return backend;
}

TEST_CASE("verify: finds any single changed byte of any record") {
  const auto backend = full_state();
  const auto verified = verify_state(*backend);
  REQUIRE(verified.has_value());
  CHECK(verified->good());
  CHECK(verified->checkpoints.size() == 3);
  const Records records = all_records(*backend);
  CHECK(verified->records + 5 == records.size());  // the others: three checkpoints, two of meta
  std::size_t changed = 0;
  const auto check_found = [&](const WriteBatch& change, const WriteBatch& back) {
    REQUIRE(backend->commit(change).has_value());
    const auto damaged = verify_state(*backend);
    REQUIRE(damaged.has_value());
    CHECK_FALSE(damaged->good());
    REQUIRE(backend->commit(back).has_value());
    ++changed;
  };
  for (const auto& [at, value] : records) {
    const auto& [space, key] = at;
    INFO(std::string(space_name(space)), " ", key);
    WriteBatch back;
    back.put(space, key, value);
    for (std::size_t i = 0; i < value.size(); ++i) {
      std::string other = value;
      other[i] = static_cast<char>(other[i] ^ (1 << (i % 8)));
      WriteBatch change;
      change.put(space, key, other);
      check_found(change, back);
    }
    for (std::size_t i = 0; i < key.size(); ++i) {
      std::string other = key;
      other[i] = static_cast<char>(other[i] ^ (1 << (i % 8)));
      if (records.contains({space, other})) continue;
      WriteBatch change, undone = back;
      change.erase(space, key);
      change.put(space, other, value);
      undone.erase(space, other);
      check_found(change, undone);
    }
  }
  CHECK(changed > 1'000);
  CHECK(verify_state(*backend)->good());
}

TEST_CASE("verify: says which checkpoints are still good") {
  const auto backend = full_state();
  // Wrong what a key had before the last checkpoint: the one before it lacks it, the others say themselves what it had.
  WriteBatch change;
  put_undo(change, 4, Space::kPartial, "always", "not 3");
  REQUIRE(backend->commit(change).has_value());
  const auto verified = verify_state(*backend);
  REQUIRE(verified.has_value());
  REQUIRE(verified->checkpoints.size() == 3);
  CHECK(verified->checkpoints[0].good);
  CHECK_FALSE(verified->checkpoints[1].good);
  CHECK(verified->checkpoints[2].good);
  CHECK(verified->problems ==
        std::vector<std::string>{"checkpoint 3 cannot be gone back to: its records are not what they were"});
}

TEST_CASE("verify: a rollback that was cut off is said") {
  const auto backend = full_state();
  WriteBatch marker;
  put_number(marker, kRollbackKey, 2);
  REQUIRE(backend->commit(marker).has_value());
  const auto verified = verify_state(*backend);
  REQUIRE(verified.has_value());
  CHECK(verified->problems ==
        std::vector<std::string>{"a rollback to checkpoint 2 was cut off; the next start ends it"});
  REQUIRE(finish_rollback(*backend).has_value());
  CHECK(verify_state(*backend)->good());
  CHECK(list_checkpoints(*backend)->back().number == 2);
}

}  // namespace
}  // namespace cepd::state
