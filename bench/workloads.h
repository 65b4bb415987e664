#pragma once
/// The workloads. Each adds its lines to the report.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/engine_run.h"
#include "bench/loops.h"
#include "bench/report.h"

namespace cepd::bench {

struct Context {
  const Options& options;
  Report& report;
};

/// A stream with its lines.
struct Input {
  Stream stream;
  Lines lines;
  explicit Input(Stream rows) : stream(std::move(rows)), lines(lines_of(stream)) {}
};

/// One set of rules on one stream, beside its loop.
struct RuleCase {
  std::string workload, variant;
  std::vector<std::string> files;
  const Input& input;
  std::function<std::uint64_t(Rows)> loop;
  /// Of the whole stream, where it is known from elsewhere.
  std::optional<std::uint64_t> known_matches = {};
};
/// The CPU time of a run: what its rate would be with the machine to itself, on one lane.
void add_cpu(Result& line, const Stretch& stretch);

/// What an engine holds while nothing else holds its events: keys, partial matches and their events.
struct StateSize {
  double partial_matches = 0, bytes = 0;
  void add_to(Result& line) const;
};
StateSize state_size(const EngineRun& run, std::size_t bytes_before);

/// What a rate is told against besides: that of another case.
struct CaseBase {
  std::string name;
  double rate = 0;
};
/// Tells the line's rate against it, where there is one.
void set_base(Result& line, const std::optional<CaseBase>& base);
/// Three lines: loop; events from memory, against the loop; from JSON lines, against those from memory. With `base`, a
/// figure says how the rate from memory compares with it. Returns the rate from memory.
double run_case(const Context& context, const RuleCase& rule_case, const std::optional<CaseBase>& base = {});

/// One rule on a stream that first fills it with partial matches; what comes then is timed.
struct FilledCase {
  std::string workload, variant, rule;
  const Input& input;
  std::size_t fill = 0;  ///< events
  std::size_t last = 0;  ///< events at the end that only list what has gathered: timed apart
  std::function<std::uint64_t(Rows)> loop;
};
/// Two lines, from memory and from JSON, against the base where there is one. Returns the first one's rate; 0 when it
/// was stopped while it was filled.
double run_filled(const Context& context, const FilledCase& filled_case, const std::optional<CaseBase>& base);

/// Rule i of W2.
std::string w2_rule(std::uint32_t i);
/// The first `count` of them, in as many files as the limit of a file's length asks for.
std::vector<std::string> w2_files(std::uint32_t count);

struct Workload {
  std::string name, about;
  void (*run)(const Context&);
};
const std::vector<Workload>& workloads();

void run_w1(const Context& context);
void run_w2(const Context& context);
void run_w3(const Context& context);
void run_w4(const Context& context);
void run_w5(const Context& context);
void run_w6(const Context& context);
void run_w7(const Context& context);
void run_w8(const Context& context);
void run_load(const Context& context);
void run_keys(const Context& context);
void run_checkpoint(const Context& context);
void run_restart(const Context& context);
void run_journal(const Context& context);
void run_shares(const Context& context);

}  // namespace cepd::bench
