#include "adapters/dead_letter.h"

#include <doctest/doctest.h>
#include <simdjson.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <sstream>

#include "base/time.h"
#include "tests/adapters/temporary_file.h"

using cepd::DropReason;
using cepd::SourceId;
using cepd::SourcePosition;
using cepd::adapters::DeadLetterFile;
using cepd::test::TemporaryFile;
using namespace std::chrono_literals;

namespace {

class FakeClock final : public cepd::Clock {
 public:
  cepd::EventTime now() const override { return *cepd::parse_rfc3339("2026-01-05T22:00:00.25Z"); }
  std::chrono::steady_clock::time_point steady() const override { return steady_; }
  void advance(std::chrono::milliseconds by) { steady_ += by; }

 private:
  std::chrono::steady_clock::time_point steady_{};
};

/// Takes what is logged while it lives.
class LogCapture {
 public:
  LogCapture() : before_(spdlog::default_logger()) {
    auto logger = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_));
    logger->set_pattern("%v");
    spdlog::set_default_logger(std::move(logger));
  }
  ~LogCapture() { spdlog::set_default_logger(before_); }
  std::string text() const { return text_.str(); }

 private:
  std::shared_ptr<spdlog::logger> before_;
  std::ostringstream text_;
};

std::unique_ptr<DeadLetterFile> opened(const std::string& path, const cepd::Clock& clock) {
  auto file = DeadLetterFile::open(path, clock);
  REQUIRE(file.has_value());
  return std::move(*file);
}

const SourcePosition kPosition{SourceId("sh\"op"), 2, 17};

}  // namespace

TEST_CASE("dead letter: a record says where, why, when and what") {
  const LogCapture log;
  const FakeClock clock;
  const TemporaryFile path("earlier\n");
  const auto file = opened(path.path(), clock);
  file->add(DropReason::kSchema, kPosition, "field price: expected double, got string", "{\"a\":\n\"\u00fc\"}");
  CHECK(path.text() == "earlier\n");
  file->flush();
  CHECK(path.text() ==
        "earlier\n"
        R"({"n":1,"time":"2026-01-05T22:00:00.250Z","source":"sh\"op","partition":2,"offset":17,"reason":"schema",)"
        R"("detail":"field price: expected double, got string","text":"{\"a\":\n\")"
        "\u00fc"
        R"(\"}"})"
        "\n");
}

TEST_CASE("dead letter: bytes that are no UTF-8 are kept as base64") {
  const LogCapture log;
  const FakeClock clock;
  const TemporaryFile path("");
  const auto file = opened(path.path(), clock);
  for (const std::string bytes : {"\xff", "\xff\xfe", "\xff\xfe\xfd", "\xff\xfe\xfd\xfc"}) {
    file->add(DropReason::kInvalidUtf8, kPosition, "", bytes);
  }
  file->flush();
  for (const char* text :
       {"\"base64\":\"/w==\"}", "\"base64\":\"//4=\"}", "\"base64\":\"//79\"}", "\"base64\":\"//79/A==\"}"}) {
    CHECK(path.text().find(text) != std::string::npos);
  }
}

TEST_CASE("dead letter: long texts are cut between characters") {
  const LogCapture log;
  const FakeClock clock;
  simdjson::dom::parser parser;
  for (const std::size_t shift : {0, 1, 2, 3}) {
    const TemporaryFile path("");
    const auto file = opened(path.path(), clock);
    std::string bytes(shift, 'x');
    for (int i = 0; i < 500'000; ++i) bytes += "\u20ac";
    file->add(DropReason::kNotJson, kPosition, "", bytes);
    file->flush();
    simdjson::dom::element record;
    REQUIRE(parser.parse(path.text()).get(record) == simdjson::SUCCESS);
    std::string_view text;
    REQUIRE(record["text"].get(text) == simdjson::SUCCESS);
    CHECK(text.size() <= cepd::adapters::kMostKept);
    CHECK(text.size() > cepd::adapters::kMostKept - 3);
    CHECK(bytes.starts_with(text));
    CHECK(std::uint64_t(record["truncated_from"]) == bytes.size());
  }
}

TEST_CASE("dead letter: counts each reason, also without a file") {
  const LogCapture log;
  const FakeClock clock;
  const auto file = opened("", clock);
  CHECK(file->total() == 0);
  file->add(DropReason::kLate, kPosition, "", "");
  file->add(DropReason::kLate, kPosition, "", "");
  file->add(DropReason::kFuture, kPosition, "", "");
  file->flush();
  CHECK(file->count(DropReason::kLate) == 2);
  CHECK(file->count(DropReason::kFuture) == 1);
  CHECK(file->count(DropReason::kSchema) == 0);
  CHECK(file->total() == 3);
}

TEST_CASE("dead letter: one log line a second for each reason says how many it stands for") {
  FakeClock clock;
  const LogCapture log;
  auto file = opened("", clock);
  for (int i = 0; i < 5; ++i) file->add(DropReason::kNoType, kPosition, "detail " + std::to_string(i), "");
  file->add(DropReason::kNoTime, kPosition, "other", "");
  CHECK(log.text() ==
        "dropped 1 event: no_type: sh\"op at 17: detail 0\n"
        "dropped 1 event: no_time: sh\"op at 17: other\n");
  clock.advance(999ms);
  file->flush();
  CHECK(log.text().find("detail 4") == std::string::npos);
  clock.advance(1ms);
  file->flush();
  CHECK(log.text().ends_with("dropped 4 events: no_type: sh\"op at 17: detail 4\n"));
  file->flush();
  clock.advance(1s);
  file->flush();
  CHECK(log.text().ends_with("dropped 4 events: no_type: sh\"op at 17: detail 4\n"));
  file->add(DropReason::kNoType, kPosition, "again", "");
  file->add(DropReason::kNoType, kPosition, "last", "");
  file.reset();
  CHECK(log.text().ends_with("again\ndropped 1 event: no_type: sh\"op at 17: last\n"));
}

TEST_CASE("dead letter: many records are written without a flush, the rest at the end") {
  const LogCapture log;
  const FakeClock clock;
  const TemporaryFile path("");
  {
    const auto file = opened(path.path(), clock);
    for (int i = 0; i < 1000; ++i) file->add(DropReason::kNotJson, kPosition, "", std::string(100, 'x'));
    CHECK(path.text().size() >= 65536);
  }
  const std::string text = path.text();
  CHECK(std::count(text.begin(), text.end(), '\n') == 1000);
}

TEST_CASE("dead letter: a record that a full disk cut off does not run into the next one") {
  const LogCapture log;
  const FakeClock clock;
  const TemporaryFile path("{\"time\":\"2026-01");
  opened(path.path(), clock)->add(DropReason::kNotJson, kPosition, "", "next");
  const std::string text = path.text();
  CHECK(text.starts_with("{\"time\":\"2026-01\n{\"n\":1,\"time\":\""));
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
}

TEST_CASE("dead letter: what could not be written by the end is said") {
  FakeClock clock;
  const LogCapture log;
  {
    const auto file = opened("/dev/full", clock);
    for (int i = 0; i < 3; ++i) file->add(DropReason::kNotJson, kPosition, "", "x");
  }
  CHECK(log.text().find("3 dead letters could not be written to /dev/full and are lost") != std::string::npos);
}

TEST_CASE("dead letter: a file that cannot be opened is an error, one that cannot be written is logged") {
  FakeClock clock;
  const LogCapture log;
  CHECK_FALSE(DeadLetterFile::open("/nowhere/at/all", clock).has_value());
  // /dev/full takes nothing, as a full disk does.
  const auto file = opened("/dev/full", clock);
  for (int i = 0; i < 200; ++i) file->add(DropReason::kNotJson, kPosition, "", std::string(60'000, 'x'));
  file->flush();
  CHECK(log.text().find("/dev/full: No space left on device") != std::string::npos);
  CHECK(file->total() == 200);
}
