#pragma once
/// The engine at work on a stream, from events decoded before or from JSON lines, with its time and memory taken.

#include <memory>
#include <string>
#include <vector>

#include "adapters/decoder.h"
#include "bench/generators.h"
#include "bench/measure.h"
#include "bench/options.h"
#include "engine/engine.h"

namespace cepd::bench {

/// What loading a set of rules took.
struct Load {
  std::shared_ptr<const nfa::Network> network;
  double parse_s = 0, check_s = 0, compile_s = 0;
  std::size_t bytes = 0;  ///< held by the plan and the network
  double seconds() const { return parse_s + check_s + compile_s; }
};
/// `files`: texts of rule files. With `before`, as a reload of the running set does. Rules that are wrong end the
/// program: they are ours.
Load load(const std::vector<std::string>& files, const FieldPlan* before = nullptr);

using Events = std::vector<EventPtr>;

/// Gives the lines as messages of one source, and decodes them.
class LineReader {
 public:
  LineReader(const Lines& lines, const FieldPlan& fields);
  EventPtr decode(std::size_t line);

 private:
  const Lines& lines_;
  const FieldPlan& fields_;
  adapters::JsonDecoder decoder_;
  adapters::Message message_;
};
Events decode_all(const Lines& lines, const FieldPlan& fields);

/// When to give up.
class Limit {
 public:
  explicit Limit(const Options& options);
  /// Called after each event; why to stop, or "". Looks at the clock only now and then.
  const char* reached() { return ++count_ % stride_ == 0 ? look() : ""; }

 private:
  const char* look();
  double seconds_;
  std::size_t bytes_, bytes_before_;
  Stopwatch since_start_, since_look_;
  std::size_t count_ = 0, stride_ = 1;
  double next_memory_s_ = 0;
};

/// Part of a stream, worked.
struct Stretch {
  std::size_t events = 0;
  double seconds = 0, cpu_s = 0;  ///< of the whole process
  std::uint64_t matches = 0;
  std::string stopped;
  double rate() const { return seconds > 0 ? static_cast<double>(events) / seconds : 0; }
};

/// One engine with the benchmarks' handler: it counts matches and looks at time and rule of each.
class EngineRun {
 public:
  EngineRun(std::shared_ptr<const nfa::Network> network, const Options& options);

  Stretch push(const Events& events, std::size_t from, std::size_t to, Limit& limit);
  Stretch push(const Lines& lines, std::size_t from, std::size_t to, Limit& limit);
  /// Each push alone, in µs.
  std::vector<double> push_each_timed(const Events& events, std::size_t from, std::size_t to, Limit& limit);

  engine::Engine& engine() { return *engine_; }
  std::uint64_t partial_matches() const;
  std::uint64_t over_cap() const;

 private:
  template <class Next>
  Stretch push_each(std::size_t from, std::size_t to, Limit& limit, const Next& next);
  std::shared_ptr<const nfa::Network> network_;
  std::uint64_t matches_ = 0;
  std::int64_t touched_ = 0;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace cepd::bench
