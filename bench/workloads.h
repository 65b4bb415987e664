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
struct CaseRates {
  double loop = 0, memory = 0, json = 0;
};
/// Three lines: loop; events from memory, against the loop; from JSON lines, against those from memory. With `base`, a
/// figure says how the rate from memory compares with that of the case named.
struct CaseBase {
  std::string name;
  double rate = 0;
};
CaseRates run_case(const Context& context, const RuleCase& rule_case, const std::optional<CaseBase>& base = {});

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

}  // namespace cepd::bench
