/// The language's behaviour as data: every tests/cases/<topic>/<case>.test.rules, and the example rules, run plainly
/// and with the state saved and restored after every event.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "actions/open.h"
#include "app/rule_files.h"
#include "app/test_runner.h"
#include "tests/support/case_files.h"

using namespace cepd;
using cepd::test::case_files;

namespace {

std::string printed(const Diagnostics& diagnostics) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) out += format(diagnostic);
  return out;
}

void run_all(app::TestMode mode) {
  std::size_t tests = 0;
  for (const std::string& file : case_files()) {
    const auto loaded = app::load_rules(file, app::TestFiles::kInclude, actions::built_in_schemas(), nullptr);
    INFO(file);
    REQUIRE_MESSAGE(loaded.rules != nullptr, printed(loaded.diagnostics));
    CHECK_MESSAGE(!loaded.rules->tests.empty(), "a case without a TEST shows nothing");
    const auto network = nfa::Network::compile(loaded.rules);
    for (const dsl::plan::Test& test : network->rules().tests) {
      const app::TestOutcome outcome = app::run_test(network, test, mode);
      ++tests;
      CHECK_MESSAGE(outcome.passed, outcome.name << " (line " << outcome.line << ")\n" << outcome.report);
    }
  }
  CHECK(tests >= 150);
}

}  // namespace

TEST_CASE("cases: every behaviour of the language is as written") { run_all(app::TestMode::kPlain); }

TEST_CASE("cases: the same when the state is saved and restored after every event") {
  run_all(app::TestMode::kRestoreAfterEachEvent);
}

TEST_CASE("cases: the same with four lanes") { run_all(app::TestMode::kFourLanes); }

TEST_CASE("cases: the example rules pass their own tests") {
  const auto loaded = app::load_rules(CEPD_SOURCE_DIR "/rules/examples", app::TestFiles::kInclude,
                                      actions::built_in_schemas(), nullptr);
  REQUIRE_MESSAGE(loaded.rules != nullptr, printed(loaded.diagnostics));
  const auto network = nfa::Network::compile(loaded.rules);
  CHECK(network->rules().rules.size() >= 6);
  std::set<std::string> tested;
  for (const dsl::plan::Test& test : network->rules().tests) {
    const app::TestOutcome outcome = app::run_test(network, test);
    tested.insert(test.rule);
    CHECK_MESSAGE(outcome.passed, outcome.name << " (" << outcome.file << ":" << outcome.line << ")\n"
                                               << outcome.report);
  }
  for (const dsl::plan::Rule& rule : network->rules().rules)
    CHECK_MESSAGE(tested.count(rule.name) == 1, rule.name << " has no TEST");
}
