#pragma once
/// What is measured, and how: time, memory of the process, spread and percentiles.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cepd::bench {

using Clock = std::chrono::steady_clock;

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  Clock::time_point start_ = Clock::now();
};

/// Of all threads of the process.
double cpu_seconds();

/// Of several repetitions.
struct Spread {
  double min = 0, median = 0, max = 0;
};
Spread spread_of(std::vector<double> values);

/// Nearest rank, exact: the values are kept and sorted.
struct Percentiles {
  std::size_t count = 0;
  double p50 = 0, p99 = 0, p999 = 0, max = 0;
};
Percentiles percentiles_of(std::vector<double> values);

/// Bytes that the program holds from the allocator, of all threads. What it has freed and the allocator keeps is not in
/// it.
std::size_t bytes_in_use();
/// Bytes of memory that the process has now, and the most it had since reset_peak().
std::size_t resident_bytes();
std::size_t peak_resident_bytes();
void reset_peak();

}  // namespace cepd::bench
