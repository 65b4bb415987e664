#include "state/journal.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "state/layout.h"
#include "state/memory_backend.h"

namespace cepd::state {
namespace {

constexpr EventTime kNow = event_time_us(1'700'000'000'000'000);
const SourceId kFile("file"), kQueue("queue");

std::vector<JournalEntry> one_of_each() {
  return {
      JournalMessage{{kQueue, 3, 77}, "shop/1/sales", true, false, std::string("{\"a\":1}\0\xff", 9)},
      JournalMessage{{kQueue, 0, std::numeric_limits<std::int64_t>::max()}, "", false, true, ""},
      JournalTook{kFile, -1, 123'456'789'012},
      JournalFuture{{kFile, 2, 9}},
      JournalIdle{kFile, std::numeric_limits<std::int32_t>::max()},
      JournalOrigin{kFile, "100 7 20 99"},
      JournalBegins{kFile, 3, std::numeric_limits<std::int64_t>::max()},
      JournalAdvance{kNow},
      JournalReload{{{"a.rules", "RULE a"}, {"empty.rules", ""}}},
      JournalReload{},
  };
}

void commit(StateBackend& backend, Journal& journal) {
  WriteBatch batch;
  journal.drain(batch);
  REQUIRE(backend.commit(batch).has_value());
}

Journal open(StateBackend& backend, std::uint64_t at_least = 0) {
  auto journal = Journal::open(backend, at_least);
  REQUIRE(journal.has_value());
  return std::move(*journal);
}

std::vector<JournalEntry> entries(StateBackend& backend, std::uint64_t behind = 0) {
  auto records = read_journal(backend, behind);
  REQUIRE(records.has_value());
  std::vector<JournalEntry> found;
  for (const JournalRecord& record : *records) {
    CHECK(record.sequence == ++behind);
    CHECK(record.written == kNow);
    found.push_back(record.entry);
  }
  return found;
}

/// Journal with `count` advances, the nth of second n, written at second n.
std::unique_ptr<StateBackend> with_advances(int count) {
  auto backend = memory_backend();
  Journal journal = open(*backend);
  for (int i = 1; i <= count; ++i) {
    const EventTime second = event_time_us(std::int64_t{i} * 1'000'000);
    journal.append(JournalAdvance{second}, second);
  }
  commit(*backend, journal);
  return backend;
}

TEST_CASE("journal: each kind of entry reads back, in order, also after opening it again") {
  const auto backend = memory_backend();
  std::vector<JournalEntry> all = one_of_each();
  {
    Journal journal = open(*backend);
    CHECK(journal.last() == 0);
    std::uint64_t sequence = 0;
    for (const JournalEntry& entry : all) CHECK(journal.append(entry, kNow) == ++sequence);
    CHECK(backend->size(Space::kJournal).value().entries == 0);
    CHECK(journal.pending_bytes() > 0);
    commit(*backend, journal);
    CHECK(journal.pending_bytes() == 0);
  }
  CHECK(entries(*backend) == all);
  Journal journal = open(*backend);
  CHECK(journal.append(JournalAdvance{kNow}, kNow) == all.size() + 1);
  commit(*backend, journal);
  all.push_back(JournalAdvance{kNow});
  CHECK(entries(*backend) == all);
  CHECK(entries(*backend, all.size() - 1) == std::vector<JournalEntry>{JournalAdvance{kNow}});
  CHECK(entries(*backend, all.size()).empty());
}

TEST_CASE("journal: adjacent runs of one partition become one entry, until they are drained") {
  const auto backend = memory_backend();
  Journal journal = open(*backend);
  CHECK(journal.append(JournalTook{kFile, 0, 1}, kNow) == 1);
  CHECK(journal.append(JournalTook{kFile, 0, 5}, kNow) == 1);
  CHECK(journal.append(JournalTook{kFile, 1, 5}, kNow) == 2);   // another partition
  CHECK(journal.append(JournalTook{kQueue, 1, 5}, kNow) == 3);  // another source
  CHECK(journal.append(JournalFuture{{kQueue, 1, 6}}, kNow) == 4);
  CHECK(journal.append(JournalTook{kQueue, 1, 7}, kNow) == 5);
  commit(*backend, journal);
  CHECK(journal.append(JournalTook{kQueue, 1, 8}, kNow) == 6);
  commit(*backend, journal);
  CHECK(entries(*backend) == std::vector<JournalEntry>{JournalTook{kFile, 0, 5}, JournalTook{kFile, 1, 5},
                                                       JournalTook{kQueue, 1, 5}, JournalFuture{{kQueue, 1, 6}},
                                                       JournalTook{kQueue, 1, 7}, JournalTook{kQueue, 1, 8}});
}

TEST_CASE("journal: reading goes on where a bounded read ended") {
  const auto backend = with_advances(100);
  std::uint64_t behind = 0;
  int reads = 0;
  while (true) {
    const auto records = read_journal(*backend, behind, 200);
    REQUIRE(records.has_value());
    if (records->empty()) break;
    CHECK(records->front().sequence == behind + 1);
    behind = records->back().sequence;
    ++reads;
  }
  CHECK(behind == 100);
  CHECK(reads > 5);
  CHECK(read_journal(*backend, 0, 0).value().size() == 1);
}

TEST_CASE("journal: opened behind what a checkpoint has taken in, it never gives a number twice") {
  const auto backend = with_advances(5);
  CHECK(open(*backend, 3).last() == 5);
  WriteBatch batch;
  CHECK_FALSE(trim_journal(*backend, batch, 5, EventTime::max(), 100).value());
  REQUIRE(backend->commit(batch).has_value());
  CHECK(backend->size(Space::kJournal).value().entries == 0);
  CHECK(open(*backend, 5).last() == 5);
}

TEST_CASE("journal: trimming stops at what is needed, at what is young, and after so many") {
  const auto backend = with_advances(10);
  const auto trim = [&](std::uint64_t through, int older_than_second, std::size_t most) {
    WriteBatch batch;
    const bool more =
        trim_journal(*backend, batch, through, event_time_us(std::int64_t{older_than_second} * 1'000'000), most)
            .value();
    REQUIRE(backend->commit(batch).has_value());
    return more;
  };
  const auto first = [&] {
    std::string key;
    const Status found =
        backend->scan_from(Space::kJournal, {}, [&key](std::string_view at, std::string_view) -> Result<bool> {
          key = at;
          return false;
        });
    REQUIRE(found.has_value());
    return read_ordered(key);
  };
  CHECK_FALSE(trim(0, 100, 100));
  CHECK(first() == 1);
  CHECK(trim(6, 100, 2));
  CHECK(first() == 3);
  CHECK_FALSE(trim(6, 5, 100));
  CHECK(first() == 5);
  CHECK_FALSE(trim(6, 100, 2));
  CHECK(first() == 7);
}

TEST_CASE("journal: any changed byte of an entry, its number too, is found") {
  for (const JournalEntry& entry : one_of_each()) {
    const std::string key = ordered_key(300);
    const std::string value = encode({300, kNow, entry});
    REQUIRE(decode_journal(key, value).has_value());
    for (std::size_t i = 0; i < value.size(); ++i) {
      std::string changed = value;
      changed[i] = static_cast<char>(changed[i] ^ 0x10);
      const auto decoded = decode_journal(key, changed);
      REQUIRE(decoded.has_error());
      CHECK(decoded.error().code == Errc::kCorrupt);
      CHECK(decode_journal(key, value.substr(0, i)).has_error());
    }
    for (std::size_t i = 0; i < key.size(); ++i) {
      std::string changed = key;
      changed[i] = static_cast<char>(changed[i] ^ 0x10);
      CHECK(decode_journal(changed, value).has_error());
    }
    CHECK(decode_journal(key, value + "x").has_error());
    CHECK(decode_journal("short", value).has_error());
  }
}

TEST_CASE("journal: a gap is corruption and no end") {
  const auto backend = with_advances(5);
  WriteBatch batch;
  batch.erase(Space::kJournal, ordered_key(3));
  batch.erase(Space::kJournal, ordered_key(4));
  REQUIRE(backend->commit(batch).has_value());
  const auto records = read_journal(*backend, 0);
  REQUIRE(records.has_error());
  CHECK(records.error().code == Errc::kCorrupt);
  CHECK(records.error().message == "the stored journal lacks the entries 3 to 4");
  CHECK(read_journal(*backend, 4).value().size() == 1);
}

}  // namespace
}  // namespace cepd::state
