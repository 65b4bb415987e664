// What every StateBackend does, run over each of them.
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "state/lmdb_backend.h"
#include "state/memory_backend.h"
#include "tests/state/temporary_directory.h"

namespace cepd::state {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

class Subject {
 public:
  explicit Subject(bool lmdb) : lmdb_(lmdb) { open(); }
  StateBackend& operator*() { return *backend_; }
  StateBackend* operator->() { return backend_.get(); }
  bool keeps() const { return lmdb_; }
  void reopen() {
    backend_.reset();
    open();
  }

 private:
  void open() {
    if (!lmdb_) {
      backend_ = memory_backend();
      return;
    }
    auto lock = DirectoryLock::take(directory_.path());
    REQUIRE(lock.has_value());
    LmdbOptions options;
    options.directory = directory_.path();
    auto opened = open_lmdb(options, std::move(*lock));
    REQUIRE(opened.has_value());
    backend_ = std::move(*opened);
  }

  bool lmdb_;
  TemporaryDirectory directory_;
  std::unique_ptr<StateBackend> backend_;
};

void for_each_backend(const std::function<void(Subject&)>& check) {
  for (const bool lmdb : {false, true}) {
    Subject subject(lmdb);
    INFO("backend ", std::string(subject->name()));
    check(subject);
  }
}

void put(StateBackend& backend, Space space, const std::string& key, const std::string& value) {
  WriteBatch batch;
  batch.put(space, key, value);
  REQUIRE(backend.commit(batch).has_value());
}

std::optional<std::string> get(StateBackend& backend, Space space, const std::string& key) {
  auto found = backend.get(space, key);
  REQUIRE(found.has_value());
  return *found;
}

Entries scan(StateBackend& backend, Space space, const std::string& prefix = {}) {
  Entries entries;
  const Status scanned =
      backend.scan(space, prefix, [&entries](std::string_view key, std::string_view value) -> Status {
        entries.emplace_back(key, value);
        return {};
      });
  REQUIRE(scanned.has_value());
  return entries;
}

TEST_CASE("backend: an empty one has nothing and reads without error") {
  for_each_backend([](Subject& subject) {
    for (int i = 0; i < kSpaceCount; ++i) {
      CHECK_FALSE(get(*subject, static_cast<Space>(i), "a"));
      CHECK(scan(*subject, static_cast<Space>(i)).empty());
    }
    CHECK(subject->commit({}).has_value());
  });
}

TEST_CASE("backend: put, replace, erase; spaces are apart") {
  for_each_backend([](Subject& subject) {
    put(*subject, Space::kEngine, "a", "1");
    put(*subject, Space::kOutbox, "a", "2");
    CHECK(get(*subject, Space::kEngine, "a") == "1");
    CHECK(get(*subject, Space::kOutbox, "a") == "2");
    CHECK_FALSE(get(*subject, Space::kPartial, "a"));
    put(*subject, Space::kEngine, "a", "longer than before");
    CHECK(get(*subject, Space::kEngine, "a") == "longer than before");
    put(*subject, Space::kEngine, "empty", "");
    CHECK(get(*subject, Space::kEngine, "empty") == "");

    WriteBatch batch;
    batch.erase(Space::kEngine, "a");
    batch.erase(Space::kEngine, "was never there");
    CHECK(subject->commit(batch).has_value());
    CHECK_FALSE(get(*subject, Space::kEngine, "a"));
    CHECK(get(*subject, Space::kOutbox, "a") == "2");
  });
}

TEST_CASE("backend: clear empties one space, changes after it stay") {
  for_each_backend([](Subject& subject) {
    put(*subject, Space::kPending, "a", "1");
    put(*subject, Space::kPending, "b", "2");
    put(*subject, Space::kPartial, "a", "3");
    WriteBatch batch;
    batch.put(Space::kPending, "c", "gone with the rest");
    batch.clear(Space::kPending);
    batch.put(Space::kPending, "b", "new");
    REQUIRE(subject->commit(batch).has_value());
    CHECK(scan(*subject, Space::kPending) == Entries{{"b", "new"}});
    CHECK(scan(*subject, Space::kPartial) == Entries{{"a", "3"}});
  });
}

TEST_CASE("backend: the last change of a key in a batch wins") {
  for_each_backend([](Subject& subject) {
    WriteBatch batch;
    batch.put(Space::kMeta, "a", "1");
    batch.put(Space::kMeta, "a", "2");
    batch.put(Space::kMeta, "b", "1");
    batch.erase(Space::kMeta, "b");
    batch.erase(Space::kMeta, "c");
    batch.put(Space::kMeta, "c", "3");
    REQUIRE(subject->commit(batch).has_value());
    CHECK(scan(*subject, Space::kMeta) == Entries{{"a", "2"}, {"c", "3"}});
  });
}

TEST_CASE("backend: scan goes in byte order and by prefix") {
  for_each_backend([](Subject& subject) {
    const std::string nul("a\0", 2), high = "a\xff", highest = "\xff\xff";
    WriteBatch batch;
    for (const std::string& key : {highest, std::string("b"), high, std::string("a"), nul, std::string("ab"),
                                   std::string("\x7f"), std::string("\x80"), std::string("\0", 1)})
      batch.put(Space::kPartial, key, key + "!");
    REQUIRE(subject->commit(batch).has_value());
    const auto keys = [&](const std::string& prefix) {
      std::vector<std::string> found;
      for (const auto& [key, value] : scan(*subject, Space::kPartial, prefix)) {
        CHECK(value == key + "!");
        found.push_back(key);
      }
      return found;
    };
    using Keys = std::vector<std::string>;
    CHECK(keys("") == Keys{std::string("\0", 1), "a", nul, "ab", high, "b", "\x7f", "\x80", highest});
    CHECK(keys("a") == Keys{"a", nul, "ab", high});
    CHECK(keys(high) == Keys{high});
    CHECK(keys("\xff") == Keys{highest});
    CHECK(keys("\xff\xff\xff").empty());
    CHECK(keys("aa").empty());
    CHECK(keys("abc").empty());
  });
}

TEST_CASE("backend: a scan from a key goes on into all that follow, as long as it is wanted; the last key, the size") {
  for_each_backend([](Subject& subject) {
    CHECK_FALSE(subject->last_key(Space::kJournal).value());
    CHECK(subject->size(Space::kJournal).value().entries == 0);
    for (const char* key : {"b", "a", "d"}) put(*subject, Space::kJournal, key, "xyz");
    put(*subject, Space::kUndo, "z", "other space");
    const auto from = [&](const std::string& key, std::size_t most) {
      std::string found;
      const Status scanned =
          subject->scan_from(Space::kJournal, key, [&](std::string_view at, std::string_view value) -> Result<bool> {
            CHECK(value == "xyz");
            found += at;
            return found.size() < most;
          });
      REQUIRE(scanned.has_value());
      return found;
    };
    CHECK(from("", 9) == "abd");
    CHECK(from("b", 9) == "bd");
    CHECK(from("c", 9) == "d");
    CHECK(from("a", 2) == "ab");
    CHECK(from("e", 9).empty());
    const Status refused =
        subject->scan_from(Space::kJournal, {},
                           [](std::string_view, std::string_view) -> Result<bool> { return error(Errc::kBusy, "no"); });
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == Errc::kBusy);
    CHECK(subject->last_key(Space::kJournal).value() == "d");
    CHECK(subject->size(Space::kJournal).value().entries == 3);
    CHECK(subject->size(Space::kJournal).value().bytes >= 12);
  });
}

TEST_CASE("backend: the visitor's error stops the scan and comes back") {
  for_each_backend([](Subject& subject) {
    for (const char* key : {"a", "b", "c"}) put(*subject, Space::kOutbox, key, "x");
    int visited = 0;
    const Status scanned = subject->scan(Space::kOutbox, {}, [&](std::string_view key, std::string_view) -> Status {
      ++visited;
      if (key == "b") return error(Errc::kRejected, "enough");
      return {};
    });
    REQUIRE(scanned.has_error());
    CHECK(scanned.error().code == Errc::kRejected);
    CHECK(scanned.error().message == "enough");
    CHECK(visited == 2);
    put(*subject, Space::kOutbox, "d", "still works");
    CHECK(scan(*subject, Space::kOutbox).size() == 4);
  });
}

TEST_CASE("backend: longest keys and big values") {
  for_each_backend([](Subject& subject) {
    std::string longest(kLongestKey, '\xfe');
    put(*subject, Space::kPartial, longest, "end");
    CHECK(get(*subject, Space::kPartial, longest) == "end");
    const std::string with_prefix = std::string(kUndoPrefix, '\0') + longest;
    put(*subject, Space::kUndo, with_prefix, "before");
    CHECK(get(*subject, Space::kUndo, with_prefix) == "before");
    // Larger than the map begins with.
    std::string big(std::size_t{40} << 20, 'x');
    big[12'345'678] = 'y';
    put(*subject, Space::kPartial, "big", big);
    CHECK((get(*subject, Space::kPartial, "big") == big));
    put(*subject, Space::kPartial, "big", "small");
    CHECK(get(*subject, Space::kPartial, "big") == "small");
  });
}

TEST_CASE("backend: reopened, LMDB has everything and memory has nothing") {
  for_each_backend([](Subject& subject) {
    put(*subject, Space::kPositions, "a", "1");
    put(*subject, Space::kPositions, std::string("\0\xff", 2), "2");
    subject.reopen();
    const Entries kept{{std::string("\0\xff", 2), "2"}, {"a", "1"}};
    CHECK(scan(*subject, Space::kPositions) == (subject.keeps() ? kept : Entries{}));
  });
}

TEST_CASE("backend: random batches end like a map") {
  for_each_backend([](Subject& subject) {
    const unsigned seed = 20260105;
    INFO("seed ", seed);
    std::mt19937 random(seed);
    std::map<std::string, std::string> expected;
    for (int round = 0; round < 60; ++round) {
      WriteBatch batch;
      for (int i = 0; i < 50; ++i) {
        std::string key(1 + random() % 3, static_cast<char>(random() % 256));
        if (random() % 4 == 0) {
          expected.erase(key);
          batch.erase(Space::kPartial, std::move(key));
        } else {
          std::string value(random() % 3000, static_cast<char>(random() % 256));
          expected[key] = value;
          batch.put(Space::kPartial, std::move(key), std::move(value));
        }
      }
      if (round % 25 == 24) {
        expected.clear();
        batch.clear(Space::kPartial);
      }
      REQUIRE(subject->commit(batch).has_value());
      if (round % 20 == 19 && subject.keeps()) subject.reopen();
    }
    CHECK((scan(*subject, Space::kPartial) == Entries(expected.begin(), expected.end())));
  });
}

}  // namespace
}  // namespace cepd::state
