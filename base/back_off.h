#pragma once
#include <chrono>

namespace cepd {

/// Wait before retry number `attempt` (from 1): exponential from `first`, at most `longest`, times a factor in [0.5, 1]
/// drawn by `random` (a number in [0, 1)), so that many clients of one service that comes back do not come all at once.
/// Equal jitter after "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015).
std::chrono::milliseconds back_off(unsigned attempt, std::chrono::milliseconds first, std::chrono::milliseconds longest,
                                   double random);

}  // namespace cepd
