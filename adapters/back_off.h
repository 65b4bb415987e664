#pragma once
#include <chrono>
#include <cstdint>
#include <random>

#include "base/back_off.h"

namespace cepd::adapters {

/// The waits between one source's tries to connect.
class BackOff {
 public:
  BackOff(std::chrono::milliseconds first, std::chrono::milliseconds longest, std::uint64_t seed)
      : first_(first), longest_(longest), random_(seed) {}

  std::chrono::milliseconds next() {
    return back_off(++attempt_, first_, longest_, std::uniform_real_distribution<double>()(random_));
  }
  void reset() { attempt_ = 0; }

 private:
  const std::chrono::milliseconds first_, longest_;
  unsigned attempt_ = 0;
  std::mt19937_64 random_;
};

}  // namespace cepd::adapters
