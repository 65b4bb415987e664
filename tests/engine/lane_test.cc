/// Lanes: the same matches in the same order for every number of them.
#include "engine/lane.h"

#include <doctest/doctest.h>

#include <random>

#include "base/match.h"
#include "engine/lane_threads.h"
#include "state/memory_backend.h"
#include "tests/support/rules.h"

using namespace cepd;
using cepd::test::network_of;

namespace {

constexpr const char* kRules =
    "RULE absent KEY u MATCH A THEN NOT B WITHIN 10s LIMIT 1 PER 30s "
    "RULE late KEY u MATCH A THEN B WITHIN 5s ON TIMEOUT EMIT A.x AS x "
    "RULE all MATCH A[x > 3] THEN B WITHIN 7s "
    "RULE two KEY u MATCH A AS a THEN A[x > a.x] WITHIN 20s AFTER MATCH NO SKIP ";

/// Every match as a line, for a seeded input of 3,000 events with 40 keys.
std::vector<std::string> run(const std::string& rules, std::size_t lanes, bool save) {
  std::vector<std::string> out;
  const auto network = network_of(rules);
  engine::EngineOptions options;
  options.lanes = lanes;
  options.track_changes = save;
  const auto backend = state::memory_backend();
  std::unique_ptr<engine::Engine> engine;
  const auto make = [&] {
    engine = std::make_unique<engine::Engine>(
        network, options,
        engine::Engine::Handlers{
            [&](const engine::MatchView& match) { out.push_back(to_json(*match.take(), EventsForm::kLines)); }, {}});
  };
  make();
  std::mt19937 random(7);
  std::int64_t ms = 0;
  for (int i = 0; i < 3000; ++i) {
    ms += random() % 400;
    const bool a = random() % 2 == 0;
    const auto u = static_cast<std::int64_t>(random() % 40);
    const auto x = static_cast<std::int64_t>(random() % 10);
    engine->push(test::make_event(network->fields(), a ? "A" : "B", static_cast<double>(ms) / 1000, i,
                                  {{"u", Value::integer(u)}, {"x", Value::integer(x)}}));
    if (save && i % 700 == 699) {
      state::WriteBatch batch;
      engine->save(batch);
      REQUIRE(backend->commit(batch).has_value());
      engine->saved();
      options.lanes = options.lanes % 4 + 1;  // what is stored does not know of lanes
      make();
      REQUIRE(engine->restore(*backend, test::unread).has_value());
    }
  }
  engine->finish();
  std::uint64_t matches = 0;
  for (const engine::RuleCounts& counts : engine->counts()) matches += counts.matches + counts.timeouts;
  if (!save) CHECK(matches == out.size());
  return out;
}

}  // namespace

TEST_CASE("lanes: the same matches in the same order") {
  const auto one = run(kRules, 1, false);
  CHECK(one.size() > 1000);
  CHECK(run(kRules, 2, false) == one);
  CHECK(run(kRules, 4, false) == one);
  CHECK(run(kRules, 7, false) == one);
}

TEST_CASE("lanes: where rules read what others make") {
  const std::string rules = std::string(kRules) +
                            "RULE maker KEY u MATCH A THEN B WITHIN 2s EMIT u, A.x AS x INTO C "
                            "RULE reader KEY x MATCH C THEN C THEN NOT A WITHIN 10s ";
  const auto one = run(rules, 1, false);
  CHECK(one.size() > 1000);
  CHECK(run(rules, 3, false) == one);
}

TEST_CASE("lanes: the state of any number of lanes is taken up by any other") {
  CHECK(run(kRules, 1, true) == run(kRules, 1, false));
}

TEST_CASE("lanes: what could be handled keeps its place when a source begins later") {
  const auto network = network_of("RULE r MATCH A AFTER MATCH NO SKIP");
  for (const std::size_t lanes : {1U, 4U}) {
    std::vector<std::int64_t> offsets;
    engine::EngineOptions options;
    options.lanes = lanes;
    engine::Engine engine(network, options,
                          {[&](const engine::MatchView& match) {
                             offsets.push_back(match.take()->bindings[0].events[0]->position.offset);
                           },
                           {}});
    engine.push(test::make_event(network->fields(), "A", 1, 7, {}, "s"));
    engine.push(test::make_event(network->fields(), "A", 1, 8, {}, "r"));  // earlier in the order, but not there yet
    engine.finish();
    CHECK(offsets == std::vector<std::int64_t>{7, 8});
  }
}

TEST_CASE("lane threads: every lane does the job once") {
  engine::LaneThreads threads(5);
  for (int round = 0; round < 100; ++round) {
    std::vector<int> done(5, 0);
    threads.run([&](std::size_t lane) { ++done[lane]; });
    CHECK(done == std::vector<int>(5, 1));
  }
}
