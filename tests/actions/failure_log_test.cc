#include "actions/failure_log.h"

#include <doctest/doctest.h>

#include "tests/actions/helpers.h"

using namespace cepd;
using namespace cepd::actions;
using namespace cepd::test;
using std::chrono::milliseconds;

namespace {
class SetClock final : public Clock {
 public:
  EventTime now() const override { return {}; }
  std::chrono::steady_clock::time_point steady() const override { return time_; }
  void advance(milliseconds d) { time_ += d; }

 private:
  std::chrono::steady_clock::time_point time_{};
};
}  // namespace

TEST_CASE("failure log: the first failure, then one line in ten seconds, then that it works again") {
  const LogCapture log;
  SetClock clock;
  FailureLog failures("hook", clock);
  failures.delivered();
  failures.retrying("k1", "no answer", milliseconds(500));
  clock.advance(milliseconds(9'999));
  failures.retrying("k1", "no answer", milliseconds(1000));
  failures.retrying("k1", "no answer", milliseconds(2000));
  clock.advance(milliseconds(1));
  failures.retrying("k1", "answered 503", milliseconds(4000));
  failures.delivered();
  failures.delivered();
  failures.rejected("k2", "answered 400");
  failures.rejected("k3", "answered 400");
  clock.advance(milliseconds(10'000));
  failures.rejected("k4", "answered 400");
  CHECK(log.text() ==
        "warning action hook: k1 is tried again in 500 ms: no answer\n"
        "warning action hook: k1 is tried again in 4000 ms: answered 503 (2 more not logged before)\n"
        "info action hook: works again after 4 failed tries\n"
        "error action hook: k2 is given up: answered 400\n"
        "error action hook: k4 is given up: answered 400 (1 more not logged before)\n");
}
