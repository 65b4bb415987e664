#pragma once
/// Records, opened actions, parsed answers and captured log lines for the tests of actions.

#include <doctest/doctest.h>
#include <simdjson.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "actions/open.h"
#include "base/check.h"
#include "base/value.h"
#include "config/node.h"
#include "state/outbox.h"

namespace cepd::test {

inline constexpr std::string_view kMatch = "0123456789abcdef0123456789abcdef";

inline state::OutboxArgument text_argument(std::string name, std::string text) {
  std::string json;
  append_json_string(json, text);
  return {std::move(name), std::move(text), std::move(json)};
}

inline state::OutboxArgument argument(std::string name, const Value& value) {
  state::OutboxArgument argument{std::move(name), {}, {}};
  append_text(argument.text, value);
  append_json(argument.json, value);
  return argument;
}

inline state::OutboxRecord make_record(std::string action, std::vector<state::OutboxArgument> arguments) {
  state::OutboxRecord record;
  record.action = std::move(action);
  record.idempotency_key = kMatch;
  record.rule = "cart_rescue";
  record.time = event_time_us(1'700'000'120'000'500);
  record.arguments = std::move(arguments);
  record.match_json = R"({"match":")" + std::string(kMatch) +
                      R"(","rule":"cart_rescue","kind":"match","key":{"user_id":"u\"1","n":7,"x":null},"events":{}})";
  return record;
}

/// All actions of `yaml` (an `actions:` map); fails the test when it has mistakes.
inline std::vector<actions::OpenedAction> open_yaml(const std::string& yaml) {
  Diagnostics diagnostics;
  const auto node = config::parse_yaml("test.yaml", yaml, diagnostics);
  auto opened = actions::open_actions(&node, diagnostics);
  std::string messages;
  for (const auto& diagnostic : diagnostics) messages += format(diagnostic);
  REQUIRE(messages == "");
  return opened;
}

inline actions::OpenedAction take_action(std::vector<actions::OpenedAction> opened, std::string_view name) {
  for (auto& action : opened) {
    if (action.name == name) return std::move(action);
  }
  FAIL("no action called " << std::string(name));
  return {};
}

inline std::unique_ptr<actions::Sink> open_sink(const std::string& yaml, std::string_view name) {
  return take_action(open_yaml(yaml), name).sink;
}

/// JSON text in one form (no spaces), or "invalid JSON".
inline std::string json_at(const std::string& text, std::string_view pointer) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  simdjson::dom::element found;
  if (parser.parse(text).get(root) != simdjson::SUCCESS) return "invalid JSON: " + text;
  if (pointer.empty()) return simdjson::minify(root);
  if (root.at_pointer(pointer).get(found) != simdjson::SUCCESS) return "nothing there";
  return simdjson::minify(found);
}

/// Waits for `condition`, which another thread makes true; false after 20 s.
template <class Condition>
bool eventually(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "cepd-actions-XXXXXX").string();
    CEPD_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Takes what the daemon and its actions log, as lines "level message". Read it when no other thread logs.
class LogCapture {
 public:
  LogCapture() : before_(spdlog::default_logger()) {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text_);
    sink->set_pattern("%l %v");
    spdlog::drop("action");
    auto daemon = std::make_shared<spdlog::logger>("daemon", sink);
    auto action = std::make_shared<spdlog::logger>("action", sink);
    action->set_level(spdlog::level::debug);
    spdlog::register_logger(action);
    spdlog::set_default_logger(daemon);
  }
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;
  ~LogCapture() {
    spdlog::set_default_logger(before_);
    spdlog::drop("action");
    spdlog::drop("daemon");
  }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::shared_ptr<spdlog::logger> before_;
};

}  // namespace cepd::test
