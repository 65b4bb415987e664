#include "state/transfer.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "state/layout.h"
#include "state/memory_backend.h"
#include "tests/state/state_dump.h"
#include "tests/state/temporary_directory.h"
#include "tests/state/wrapped_backend.h"

namespace cepd::state {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

/// Something in every space, with any bytes; `large` of a size of more than one step.
std::unique_ptr<StateBackend> filled(bool large) {
  auto backend = memory_backend();
  WriteBatch batch;
  for (int i = 0; i < kSpaceCount; ++i) {
    const auto space = static_cast<Space>(i);
    batch.put(space, std::string("\0key", 4), std::string(space_name(space)) + std::string("\0\xff", 2));
    batch.put(space, std::string(kLongestKey, 'k'), "");
    if (large) batch.put(space, "large", std::string(kMiB + 5, static_cast<char>(i)));
  }
  batch.put(Space::kMeta, std::string(kFormatVersionKey), std::to_string(kFormatVersion));
  REQUIRE(backend->commit(batch).has_value());
  return backend;
}

TEST_CASE("transfer: what was exported is imported, to the byte, with the format version last") {
  const TemporaryDirectory directory;
  const auto from = filled(true);
  const auto exported = export_state(*from, directory.file("state"));
  REQUIRE(exported.has_value());
  CHECK(exported->records == 3 * kSpaceCount);
  CHECK(exported->bytes > kSpaceCount * kMiB);
  const auto to = memory_backend();
  std::size_t commits = 0;
  WrappedBackend watched(*to, [&](const WriteBatch& batch) -> Status {
    ++commits;
    CHECK(batch.bytes() < 4 * kMiB);
    CHECK_FALSE(to->get(Space::kMeta, kFormatVersionKey).value());
    return {};
  });
  const auto imported = import_state(watched, directory.file("state"));
  REQUIRE(imported.has_value());
  CHECK(imported->records == exported->records);
  CHECK(imported->bytes == exported->bytes);
  CHECK(commits > 5);
  CHECK((all_records(*to) == all_records(*from)));
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 1);
}

TEST_CASE("transfer: a file with any changed, lacking or further byte is refused, and nothing is written") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("state");
  REQUIRE(export_state(*filled(false), path).has_value());
  const std::string bytes = read(path);
  const auto check_refused = [&](const std::string& damaged) {
    write(path, damaged);
    const auto backend = memory_backend();
    const auto imported = import_state(*backend, path);
    REQUIRE(imported.has_error());
    CHECK((imported.error().code == Errc::kCorrupt || imported.error().code == Errc::kVersion));
    CHECK(imported.error().message.starts_with(path));
    CHECK(all_records(*backend).empty());
  };
  for (std::size_t i = 0; i < bytes.size(); i += i < 600 ? 1 : 37) {
    INFO("byte ", i);
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    check_refused(damaged);
    check_refused(bytes.substr(0, i));
  }
  check_refused(bytes + "x");
  write(path, bytes);
  CHECK(import_state(*memory_backend(), path).has_value());
}

TEST_CASE("transfer: nothing is written over, and what fails leaves no file") {
  const TemporaryDirectory directory;
  const auto backend = filled(false);
  write(directory.file("there"), "mine");
  const auto exported = export_state(*backend, directory.file("there"));
  REQUIRE(exported.has_error());
  CHECK(exported.error().code == Errc::kInvalidArgument);
  CHECK(read(directory.file("there")) == "mine");
  CHECK(export_state(*backend, directory.file("no/such/directory")).error().code == Errc::kIo);
  CHECK(import_state(*backend, directory.file("missing")).error().code == Errc::kNotFound);
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 1);
}

}  // namespace
}  // namespace cepd::state
