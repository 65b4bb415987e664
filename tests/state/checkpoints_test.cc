#include "state/checkpoints.h"

#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "state/journal.h"
#include "state/layout.h"
#include "state/lmdb_backend.h"
#include "state/memory_backend.h"
#include "state/undo.h"
#include "state/verify.h"
#include "tests/state/checkpoints_subject.h"
#include "tests/state/state_dump.h"
#include "tests/state/temporary_directory.h"
#include "tests/state/wrapped_backend.h"

namespace cepd::state {
namespace {

void check_good(StateBackend& backend) {
  const auto verified = verify_state(backend);
  REQUIRE(verified.has_value());
  for (const std::string& problem : verified->problems) MESSAGE(problem);
  CHECK(verified->good());
}

TEST_CASE("checkpoints: one says what it holds, and a new start knows it") {
  const auto backend = memory_backend();
  CheckpointInfo first;
  {
    Subject subject(*backend);
    CHECK_FALSE(subject->last());
    subject.add(put(Space::kOutbox, "call", "12345"));
    WriteBatch changes = put(Space::kPartial, "key", "value");
    changes.put(Space::kPositions, "p", "1");
    CHECK(subject.whole(std::move(changes), 77) == 1);
    CHECK_FALSE(subject->under_way());
    first = *subject->last();
    CHECK(first.number == 1);
    CHECK(first.time == subject.clock().now());
    CHECK(first.journal_sequence == 77);
    CHECK(first.outbox_next == 1);
    CHECK(first.checkpointed.records == 2);
    CHECK(first.checkpointed.bytes == 10);
    CHECK(first.live.records == 1);
    CHECK(first.live.bytes == 9);
    CHECK(first.changes == 2);
    CHECK(first.bytes == 10);
    CHECK(first.undo_bytes > 0);
  }
  Subject subject(*backend);
  REQUIRE(subject->last());
  CHECK(encode(*subject->last()) == encode(first));
  CHECK(subject.whole(put(Space::kPositions, "p", "2")) == 2);
  check_good(*backend);
}

TEST_CASE("checkpoints: what is as it was is not written again") {
  const auto backend = memory_backend();
  Subject subject(*backend);
  const auto same = [] {
    WriteBatch changes;
    for (int i = 0; i < 10; ++i) changes.put(Space::kPartial, std::to_string(i), "v");
    changes.erase(Space::kPartial, "was never there");
    return changes;
  };
  subject.whole(same());
  CHECK(subject->last()->changes == 10);
  subject.whole(same());
  CHECK(subject->last()->changes == 0);
  CHECK(subject->last()->undo_bytes == 0);
  CHECK(subject->last()->checkpointed.records == 10);
}

TEST_CASE("checkpoints: a clear takes what is there, over several slices, and what comes after it stays") {
  const auto backend = memory_backend();
  Subject subject(*backend);
  WriteBatch many;
  for (int i = 0; i < 20; ++i) many.put(Space::kPending, std::to_string(i), "v");
  subject.whole(std::move(many));
  const Records before = checkpointed_records(*backend);
  WriteBatch changes = put(Space::kPending, "added and gone", "v");
  changes.clear(Space::kPending);
  changes.put(Space::kPending, "7", "v");
  changes.put(Space::kPending, "new", "v");
  subject.whole(std::move(changes));
  CHECK(checkpointed_records(*backend) == Records{{{Space::kPending, "7"}, "v"}, {{Space::kPending, "new"}, "v"}});
  CHECK(subject.committer().stop().has_value());
  check_good(*backend);
  REQUIRE(roll_back(*backend, 1).has_value());
  CHECK(checkpointed_records(*backend) == before);
}

TEST_CASE("checkpoints: groups become durable while one is being written") {
  const auto inner = memory_backend();
  std::uint64_t slices = 0;
  Subject* used = nullptr;
  WrappedBackend backend(*inner, [&](const WriteBatch& batch) -> Status {
    std::uint64_t entries = inner->size(Space::kJournal).value().entries;
    bool slice = false;
    for (const WriteBatch::Change& change : batch.changes()) {
      entries += change.space == Space::kJournal ? 1 : 0;
      slice = slice || change.space == Space::kPartial;
    }
    if (!slice) return {};
    // What came during the slice before is durable with this one at the latest.
    CHECK(entries == slices);
    used->committer().add(put(Space::kJournal, ordered_key(++slices), "v"));
    return {};
  });
  Subject subject(backend);
  used = &subject;
  WriteBatch changes;
  for (int i = 0; i < 30; ++i) changes.put(Space::kPartial, std::to_string(i), "v");
  subject.whole(std::move(changes));
  CHECK(slices == 10);
  CHECK(subject.committer().wait_durable(subject.committer().add({}), far()));
  CHECK(inner->size(Space::kJournal).value().entries == 10);
}

TEST_CASE("checkpoints: a slice that cannot be written does not keep the group back that it was to go with") {
  const auto inner = memory_backend();
  std::atomic<bool> full = true;
  std::atomic<int> alone = 0;
  WrappedBackend backend(*inner, [&](const WriteBatch& batch) -> Status {
    bool group = false, slice = false;
    for (const WriteBatch::Change& change : batch.changes()) {
      group = group || change.space == Space::kOutbox;
      slice = slice || change.space == Space::kPartial;
    }
    if (full && slice) return error(Errc::kNoSpace, "no room");
    if (group && !slice) ++alone;
    return {};
  });
  CommitterOptions patient = Subject::quick();
  patient.max_wait = 1h;
  Subject subject(backend, small(), patient);
  // Barrier and entry become due together, with the first slice there already.
  const std::uint64_t number = subject->begin(0, 1);
  subject->add(put(Space::kPartial, "a", "1"));
  subject->finish();
  subject.committer().hurry();
  while (!subject->failing()) std::this_thread::yield();
  const CommitTicket ticket = subject.committer().add(put(Space::kOutbox, "call", "v"));
  subject.committer().retry_now();
  subject.committer().hurry();
  REQUIRE(subject.committer().wait_durable(ticket, far()));
  CHECK(alone == 1);
  CHECK_FALSE(subject.committer().failing());
  CHECK(subject->failing());
  full = false;
  subject.committer().retry_now();
  REQUIRE(subject->wait_finished(number, far()));
  CHECK(subject.committer().stop().has_value());
  check_good(*inner);
}

TEST_CASE("checkpoints: the barrier stands where begin() was called among the groups") {
  const auto backend = memory_backend();
  CommitterOptions patient;
  patient.max_wait = 1h;
  Subject subject(*backend, small(), patient);
  // All in one group: two calls before it, one of them delivered behind it.
  subject.committer().add(put(Space::kOutbox, "a", "1"));
  subject.committer().add(put(Space::kOutbox, "b", "2"));
  const std::uint64_t number = subject->begin(0, 3);
  subject.committer().add(put(Space::kOutbox, "c", "3"));
  WriteBatch delivered;
  delivered.erase(Space::kOutbox, "a");
  subject.committer().add(std::move(delivered));
  subject.committer().hurry();
  subject->finish();
  REQUIRE(subject->wait_finished(number, far()));
  CHECK(subject->last()->live.records == 2);
  CHECK(subject.committer().stop().has_value());
  check_good(*backend);
  REQUIRE(roll_back(*backend, number).has_value());
  CHECK(live_records(*backend) == Records{{{Space::kOutbox, "a"}, "1"}, {{Space::kOutbox, "b"}, "2"}});
  check_good(*backend);
}

TEST_CASE("checkpoints: only the last so many are kept, with the undo records and the journal that they need") {
  const auto backend = memory_backend();
  Subject subject(*backend);
  WriteBatch entries;
  for (std::uint64_t sequence = 1; sequence <= 60; ++sequence) {
    entries.put(Space::kJournal, ordered_key(sequence),
                encode(JournalRecord{sequence, event_time_us(static_cast<std::int64_t>(sequence)), JournalAdvance{}}));
  }
  subject.add(std::move(entries));
  for (std::uint64_t i = 1; i <= 6; ++i) {
    WriteBatch changes;
    for (int key = 0; key < 10; ++key) changes.put(Space::kPartial, std::to_string(key), std::to_string(i));
    CHECK(subject.whole(std::move(changes), i * 10) == i);
  }
  subject.settle();
  const auto kept = list_checkpoints(*backend);
  REQUIRE(kept.has_value());
  REQUIRE(kept->size() == 3);
  CHECK(kept->front().number == 4);
  CHECK(kept->back().number == 6);
  CHECK(backend->size(Space::kUndo).value().entries == 20);
  CHECK(read_journal(*backend, 40).value().size() == 20);
  CHECK(backend->size(Space::kJournal).value().entries == 20);
  CHECK(subject.committer().stop().has_value());
  check_good(*backend);
}

TEST_CASE("checkpoints: the journal is kept longer where it is asked for, up to its bytes") {
  const auto backend = memory_backend();
  CheckpointOptions options = small();
  options.keep = 1;
  options.journal_retain = 10s;
  SUBCASE("by time") {}
  SUBCASE("by bytes") { options.journal_retain_bytes = 1; }
  Subject subject(*backend, options);
  WriteBatch entries;
  for (std::uint64_t sequence = 1; sequence <= 60; ++sequence) {
    const EventTime written = event_time_us(static_cast<std::int64_t>(sequence) * 1'000'000);
    entries.put(Space::kJournal, ordered_key(sequence), encode(JournalRecord{sequence, written, JournalAdvance{}}));
  }
  subject.add(std::move(entries));
  subject.clock().set(event_time_us(50'000'000));
  subject.whole({}, 50);
  subject.settle();
  const std::uint64_t left = options.journal_retain_bytes == 1 ? 10 : 21;  // seconds 40 to 60
  CHECK(backend->size(Space::kJournal).value().entries == left);
}

TEST_CASE("checkpoints: a slice that fails is written again, groups go on meanwhile") {
  const auto inner = memory_backend();
  std::atomic<bool> full = true;
  WrappedBackend backend(*inner, [&](const WriteBatch& batch) -> Status {
    if (full && batch.changes().back().space == Space::kPartial) return error(Errc::kNoSpace, "no room");
    return {};
  });
  Subject subject(backend);
  const std::uint64_t number = subject->begin(0, 1);
  WriteBatch changes;
  for (int i = 0; i < 10; ++i) changes.put(Space::kPartial, std::to_string(i), "v");
  subject->add(std::move(changes));
  subject->finish();
  while (!subject->failing()) std::this_thread::yield();
  CHECK(subject->failing()->message == "no room");
  subject.add(put(Space::kOutbox, "a", "1"));
  CHECK(subject->under_way());
  CHECK(checkpointed_records(*inner).empty());
  full = false;
  subject.committer().retry_now();
  REQUIRE(subject->wait_finished(number, far()));
  CHECK_FALSE(subject->failing());
  CHECK(subject->held_bytes() == 0);
  CHECK(subject.committer().stop().has_value());
  CHECK(checkpointed_records(*inner).size() == 10);
  check_good(*inner);
}

TEST_CASE("checkpoints: state that is of none is damaged") {
  const auto backend = memory_backend();
  REQUIRE(backend->commit(put(Space::kPartial, "key", "value")).has_value());
  const FixedClock clock;
  const auto opened = Checkpoints::open(*backend, {}, {}, clock);
  REQUIRE(opened.has_error());
  CHECK(opened.error().code == Errc::kCorrupt);
}

TEST_CASE("checkpoints: going back to one that is not kept changes nothing") {
  const auto backend = memory_backend();
  {
    Subject subject(*backend);
    subject.whole(put(Space::kPartial, "a", "1"));
    subject.settle();
  }
  const Records before = all_records(*backend);
  const Status back = roll_back(*backend, 2);
  REQUIRE(back.has_error());
  CHECK(back.error().code == Errc::kNotFound);
  CHECK(all_records(*backend) == before);
}

}  // namespace
}  // namespace cepd::state
