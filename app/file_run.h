#pragma once
/// Rules over a file of events: what `cepd replay` and `cepd why` share.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/decoder.h"
#include "engine/engine.h"

namespace cepd::app {

/// The options as they were given.
struct InputArguments {
  std::string input;  ///< `-`: standard input
  std::string type_field = "type", time_field = "ts", time_unit = "ms";
  std::string max_delay = "0s", state_ttl;
  bool sort = false;
};

struct InputOptions {
  adapters::DecoderOptions decoding;
  engine::EngineOptions engine;
  Micros max_delay{0};
  bool sort = false;
};

/// Prints what makes no sense, beginning with `cepd COMMAND`, and returns nothing then.
std::optional<InputOptions> read_options(const std::string& command, const InputArguments& arguments);

/// Calls `take` for each line that is not blank, numbered from 0 over all lines. Prints why and returns false when the
/// input cannot be read.
bool for_each_line(const std::string& command, const std::string& input,
                   const std::function<void(const adapters::Message&)>& take);

/// Says on standard error which lines are no events, the first few.
class BadLines {
 public:
  explicit BadLines(std::string input) : input_(std::move(input)) {}
  void note(std::int64_t line, const adapters::DecodeError& error);
  std::uint64_t count() const { return count_; }

 private:
  std::string input_;
  std::uint64_t count_ = 0;
};

/// One set of rules at work on the lines.
class FileRun {
 public:
  struct Handlers {
    std::function<void(MatchPtr)> match;
    std::function<void(const Event&)> late;
    std::function<void(std::int64_t, const adapters::DecodeError&)> bad;  ///< line, from 0
    std::function<void(const Event&)> decoded;                            ///< may be empty
  };

  FileRun(std::shared_ptr<const nfa::Network> network, const InputOptions& options, Handlers handlers);

  void take(const adapters::Message& message);
  /// The input has ended.
  void finish();

  engine::Engine& engine() { return engine_; }
  const engine::Engine& engine() const { return engine_; }

 private:
  std::shared_ptr<const nfa::Network> network_;
  bool sort_;
  Handlers handlers_;
  adapters::JsonDecoder decoder_;
  engine::Engine engine_;
  std::vector<EventPtr> to_sort_;
};

}  // namespace cepd::app
