#include "bench/engine_run.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "base/check.h"
#include "dsl/check.h"
#include "dsl/parse.h"

namespace cepd::bench {
namespace {

void stop_on_errors(const Diagnostics& diagnostics) {
  if (!has_errors(diagnostics)) return;
  for (const Diagnostic& each : diagnostics) std::cerr << format(each);
  std::exit(1);
}

engine::EngineOptions engine_options(const Options& options) {
  engine::EngineOptions out;
  out.lanes = options.lanes;
  // Every partial match counts: nothing may be dropped.
  out.max_partial_matches = SIZE_MAX / 2;
  return out;
}

}  // namespace

Load load(const std::vector<std::string>& files, const FieldPlan* before) {
  Load load;
  const std::size_t bytes_before = bytes_in_use();
  std::shared_ptr<const dsl::RuleSet> rules;
  {
    std::vector<dsl::ast::File> trees;
    Stopwatch parse;
    for (std::size_t i = 0; i < files.size(); ++i) {
      dsl::Parsed parsed = dsl::parse("bench" + std::to_string(i) + ".rules", files[i]);
      stop_on_errors(parsed.diagnostics);
      trees.push_back(std::move(parsed.file));
    }
    load.parse_s = parse.seconds();
    Stopwatch check;
    dsl::CheckOptions options;
    options.actions = {ActionSchema{"log", {{"message", ArgumentType::kText, true, {}, {}, ""}}, false}};
    dsl::Checked checked = dsl::check(trees, options, before);
    stop_on_errors(checked.diagnostics);
    rules = std::move(checked.rules);
    load.check_s = check.seconds();
  }
  Stopwatch compile;
  load.network = nfa::Network::compile(std::move(rules));
  load.compile_s = compile.seconds();
  load.bytes = bytes_in_use() - bytes_before;
  return load;
}

LineReader::LineReader(const Lines& lines, const FieldPlan& fields)
    : lines_(lines), fields_(fields), decoder_([] {
        adapters::DecoderOptions options;
        options.keep_raw = false;
        return options;
      }()) {
  message_.position.source = SourceId("bench");
}

EventPtr LineReader::decode(std::size_t line) {
  message_.bytes = lines_[line];
  message_.position.offset = static_cast<std::int64_t>(line);
  auto decoded = decoder_.decode(message_, fields_);
  CEPD_CHECK(decoded.index() == 0);
  return std::get<0>(std::move(decoded));
}

Events decode_all(const Lines& lines, const FieldPlan& fields) {
  LineReader reader(lines, fields);
  Events events;
  events.reserve(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) events.push_back(reader.decode(i));
  return events;
}

Limit::Limit(const Options& options)
    : seconds_(options.limit_s), bytes_(options.memory_limit_mb << 20), bytes_before_(resident_bytes()) {}

const char* Limit::look() {
  constexpr std::size_t kLongestStride = 256;
  constexpr double kShortLook = 0.001, kMemoryEvery = 0.05;
  stride_ = since_look_.seconds() < kShortLook ? std::min(stride_ * 2, kLongestStride) : 1;
  count_ = 0;
  since_look_ = Stopwatch();
  const double now = since_start_.seconds();
  if (now > seconds_) return "time";
  if (now < next_memory_s_) return "";
  next_memory_s_ = now + kMemoryEvery;
  return resident_bytes() > bytes_before_ + bytes_ ? "memory" : "";
}

EngineRun::EngineRun(std::shared_ptr<const nfa::Network> network, const Options& options)
    : network_(std::move(network)) {
  engine::Engine::Handlers handlers;
  handlers.match = [this](const engine::MatchView& match) {
    ++matches_;
    touched_ += to_us(match.time()) + match.rule();
  };
  engine_ = std::make_unique<engine::Engine>(network_, engine_options(options), std::move(handlers));
}

template <class Next>
Stretch EngineRun::push_each(std::size_t from, std::size_t to, Limit& limit, const Next& next) {
  Stretch stretch;
  const std::uint64_t matches_before = matches_;
  const double cpu_before = cpu_seconds();
  Stopwatch watch;
  std::size_t i = from;
  const char* reached = "";
  while (i < to && *reached == '\0') {
    engine_->push(next(i));
    ++i;
    reached = limit.reached();
  }
  engine_->flush();
  stretch.seconds = watch.seconds();
  stretch.cpu_s = cpu_seconds() - cpu_before;
  stretch.events = i - from;
  stretch.matches = matches_ - matches_before;
  if (i < to) stretch.stopped = reached;
  return stretch;
}

Stretch EngineRun::push(const Events& events, std::size_t from, std::size_t to, Limit& limit) {
  return push_each(from, to, limit, [&](std::size_t i) { return events[i]; });
}

Stretch EngineRun::push(const Lines& lines, std::size_t from, std::size_t to, Limit& limit) {
  LineReader reader(lines, network_->fields());
  return push_each(from, to, limit, [&](std::size_t i) { return reader.decode(i); });
}

std::vector<double> EngineRun::push_each_timed(const Events& events, std::size_t from, std::size_t to, Limit& limit) {
  std::vector<double> out;
  out.reserve(to - from);
  for (std::size_t i = from; i < to && *limit.reached() == '\0'; ++i) {
    const Stopwatch watch;
    engine_->push(events[i]);
    out.push_back(watch.seconds() * 1e6);
  }
  engine_->flush();
  return out;
}

std::uint64_t EngineRun::partial_matches() const {
  std::uint64_t total = 0;
  for (const engine::RuleCounts& each : engine_->counts()) total += each.partial_matches;
  return total;
}

std::uint64_t EngineRun::over_cap() const {
  std::uint64_t total = 0;
  for (const engine::RuleCounts& each : engine_->counts()) total += each.over_cap;
  return total;
}

}  // namespace cepd::bench
