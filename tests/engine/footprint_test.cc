#include "engine/footprint.h"

#include <doctest/doctest.h>

#include "engine/engine.h"
#include "tests/support/rules.h"

using namespace cepd;
using test::make_event;
using test::network_of;

namespace {

std::int64_t ticking() {
  static std::int64_t now = 0;
  return now += 10;
}

TEST_CASE("engine: what rules cost is counted by rule") {
  const auto network = network_of(
      "RULE few KEY u MATCH A[v = 7] THEN B WITHIN 1h AFTER MATCH NO SKIP\n"
      "RULE many KEY u MATCH A THEN B WITHIN 1h AFTER MATCH NO SKIP");
  engine::EngineOptions options;
  options.clock_ns = ticking;
  engine::Engine engine(network, options, {[](const engine::MatchView&) {}, {}});
  const auto push = [&](const char* type, int number) {
    engine.push(make_event(network->fields(), type, number, number,
                           {{"u", Value::string("somebody")}, {"v", Value::integer(number % 100)}}));
  };
  for (int i = 0; i < 1'000; ++i) push("A", i);
  auto counts = engine.counts();
  REQUIRE(counts.size() == 2);
  CHECK(counts[0].rule == "few");
  CHECK(counts[0].tested == 10);  // the others were not even asked about
  CHECK(counts[0].partial_matches == 10);
  CHECK(counts[1].tested == 1'000);
  CHECK(counts[1].partial_matches == 1'000);
  CHECK(counts[1].time_ns > 0);
  CHECK(counts[1].bytes > 1'000 * sizeof(engine::Cell));
  CHECK(counts[1].bytes < 1'000 * 400);
  CHECK(counts[0].bytes < counts[1].bytes / 10);
  push("B", 1'000);
  counts = engine.counts();
  CHECK(counts[1].matches == 1'000);
  CHECK(counts[1].partial_matches == 0);
  CHECK(counts[1].bytes == 0);
}

}  // namespace
