#pragma once
/// The results: a table while they come, JSON at the end.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/measure.h"

namespace cepd::bench {

/// One line of the table.
struct Result {
  std::string workload;  ///< w1
  std::string variant;   ///< NO SKIP
  std::string mode;      ///< memory, json, loop; or what else is measured
  std::size_t events = 0;
  Spread rate = {};       ///< events a second
  std::string base = {};  ///< what `ratio` is against, in the same run
  double ratio = 0;       ///< of rates; with `base`
  std::uint64_t matches = 0;
  std::optional<std::uint64_t> expected = {};  ///< matches
  std::string stopped = {};                    ///< why it ended before its end: "time", "memory"
  /// Further figures; names say the unit.
  std::vector<std::pair<std::string, double>> figures = {};

  bool wrong() const { return expected && *expected != matches; }
};

class Report {
 public:
  /// Prints it at once.
  void add(const Result& result);
  /// What a process of its own has added and printed.
  void add_lines(const std::string& lines, bool right);
  /// A process that ended without handing anything back.
  void add_died(const std::string& workload, const std::string& variant);

  /// True when every number of matches is as expected and nothing died.
  bool right() const { return right_; }
  /// The results, each a JSON object, with commas between.
  const std::string& lines() const { return lines_; }

 private:
  std::string lines_;
  bool right_ = true;
};

/// Names and values: date, machine, compiler, options.
using About = std::vector<std::pair<std::string, std::string>>;
About about(std::string options);
/// Prints what stands above the table.
void print_heading(const About& about);
std::string to_json(const About& about, const Report& report);

}  // namespace cepd::bench
