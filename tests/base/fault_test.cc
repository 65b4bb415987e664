#include "base/fault.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <vector>

namespace cepd {
namespace {

struct Forget {
  ~Forget() { forget_faults(); }
};

TEST_CASE("fault: nothing is planned until it is asked for") {
  const Forget after;
  CHECK(fault(FaultPoint::kCommit) == 0);
  CHECK(plan_faults("").has_value());
  CHECK(fault(FaultPoint::kCommit) == 0);
}

TEST_CASE("fault: commits fail as often as planned, from the one planned on, and others do not") {
  const Forget after;
  REQUIRE(plan_faults("commit=ENOSPC@3x2,after_slice=kill@100").has_value());
  std::vector<int> seen;
  for (int i = 0; i < 6; ++i) {
    CHECK(fault(FaultPoint::kBeforeGroup) == 0);
    CHECK(fault(FaultPoint::kAfterSlice) == 0);
    seen.push_back(fault(FaultPoint::kCommit));
  }
  CHECK(seen == std::vector<int>{0, 0, ENOSPC, ENOSPC, 0, 0});
}

TEST_CASE("fault: without numbers it is the first time, once") {
  const Forget after;
  REQUIRE(plan_faults("commit=EIO").has_value());
  CHECK(fault(FaultPoint::kCommit) == EIO);
  CHECK(fault(FaultPoint::kCommit) == 0);
}

TEST_CASE("fault: kill is SIGKILL, the planned time the point is passed") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (!plan_faults("before_mark=kill@2")) ::_exit(1);
    static_cast<void>(fault(FaultPoint::kBeforeMark));
    static_cast<void>(fault(FaultPoint::kAfterMark));
    static_cast<void>(fault(FaultPoint::kBeforeMark));
    ::_exit(2);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
}

TEST_CASE("fault: what is no plan is refused and named") {
  const Forget after;
  for (const std::string text : {"commit", "commit=", "commit=ENOENT", "after_group=EIO", "somewhere=kill",
                                 "commit=EIO@", "commit=EIO@0", "commit=EIO@1x", "commit=EIO@1x0", "commit=EIO@1x2y",
                                 "commit=EIO@-1", ",", "commit=EIO,,", "=kill", "commit=EIO 1"}) {
    INFO(text);
    const Status planned = plan_faults(text);
    REQUIRE(planned.has_error());
    CHECK(planned.error().code == Errc::kInvalidArgument);
  }
  CHECK(plan_faults("commit=EIO,somewhere=kill@1").error().message ==
        "no fault: \"somewhere=kill@1\"; see base/fault.h");
}

}  // namespace
}  // namespace cepd
