#include "state/open.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "state/layout.h"
#include "state/lmdb_backend.h"
#include "tests/state/in_child.h"
#include "tests/state/temporary_directory.h"

namespace cepd::state {
namespace {

using Opened = Result<std::unique_ptr<StateBackend>>;

Opened open(const std::string& yaml) {
  Diagnostics diagnostics;
  const config::Node node = config::parse_yaml("cepd.yaml", yaml, diagnostics);
  const config::Options options = config::read_options(&node, option_table(), {}, diagnostics);
  REQUIRE(diagnostics.empty());
  return open_backend(options);
}

Opened open_in(const std::string& directory) { return open("{directory: " + directory + ", map_size: 16MiB}"); }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Status put(StateBackend& backend, Space space, const std::string& key, const std::string& value) {
  WriteBatch batch;
  batch.put(space, key, value);
  return backend.commit(batch);
}

/// An environment that open_backend() has not seen, with one entry.
void prepare(const std::string& directory, Space space, const std::string& key, const std::string& value) {
  LmdbOptions options;
  options.directory = directory;
  auto lock = DirectoryLock::take(directory);
  REQUIRE(lock.has_value());
  auto backend = open_lmdb(options, std::move(*lock));
  REQUIRE(backend.has_value());
  REQUIRE(put(**backend, space, key, value).has_value());
}

TEST_CASE("open: without a file the options have their defaults") {
  Diagnostics diagnostics;
  const config::Options options = config::read_options(nullptr, option_table(), {}, diagnostics);
  CHECK(diagnostics.empty());
  CHECK(options.text("backend") == "lmdb");
  CHECK(options.text("directory") == "/var/lib/cepd");
  CHECK(options.duration("interval") == std::chrono::seconds(10));
  CHECK(options.integer("map_size") == 4LL << 30);
}

TEST_CASE("open: the memory backend needs and makes no directory") {
  const TemporaryDirectory directory;
  const auto backend = open("{backend: memory, directory: " + directory.file("never") + "}");
  REQUIRE(backend.has_value());
  CHECK((*backend)->name() == "memory");
  CHECK_FALSE(std::filesystem::exists(directory.file("never")));
}

TEST_CASE("open: makes the directory, writes the format version, keeps state") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a/b");
  {
    const auto backend = open_in(path);
    REQUIRE(backend.has_value());
    CHECK((*backend)->name() == "lmdb");
    CHECK((*backend)->get(Space::kMeta, kFormatVersionKey).value() == std::to_string(kFormatVersion));
    REQUIRE(put(**backend, Space::kEngine, "a", "1").has_value());
    std::string pid;
    std::getline(std::ifstream(path + "/cepd.lock"), pid);
    CHECK(pid == std::to_string(::getpid()));
  }
  CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::others_all) ==
        std::filesystem::perms::none);
  const auto again = open_in(path);
  REQUIRE(again.has_value());
  CHECK((*again)->get(Space::kEngine, "a").value() == "1");
}

TEST_CASE("open: a directory that cannot be made or written is kIo and named") {
  const TemporaryDirectory directory;
  std::ofstream(directory.file("file")) << "x";
  for (const std::string& path :
       {directory.file("file"), directory.file("file/state"), std::string("/proc/cepd"), std::string("/proc/self")}) {
    INFO("path ", path);
    const auto backend = open_in(path);
    REQUIRE(backend.has_error());
    CHECK(backend.error().code == Errc::kIo);
    CHECK(contains(backend.error().message, path));
  }
}

TEST_CASE("open: a directory in use is kBusy and its owner named, here and in another process") {
  const TemporaryDirectory directory;
  const std::string owner = "in use by process " + std::to_string(::getpid()) + ":";
  auto backend = open_in(directory.path());
  REQUIRE(backend.has_value());
  const auto second = open_in(directory.path());
  REQUIRE(second.has_error());
  CHECK(second.error().code == Errc::kBusy);
  CHECK(contains(second.error().message, owner));
  const std::string said = in_child([&directory] {
    const auto other = open_in(directory.path());
    if (other) return std::string("opened");
    return (other.error().code == Errc::kBusy ? "busy: " : "other: ") + other.error().message;
  });
  CHECK(contains(said, "busy: "));
  CHECK(contains(said, owner));
  // The refusals have not harmed the owner.
  CHECK(put(**backend, Space::kEngine, "a", "1").has_value());
  backend->reset();
  CHECK(open_in(directory.path()).has_value());
}

TEST_CASE("open: what a dead process left is no obstacle") {
  const TemporaryDirectory directory;
  const std::string said = in_child([&directory] {
    // Never destroyed: the process ends with everything open.
    auto* backend = new Opened(open_in(directory.path()));
    return std::string(*backend && put(***backend, Space::kEngine, "a", "1") ? "committed" : "failed");
  });
  CHECK(said == "committed");
  const auto backend = open_in(directory.path());
  REQUIRE(backend.has_value());
  CHECK((*backend)->get(Space::kEngine, "a").value() == "1");
  CHECK(open_in(directory.path()).error().code == Errc::kBusy);
}

TEST_CASE("open: state of another format version is kVersion, with both numbers, and stays as it was") {
  const TemporaryDirectory directory;
  const std::string other = std::to_string(kFormatVersion + 41);
  prepare(directory.path(), Space::kMeta, std::string(kFormatVersionKey), other);
  for (int i = 0; i < 2; ++i) {
    const auto backend = open_in(directory.path());
    REQUIRE(backend.has_error());
    CHECK(backend.error().code == Errc::kVersion);
    CHECK(contains(backend.error().message, "has format version " + other + ","));
    CHECK(contains(backend.error().message, "writes version " + std::to_string(kFormatVersion) + ":"));
    CHECK(contains(backend.error().message, directory.path()));
  }
}

TEST_CASE("open: state of an earlier version is refused, and stays as it is") {
  for (const char* version : {"1", "2", "3"}) {
    const TemporaryDirectory directory;
    prepare(directory.path(), Space::kMeta, std::string(kFormatVersionKey), version);
    for (int i = 0; i < 2; ++i) {
      const auto backend = open_in(directory.path());
      REQUIRE(backend.has_error());
      CHECK(backend.error().code == Errc::kVersion);
      CHECK(backend.error().message.find(std::string("format version ") + version) != std::string::npos);
    }
  }
}

TEST_CASE("open: state without a readable format version is kCorrupt") {
  const TemporaryDirectory directory;
  SUBCASE("none") { prepare(directory.path(), Space::kOutbox, "a", "1"); }
  SUBCASE("no number") { prepare(directory.path(), Space::kMeta, std::string(kFormatVersionKey), "one"); }
  SUBCASE("a number and more") { prepare(directory.path(), Space::kMeta, std::string(kFormatVersionKey), "1x"); }
  SUBCASE("empty") { prepare(directory.path(), Space::kMeta, std::string(kFormatVersionKey), ""); }
  SUBCASE("no environment") { std::ofstream(directory.file("data.mdb")) << std::string(10'000, 'g'); }
  const auto backend = open_in(directory.path());
  REQUIRE(backend.has_error());
  CHECK(backend.error().code == Errc::kCorrupt);
  CHECK(contains(backend.error().message, directory.path()));
}

TEST_CASE("open: a tool opens what is there and makes nothing") {
  const TemporaryDirectory directory;
  LmdbOptions options;
  options.directory = directory.file("state");
  const auto none = open_existing(options);
  REQUIRE(none.has_error());
  CHECK(none.error().code == Errc::kNotFound);
  CHECK_FALSE(std::filesystem::exists(options.directory));
  REQUIRE(open_in(options.directory).has_value());
  CHECK(open_existing(options).has_value());
  const auto backend = open_in(options.directory);
  REQUIRE(backend.has_value());
  const auto in_use = open_existing(options);
  REQUIRE(in_use.has_error());
  CHECK(in_use.error().code == Errc::kBusy);
}

TEST_CASE("open: a tool does not upgrade, and does not take a cut off import for state") {
  const TemporaryDirectory directory;
  LmdbOptions options;
  options.directory = directory.path();
  SUBCASE("an earlier version") {
    prepare(directory.path(), Space::kMeta, std::string(kFormatVersionKey), "2");
    CHECK(open_existing(options).error().code == Errc::kVersion);
    CHECK(open_existing(options).error().code == Errc::kVersion);
  }
  SUBCASE("no version") {
    prepare(directory.path(), Space::kPartial, "a", "1");
    CHECK(open_existing(options).error().code == Errc::kCorrupt);
  }
}

TEST_CASE("open: for an import the directory must hold nothing") {
  const TemporaryDirectory directory;
  LmdbOptions options;
  options.directory = directory.file("new");
  {
    const auto backend = open_empty(options);
    REQUIRE(backend.has_value());
    REQUIRE(put(**backend, Space::kPartial, "a", "1").has_value());
  }
  const auto backend = open_empty(options);
  REQUIRE(backend.has_error());
  CHECK(backend.error().code == Errc::kInvalidArgument);
}

TEST_CASE("open: map_size bounds the state") {
  const TemporaryDirectory directory;
  const auto backend = open("{directory: " + directory.path() + ", map_size: 2MiB}");
  REQUIRE(backend.has_value());
  CHECK(put(**backend, Space::kPartial, "a", std::string(1 << 20, 'a')).has_value());
  const Status full = put(**backend, Space::kPartial, "b", std::string(1 << 20, 'b'));
  REQUIRE(full.has_error());
  CHECK(full.error().code == Errc::kNoSpace);
}

}  // namespace
}  // namespace cepd::state
