#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>

#include "tests/actions/helpers.h"

using namespace cepd;
using namespace cepd::actions;
using namespace cepd::test;

namespace {
std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream text(read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}
}  // namespace

TEST_CASE("file: appends one JSON object a line to the configured path") {
  const TemporaryDirectory directory;
  const std::string path = directory / "matches.jsonl";
  const auto sink = open_sink("file: {path: '" + path + "'}", "file");
  auto record = make_record("file", {text_argument("note", "a\nb")});
  CHECK(sink->deliver(record).delivery == Delivery::kDone);
  record.idempotency_key += "-2";
  CHECK(sink->deliver(record).delivery == Delivery::kDone);
  const auto lines = lines_of(path);
  REQUIRE(lines.size() == 2);
  CHECK(read_file(path).back() == '\n');
  CHECK(json_at(lines[0], "/arguments") == R"({"note":"a\nb"})");
  CHECK(json_at(lines[0], "/match/kind") == R"("match")");
  CHECK(json_at(lines[0], "/idempotency_key") == "\"" + std::string(kMatch) + "\"");
  CHECK(json_at(lines[1], "/idempotency_key") == "\"" + std::string(kMatch) + "-2\"");
  CHECK(json_at(lines[1], "/id") == "\"" + std::string(kMatch) + "\"");
}

TEST_CASE("file: without a configured path the call gives it") {
  const TemporaryDirectory directory;
  const std::string path = directory / "own.jsonl";
  const auto sink = open_sink("{}", "file");
  CHECK(sink->deliver(make_record("file", {text_argument("path", path)})).delivery == Delivery::kDone);
  REQUIRE(lines_of(path).size() == 1);
  CHECK(json_at(lines_of(path)[0], "/arguments") == "{}");
  const Outcome outcome = sink->deliver(make_record("file", {}));
  CHECK(outcome.delivery == Delivery::kRejected);
  CHECK(outcome.detail == "the call gives no path, and none is configured");
}

TEST_CASE("file: a relative path is taken from the configuration file's directory") {
  const TemporaryDirectory directory;
  Diagnostics diagnostics;
  const auto node = config::parse_yaml(directory / "cepd.yaml", "file: {path: out.jsonl}", diagnostics);
  const auto file = take_action(open_actions(&node, diagnostics), "file");
  CHECK(diagnostics.empty());
  CHECK(file.sink->deliver(make_record("file", {})).delivery == Delivery::kDone);
  CHECK(lines_of(directory / "out.jsonl").size() == 1);
}

TEST_CASE("file: a line of its own that a crash cut off is removed, anybody else's stays") {
  const TemporaryDirectory directory;
  const std::string path = directory / "cut.jsonl";
  const auto record = make_record("file", {text_argument("path", path)});
  const std::string whole = R"({"id":"0","idempotency_key":"0"})";
  const std::string longest = R"({"id":")" + std::string(1 << 20, 'x');
  for (const std::string& torn : {std::string("{"), std::string(R"({"id)"), std::string(R"({"id":"0123)"), longest}) {
    for (const std::string& before : {std::string(), whole + "\n"}) {
      std::ofstream(path, std::ios::trunc) << before << torn;
      CHECK(open_sink("{}", "file")->deliver(record).delivery == Delivery::kDone);
      const auto lines = lines_of(path);
      REQUIRE(lines.size() == (before.empty() ? 1 : 2));
      CHECK(json_at(lines.back(), "/rule") == "\"cart_rescue\"");
      CHECK(read_file(path).back() == '\n');
    }
  }
  std::ofstream(path, std::ios::trunc) << "{\"half\":";
  open_sink("{}", "file")->deliver(record);
  const auto lines = lines_of(path);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "{\"half\":");
  CHECK(json_at(lines[1], "/rule") == "\"cart_rescue\"");
}

namespace {
/// Delivers calls `first` to `last` as a new process would: with a sink that knows nothing.
void deliver_anew(const std::string& path, int first, int last) {
  const auto sink = open_sink("file: {path: '" + path + "'}", "file");
  for (int i = first; i <= last; ++i) {
    auto record = make_record("file", {});
    record.idempotency_key = "k" + std::to_string(i);
    CHECK(sink->deliver(record).delivery == Delivery::kDone);
  }
}

std::vector<std::string> keys_of(const std::string& path) {
  std::vector<std::string> keys;
  for (const std::string& line : lines_of(path)) keys.push_back(json_at(line, "/idempotency_key"));
  return keys;
}

std::vector<std::string> keys(int first, int last) {
  std::vector<std::string> all;
  for (int i = first; i <= last; ++i) all.push_back("\"k" + std::to_string(i) + "\"");
  return all;
}
}  // namespace

TEST_CASE("file: calls that a crash left written but not marked come once") {
  const TemporaryDirectory directory;
  const std::string path = directory / "out.jsonl";
  deliver_anew(path, 1, 5);
  deliver_anew(path, 3, 7);  // of these 3 to 5 were written
  CHECK(keys_of(path) == keys(1, 7));
  std::ofstream(path, std::ios::app) << R"({"id":"k8","rule":"cart_re)";  // and the next one was cut off
  deliver_anew(path, 7, 9);
  CHECK(keys_of(path) == keys(1, 9));
  // After one that is new nothing is looked up any more: a key may come back, as after a rollback.
  const auto sink = open_sink("file: {path: '" + path + "'}", "file");
  auto record = make_record("file", {});
  for (const std::string key : {"k10", "k9"}) {
    record.idempotency_key = key;
    CHECK(sink->deliver(record).delivery == Delivery::kDone);
  }
  CHECK(keys_of(path).size() == 11);
}

TEST_CASE("file: read back over many lines and long ones") {
  const TemporaryDirectory directory;
  const std::string path = directory / "out.jsonl";
  std::ofstream file(path);
  for (int i = 1; i <= 3000; ++i) {
    file << R"({"id":"x","arguments":{"idempotency_key":"no","pad":")" << std::string(i % 7 == 0 ? 3000 : 10, 'x')
         << R"("},"idempotency_key":"k)" << i << "\"}\n";
  }
  file << R"({"id":"x","pad":")" << std::string(600'000, 'y') << R"(","idempotency_key":"k3001"})" << '\n';
  file.close();
  const auto before = std::filesystem::file_size(path);
  deliver_anew(path, 1, 3001);
  CHECK(std::filesystem::file_size(path) == before);
  deliver_anew(path, 3001, 3002);
  CHECK(lines_of(path).size() == 3002);
}

TEST_CASE("file: calls that were written before the file was renamed are found") {
  for (const std::string rotated : {"out.jsonl.1", "out-20260101.jsonl"}) {
    CAPTURE(rotated);
    const TemporaryDirectory directory;
    const std::string path = directory / "out.jsonl";
    deliver_anew(path, 1, 3);
    std::filesystem::rename(path, directory / rotated);
    std::ofstream(directory / "out.jsonl.2.gz") << "packed";
    deliver_anew(path, 2, 5);
    CHECK(keys_of(path) == keys(4, 5));
    CHECK(keys_of(directory / rotated) == keys(1, 3));
    // Renamed once more, before anything new was written, and while the process lives.
    const auto sink = open_sink("file: {path: '" + path + "'}", "file");
    auto record = make_record("file", {});
    record.idempotency_key = "k5";
    CHECK(sink->deliver(record).delivery == Delivery::kDone);
    std::filesystem::rename(path, directory / "out.jsonl.0");
    record.idempotency_key = "k6";
    CHECK(sink->deliver(record).delivery == Delivery::kDone);
    CHECK(keys_of(path) == keys(6, 6));
  }
}

TEST_CASE("file: what cannot be opened is tried again") {
  const TemporaryDirectory directory;
  const auto sink = open_sink("{}", "file");
  const std::string path = directory / "later/x.jsonl";
  const Outcome outcome = sink->deliver(make_record("file", {text_argument("path", path)}));
  CHECK(outcome.delivery == Delivery::kRetry);
  CHECK(outcome.detail == "cannot open " + path + ": No such file or directory");
  CHECK(sink->deliver(make_record("file", {text_argument("path", "/dev/null")})).delivery == Delivery::kRetry);
  std::filesystem::create_directory(directory / "later");
  CHECK(sink->deliver(make_record("file", {text_argument("path", path)})).delivery == Delivery::kDone);
}

TEST_CASE("file: a short write leaves no half line") {
  const TemporaryDirectory directory;
  const std::string path = directory / "full.jsonl";
  const auto sink = open_sink("{}", "file");
  auto record = make_record("file", {text_argument("path", path)});
  REQUIRE(sink->deliver(record).delivery == Delivery::kDone);
  record.idempotency_key += "-2";
  const auto size = std::filesystem::file_size(path);

  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto signal_before = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limited{size + 10, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
  const Outcome outcome = sink->deliver(record);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, signal_before);

  CHECK(outcome.delivery == Delivery::kRetry);
  CHECK(std::filesystem::file_size(path) == size);
  CHECK(sink->deliver(record).delivery == Delivery::kDone);
  CHECK(lines_of(path).size() == 2);
}
