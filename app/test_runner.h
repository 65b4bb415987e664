#pragma once
/// Runs the TEST blocks of a set of rules (language.md section 8). Needs no service.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dsl/plan.h"
#include "engine/engine.h"
#include "nfa/network.h"

namespace cepd::app {

struct TestOutcome {
  std::string name, rule, file;
  unsigned line = 1;
  bool passed = false;
  std::string report;  ///< of a failure: expected and actual side by side, and why the nearest partial match failed
};

/// How the engine under test is driven: the plain way, with its state saved and restored after every event, or with
/// four lanes.
enum class TestMode : unsigned char { kPlain, kRestoreAfterEachEvent, kFourLanes };

TestOutcome run_test(const std::shared_ptr<const nfa::Network>& network, const dsl::plan::Test& test,
                     TestMode mode = TestMode::kPlain);

}  // namespace cepd::app
