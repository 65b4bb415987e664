#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace cepd::bench {

struct Options {
  std::vector<std::string> workloads;  ///< empty: all
  bool quick = false;                  ///< small sizes, once: that it runs and counts right
  std::size_t lanes = 1;
  unsigned repeat = 3;
  double limit_s = 20;                  ///< for one run of one rule set
  std::size_t memory_limit_mb = 4'096;  ///< more than that for one run ends it
  std::size_t events = 2'000'000;       ///< of the streams of W1 to W4, W7, W8
  std::string json;                     ///< file
  std::string peers;                    ///< engines, with commas between
};

}  // namespace cepd::bench
