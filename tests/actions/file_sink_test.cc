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

TEST_CASE("file: a line that a crash cut off stays on its own line") {
  const TemporaryDirectory directory;
  const std::string path = directory / "cut.jsonl";
  std::ofstream(path) << "{\"half\":";
  const auto sink = open_sink("{}", "file");
  sink->deliver(make_record("file", {text_argument("path", path)}));
  const auto lines = lines_of(path);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "{\"half\":");
  CHECK(json_at(lines[1], "/rule") == "\"cart_rescue\"");
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
  const auto record = make_record("file", {text_argument("path", path)});
  REQUIRE(sink->deliver(record).delivery == Delivery::kDone);
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
