#include "adapters/dead_letter_reader.h"

#include <doctest/doctest.h>
#include <spdlog/spdlog.h>

#include <filesystem>

#include "adapters/dead_letter.h"
#include "tests/adapters/temporary_file.h"

using namespace cepd;
using namespace cepd::adapters;
using cepd::test::TemporaryFile;

namespace {

std::unique_ptr<DeadLetterFile> opened(const TemporaryFile& file, std::size_t most_bytes = 1U << 20) {
  auto made = DeadLetterFile::open(file.path(), system_clock(), most_bytes);
  REQUIRE(made.has_value());
  return std::move(*made);
}

void add(DeadLetterFile& file, std::string_view bytes, std::string_view topic = {}) {
  file.add(DropReason::kNotJson, {SourceId("bus"), 2, 17}, "why", bytes, topic);
}

/// No word of it in the test's output.
struct Silence {
  Silence() { spdlog::set_level(spdlog::level::off); }
  ~Silence() { spdlog::set_level(spdlog::level::info); }
};

}  // namespace

TEST_CASE("dead letter reader: reads what is written, byte for byte, while it is written") {
  const Silence silence;
  const TemporaryFile path("");
  const auto file = opened(path);
  DeadLetterReader reader(path.path());
  CHECK_FALSE(reader.next());
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::vector<std::string> texts{"",    "{\"a\":\"\\n\u00fc\"}\n", all, all.substr(0, 255), all.substr(0, 254),
                                       "\xff"};
  std::uint64_t number = 0;
  for (const std::string& text : texts) {
    add(*file, text, "t/x");
    file->flush();
    CHECK(file->last_number() == ++number);
    const auto letter = reader.next();
    REQUIRE(letter);
    CHECK(letter->number == number);
    CHECK(letter->bytes == text);
    CHECK(letter->whole());
    CHECK((letter->source == "bus" && letter->partition == 2 && letter->offset == 17 && letter->topic == "t/x"));
    CHECK((letter->reason == "not_json" && letter->detail == "why"));
    CHECK_FALSE(reader.next());
  }
  add(*file, std::string(kMostKept + 5, 'x'));
  file->flush();
  const auto cut = reader.next();
  REQUIRE(cut);
  CHECK((cut->bytes.size() == kMostKept && cut->truncated_from == kMostKept + 5 && !cut->whole()));
}

TEST_CASE("dead letter reader: follows the file over its bound, and numbers go on over restarts") {
  const Silence silence;
  const TemporaryFile path("");
  constexpr std::size_t kMost = 100'000;
  std::uint64_t number = 0;
  DeadLetterReader reader(path.path());
  for (int run = 0; run < 3; ++run) {
    const auto file = opened(path, kMost);
    CHECK(file->last_number() == number);
    for (int i = 0; i < 100; ++i) {
      add(*file, std::string(2'000, 'x'));
      ++number;
      file->flush();
      const auto letter = reader.next();
      REQUIRE(letter);
      CHECK(letter->number == number);
    }
    CHECK(std::filesystem::file_size(path.path()) + std::filesystem::file_size(dead_letters_before(path.path())) <
          kMost + 3'000);
  }
  // One that begins later has what is left, or what is behind a number.
  DeadLetterReader late(path.path());
  const auto first = late.next();
  REQUIRE(first);
  CHECK(first->number > 1);
  DeadLetterReader behind(path.path(), number - 1);
  CHECK(behind.next()->number == number);
  CHECK_FALSE(behind.next());
}

TEST_CASE("dead letter reader: lines that are no records are skipped, and a number that was cut off is not taken") {
  const Silence silence;
  const TemporaryFile path("junk\n{\"n\":7,\"reason\":\"schema\"}\n{\"n\":1\n");
  DeadLetterReader reader(path.path());
  const auto letter = reader.next();
  REQUIRE(letter);
  CHECK(letter->number == 7);
  CHECK(letter->bytes.empty());
  const auto file = opened(path);
  CHECK(file->last_number() == 7);
  add(*file, "x");
  file->flush();
  CHECK(reader.next()->number == 8);
  CHECK(reader.skipped_lines() == 2);
}
