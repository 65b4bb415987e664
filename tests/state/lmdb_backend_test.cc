// What only the LMDB backend does: growth of its map, full disks, damaged files.
#include "state/lmdb_backend.h"

#include <doctest/doctest.h>
#include <lmdb.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "tests/state/in_child.h"
#include "tests/state/temporary_directory.h"

namespace cepd::state {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

Result<std::unique_ptr<StateBackend>> try_open(const std::string& directory, std::size_t first = kMiB,
                                               std::size_t largest = 16 * kMiB) {
  auto lock = DirectoryLock::take(directory);
  REQUIRE(lock.has_value());
  return open_lmdb({directory, first, largest}, std::move(*lock));
}

std::unique_ptr<StateBackend> open(const std::string& directory, std::size_t first = kMiB,
                                   std::size_t largest = 16 * kMiB) {
  auto opened = try_open(directory, first, largest);
  REQUIRE(opened.has_value());
  return std::move(*opened);
}

Status put(StateBackend& backend, const std::string& key, const std::string& value) {
  WriteBatch batch;
  batch.put(Space::kPartial, key, value);
  return backend.commit(batch);
}

std::size_t count(StateBackend& backend) {
  std::size_t found = 0;
  const Status scanned = backend.scan(Space::kPartial, {}, [&found](std::string_view, std::string_view) -> Status {
    ++found;
    return {};
  });
  REQUIRE(scanned.has_value());
  return found;
}

TEST_CASE("lmdb: the map grows with the state, also within one batch") {
  const TemporaryDirectory directory;
  auto backend = open(directory.path());
  WriteBatch batch;
  for (int i = 0; i < 40; ++i) batch.put(Space::kPartial, "many" + std::to_string(i), std::string(kMiB / 8, 'm'));
  REQUIRE(backend->commit(batch).has_value());
  for (int i = 0; i < 40; ++i)
    REQUIRE(put(*backend, "one" + std::to_string(i), std::string(kMiB / 8, 'o')).has_value());
  CHECK(count(*backend) == 80);
  CHECK(std::filesystem::file_size(directory.file("data.mdb")) > 10 * kMiB);
}

TEST_CASE("lmdb: a full map fails the whole batch with kNoSpace, and room made lets it work again") {
  const TemporaryDirectory directory;
  auto backend = open(directory.path(), kMiB, 4 * kMiB);
  REQUIRE(put(*backend, "a", std::string(kMiB, 'a')).has_value());
  WriteBatch batch;
  batch.put(Space::kPartial, "b", "small");
  batch.erase(Space::kPartial, "a");
  for (int i = 0; i < 8; ++i) batch.put(Space::kPartial, "c" + std::to_string(i), std::string(kMiB, 'c'));
  const Status full = backend->commit(batch);
  REQUIRE(full.has_error());
  CHECK(full.error().code == Errc::kNoSpace);
  CHECK(full.error().message.find("full at 4 MiB: raise state.map_size and start cepd again") != std::string::npos);
  CHECK(count(*backend) == 1);
  CHECK(backend->get(Space::kPartial, "a").value()->size() == kMiB);

  WriteBatch clear;
  clear.clear(Space::kPartial);
  REQUIRE(backend->commit(clear).has_value());
  CHECK(put(*backend, "d", std::string(kMiB, 'd')).has_value());
}

TEST_CASE("lmdb: state larger than a lowered largest size still opens and shrinks") {
  const TemporaryDirectory directory;
  {
    auto backend = open(directory.path());
    for (int i = 0; i < 6; ++i) REQUIRE(put(*backend, "k" + std::to_string(i), std::string(kMiB, 'k')).has_value());
  }
  auto backend = open(directory.path(), kMiB, 2 * kMiB);
  CHECK(count(*backend) == 6);
  WriteBatch batch;
  batch.clear(Space::kPartial);
  CHECK(backend->commit(batch).has_value());
}

TEST_CASE("lmdb: when the file may not grow the batch fails with kNoSpace and what was there is kept") {
  const TemporaryDirectory directory;
  const std::string said = in_child([&directory] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{2 * kMiB, 2 * kMiB};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto backend = open(directory.path());
    if (!put(*backend, "kept", std::string(kMiB / 2, 'k'))) return std::string("first put failed");
    const Status full = put(*backend, "big", std::string(4 * kMiB, 'b'));
    if (full) return std::string("no error");
    if (full.error().code != Errc::kNoSpace) return full.error().message;
    if (!put(*backend, "small", "s")) return std::string("small put failed");
    return std::to_string(count(*backend));
  });
  CHECK(said == "2");
  CHECK(count(*open(directory.path())) == 2);
}

TEST_CASE("lmdb: on a full disk a batch fails with kNoSpace, and what was there is kept") {
  const TemporaryDirectory directory;
  const std::string said = in_child([&directory] {
    // A disk of 3 MiB, seen by the child alone.
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=3m") != 0)
      return std::string("no mount");
    auto backend = open(directory.path());
    if (!put(*backend, "kept", std::string(kMiB / 2, 'k'))) return std::string("first put failed");
    WriteBatch batch;
    for (int i = 0; i < 4'000; ++i) batch.put(Space::kPartial, std::to_string(i), std::string(1'000, 'b'));
    for (int i = 0; i < 2; ++i) {
      const Status full = backend->commit(batch);
      if (full) return std::string("no error");
      if (full.error().code != Errc::kNoSpace) return full.error().message;
    }
    if (!put(*backend, "small", "s")) return std::string("small put failed");
    return std::to_string(count(*backend));
  });
  if (said == "no mount") {
    MESSAGE("not run: this user may not mount");
    return;
  }
  CHECK(said == "2");
}

// Sanitizers reserve terabytes of addresses and cannot live under the limit.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("lmdb: when addresses run out the old map comes back") {
  const TemporaryDirectory directory;
  const std::string said = in_child([&directory] {
    std::size_t pages = 0;  // that earlier tests have reserved
    std::ifstream("/proc/self/statm") >> pages;
    const std::size_t addresses = pages * static_cast<std::size_t>(::getpagesize()) + 480 * kMiB;
    const rlimit limit{addresses, addresses};
    ::setrlimit(RLIMIT_AS, &limit);
    auto backend = open(directory.path(), kMiB, 16384 * kMiB);
    if (!put(*backend, "kept", "k")) return std::string("first put failed");
    // Twice its size does not fit under the limit.
    const Status full = put(*backend, "big", std::string(150 * kMiB, 'b'));
    if (full) return std::string("no error");
    if (full.error().code != Errc::kNoSpace) return full.error().message;
    if (!put(*backend, "small", "s")) return std::string("small put failed");
    return std::to_string(count(*backend));
  });
  CHECK(said == "2");
}
#endif

TEST_CASE("lmdb: a process that dies keeps what it committed and leaves no lock") {
  const TemporaryDirectory directory;
  const std::string said = in_child([&directory] {
    static std::unique_ptr<StateBackend> backend = open(directory.path());
    return std::string(put(*backend, "a", "1") ? "committed" : "failed");
  });
  CHECK(said == "committed");
  CHECK(open(directory.path())->get(Space::kPartial, "a").value() == "1");
}

TEST_CASE("lmdb: files that are no environment are kCorrupt") {
  for (const std::size_t size : {1UL, 100UL, 4096UL, 8192UL, 100'000UL}) {
    const TemporaryDirectory directory;
    std::string garbage(size, 'g');
    for (std::size_t i = 0; i < size; ++i) garbage[i] = static_cast<char>(i * 7 + i / 251);
    std::ofstream(directory.file("data.mdb"), std::ios::binary) << garbage;
    INFO("size ", size);
    const auto opened = try_open(directory.path());
    REQUIRE(opened.has_error());
    CHECK(opened.error().code == Errc::kCorrupt);
    CHECK(opened.error().message.find(directory.file("data.mdb")) != std::string::npos);
  }
}

TEST_CASE("lmdb: a file cut off is kCorrupt") {
  const TemporaryDirectory directory;
  for (int i = 0; i < 20; ++i)
    REQUIRE(put(*open(directory.path()), "k" + std::to_string(i), std::string(10'000, 'k')).has_value());
  for (const std::size_t size : {100'000UL, 8192UL, 5000UL, 100UL}) {
    INFO("size ", size);
    std::filesystem::resize_file(directory.file("data.mdb"), size);
    const auto opened = try_open(directory.path());
    REQUIRE(opened.has_error());
    CHECK(opened.error().code == Errc::kCorrupt);
  }
}

TEST_CASE("lmdb: a commit that was torn before its last page was written leaves the state before it") {
  const TemporaryDirectory directory;
  const auto bytes = [&directory] {
    std::ifstream file(directory.file("data.mdb"), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  for (int i = 0; i < 3; ++i) REQUIRE(put(*open(directory.path()), "a", std::to_string(i)).has_value());
  const std::string before = bytes();
  REQUIRE(put(*open(directory.path()), "b", std::string(20'000, 'b')).has_value());
  std::string after = bytes();
  REQUIRE(before.size() == after.size());
  // A commit syncs its data pages and only then writes one of the first two, which makes it one. Of the data pages
  // some are there, some in part, one is torn.
  const std::size_t page = 4096;
  std::size_t written = 0;
  for (std::size_t at = 2 * page; at < after.size(); at += page) {
    if (after.compare(at, page, before, at, page) == 0) continue;
    if (++written % 3 == 0) after.replace(at, page, before, at, page);
    if (written % 3 == 1) after.replace(at + page / 2, page / 2, std::string(page / 2, '\xee'));
  }
  CHECK(written > 5);
  after.replace(0, 2 * page, before, 0, 2 * page);
  std::ofstream(directory.file("data.mdb"), std::ios::binary) << after;
  auto backend = open(directory.path());
  CHECK(backend->get(Space::kPartial, "a").value() == "2");
  CHECK(count(*backend) == 1);
  REQUIRE(put(*backend, "b", std::string(20'000, 'c')).has_value());
  CHECK(backend->get(Space::kPartial, "b").value() == std::string(20'000, 'c'));
}

TEST_CASE("lmdb: a file that was removed under it takes and gives nothing any more") {
  const TemporaryDirectory directory;
  auto backend = open(directory.path());
  REQUIRE(put(*backend, "a", "1").has_value());
  SUBCASE("the file") { std::filesystem::remove(directory.file("data.mdb")); }
  SUBCASE("the whole directory") { std::filesystem::remove_all(directory.path()); }
  const Status failed = put(*backend, "b", "2");
  REQUIRE(failed.has_error());
  CHECK(failed.error().code == Errc::kIo);
  CHECK(failed.error().message == directory.path() + "/data.mdb was removed while cepd runs; restart cepd");
  CHECK(backend->get(Space::kPartial, "a").has_error());
}

TEST_CASE("lmdb: another program's environment is kCorrupt and stays as it was") {
  const TemporaryDirectory directory;
  const auto with_environment = [&directory](auto body) {
    MDB_env* environment = nullptr;
    REQUIRE(mdb_env_create(&environment) == 0);
    REQUIRE(mdb_env_open(environment, directory.path().c_str(), 0, 0600) == 0);
    MDB_txn* transaction = nullptr;
    MDB_dbi database = 0;
    REQUIRE(mdb_txn_begin(environment, nullptr, 0, &transaction) == 0);
    REQUIRE(mdb_dbi_open(transaction, nullptr, 0, &database) == 0);
    body(transaction, database);
    REQUIRE(mdb_txn_commit(transaction) == 0);
    mdb_env_close(environment);
  };
  std::string name = "meta", bytes = "mine";
  SUBCASE("other names") { name = "other"; }
  SUBCASE("a plain value under the name of a space") {}
  with_environment([&](MDB_txn* transaction, MDB_dbi database) {
    MDB_val key{name.size(), name.data()}, value{bytes.size(), bytes.data()};
    REQUIRE(mdb_put(transaction, database, &key, &value, 0) == 0);
  });
  const auto opened = try_open(directory.path());
  REQUIRE(opened.has_error());
  CHECK(opened.error().code == Errc::kCorrupt);
  with_environment([&](MDB_txn* transaction, MDB_dbi database) {
    MDB_stat statistics{};
    REQUIRE(mdb_stat(transaction, database, &statistics) == 0);
    CHECK(statistics.ms_entries == 1);
  });
}

}  // namespace
}  // namespace cepd::state
