#include "base/clock.h"

#include "base/fault.h"

namespace cepd {
namespace {
class SystemClock final : public Clock {
 public:
  EventTime now() const override {
    return std::chrono::floor<Micros>(std::chrono::system_clock::now()) + clock_fault();
  }
  std::chrono::steady_clock::time_point steady() const override { return std::chrono::steady_clock::now(); }
};
}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace cepd
