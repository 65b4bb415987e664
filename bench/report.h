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
  Spread rate;       ///< events a second
  std::string base;  ///< what `ratio` is against, in the same run
  double ratio = 0;  ///< of rates; with `base`
  std::uint64_t matches = 0;
  std::optional<std::uint64_t> expected;  ///< matches
  std::string stopped;                    ///< why it ended before its end: "time", "memory"
  /// Further figures with their names, which end in the unit.
  std::vector<std::pair<std::string, double>> figures;

  bool wrong() const { return expected && *expected != matches; }
};

class Report {
 public:
  /// What stands above the table: machine, compiler, options.
  explicit Report(std::string options);

  /// Prints it at once.
  void add(Result result);
  const std::vector<Result>& results() const { return results_; }
  /// True when every number of matches is as expected.
  bool right() const;

  std::string json() const;

 private:
  std::vector<std::pair<std::string, std::string>> about_;
  std::vector<Result> results_;
};

}  // namespace cepd::bench
