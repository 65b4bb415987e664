#pragma once
#include <chrono>

#include "base/time.h"

namespace cepd {

/// Processing time. Nothing in matching reads it; only sources, delivery and the pump do. Tests pass a fake.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual EventTime now() const = 0;                                 ///< wall clock, UTC
  virtual std::chrono::steady_clock::time_point steady() const = 0;  ///< never goes back
};

/// The machine's clocks. Any thread.
const Clock& system_clock();

}  // namespace cepd
