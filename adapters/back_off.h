#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <utility>

namespace cepd::adapters {

/// Waits between tries: doubled each time from `first` to `longest`, less a random part up to a half, so that many
/// clients of one service that comes back do not come all at once.
class BackOff {
 public:
  BackOff(std::chrono::milliseconds first, std::chrono::milliseconds longest, std::uint64_t seed)
      : first_(first), longest_(longest), next_(first), random_(seed) {}

  std::chrono::milliseconds next() {
    const auto whole = std::exchange(next_, std::min(next_ * 2, longest_));
    std::uniform_int_distribution<std::int64_t> part(whole.count() / 2, whole.count());
    return std::chrono::milliseconds(part(random_));
  }
  void reset() { next_ = first_; }

 private:
  const std::chrono::milliseconds first_, longest_;
  std::chrono::milliseconds next_;
  std::mt19937_64 random_;
};

}  // namespace cepd::adapters
