#include "engine/evaluator.h"

#include <doctest/doctest.h>

#include "tests/support/rules.h"

using namespace cepd;
using namespace cepd::engine;

TEST_CASE("evaluator: a test that aggregates over a repeat looks at each of its events once, however long it is") {
  const auto network = test::network_of(
      "RULE r MATCH a AS first THEN b[v > coalesce(avg(up.v), first.v)]+ AS up THEN c[v < first.v AND v < min(up.v)] "
      "WITHIN 1h AFTER MATCH NO SKIP");
  const EngineOptions options;
  Evaluator evaluator(*network, 0, options, nullptr);
  nfa::SharedOutcomes outcomes(network->element_tests().shared());
  std::vector<Completed> completed;
  Arena scratch;
  KeyEntry entry{KeyProbe{}};
  KeyState state;
  state.entry = &entry;
  std::uint64_t sequence = 0;
  const auto give = [&](const char* type, int element, std::int64_t v) {
    const EventPtr event =
        test::make_event(network->fields(), type, 0, static_cast<std::int64_t>(sequence), {{"v", Value::integer(v)}});
    event->sequence = ++sequence;
    Offer offer;
    offer.shown = &event;
    offer.elements = nfa::element_bit(dsl::plan::ElementId(static_cast<std::uint16_t>(element)));
    offer.input = true;
    offer.starts = element == 0;
    evaluator.advance(state, offer, completed, outcomes, scratch);
    scratch.release();
  };
  give("a", 0, 10);
  const std::int64_t taken = 500;
  for (std::int64_t i = 0; i < taken; ++i) {
    give("b", 1, 100 + i);  // is taken
    give("b", 1, 1);
    give("c", 2, 11);
    give("c", 2, 1000);
  }
  REQUIRE(state.runs.size() == 1);
  CHECK(state.runs.front().bound.size() == taken + 1);
  CHECK(completed.empty());
  // The average, the least, and the first element's event.
  CHECK(state.runs.front().tallies.get().visited() <= 3 * (taken + 1));
  give("c", 2, 1);
  CHECK(completed.size() == 1);
}
