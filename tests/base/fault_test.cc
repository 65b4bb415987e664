#include "base/fault.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <chrono>

#include "base/clock.h"

namespace cepd {
namespace {

using namespace std::chrono_literals;

struct Planned {
  explicit Planned(std::string_view text) : status(plan_faults(text)) {}
  ~Planned() { forget_faults(); }
  Status status;
};

TEST_CASE("fault: nothing is planned unless asked for") {
  CHECK(fault(FaultPoint::kCommit) == 0);
  CHECK(clock_fault() == 0us);
}

TEST_CASE("fault: a commit fails from the first time on for as many times as planned") {
  const Planned planned("commit=EROFS@2x3");
  REQUIRE(planned.status.has_value());
  for (const int wanted : {0, EROFS, EROFS, EROFS, 0}) CHECK(fault(FaultPoint::kCommit) == wanted);
  CHECK(fault(FaultPoint::kAfterGroup) == 0);
}

TEST_CASE("fault: the clock is wrong from a reading on, or for some readings") {
  {
    const Planned planned("clock=+1h30m@3");
    REQUIRE(planned.status.has_value());
    CHECK(clock_fault() == 0us);
    CHECK(clock_fault() == 0us);
    for (int i = 0; i < 10; ++i) CHECK(clock_fault() == 90min);
  }
  const Planned planned("clock=-2d@2x2");
  REQUIRE(planned.status.has_value());
  for (const auto wanted : {0h, -48h, -48h, 0h}) CHECK(clock_fault() == wanted);
}

TEST_CASE("fault: the system's clock is the one that is wrong") {
  const EventTime before = system_clock().now();
  const Planned planned("clock=-10h");
  CHECK(system_clock().now() < before - 9h);
}

TEST_CASE("fault: what is no plan is refused") {
  for (const char* text : {"commit", "commit=", "nowhere=kill", "commit=+1h", "clock=kill", "clock=1h", "clock=+soon",
                           "after_group=EIO", "commit=EIO@0", "commit=EIO@2x", "take=kill@x"}) {
    INFO(text);
    const Planned planned(text);
    CHECK(planned.status.has_error());
  }
}

}  // namespace
}  // namespace cepd
