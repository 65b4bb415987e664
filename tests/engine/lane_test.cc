/// Lanes: the same matches in the same order for every number of them.
#include "engine/lane.h"

#include <doctest/doctest.h>

#include <random>

#include "base/match.h"
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

namespace {

/// Much input, with what the caller may do in its middle; every match as a line.
std::vector<std::string> run_with_calls(std::size_t lanes, std::size_t lane_batch, bool calls) {
  const std::string rules = kRules;
  // The same and one more before it, and then rules that read what others make.
  const std::string more = "RULE a_first KEY x MATCH B THEN A WITHIN 1s " + rules;
  const std::string chained = more + "RULE chain KEY u MATCH A THEN B WITHIN 1s EMIT u INTO C RULE reader MATCH C ";
  std::vector<std::string> out;
  auto network = network_of(rules);
  engine::EngineOptions options;
  options.lanes = lanes;
  options.lane_batch = lane_batch;
  engine::Engine engine(
      network, options,
      {[&](const engine::MatchView& match) { out.push_back(to_json(*match.take(), EventsForm::kLines)); }, {}});
  std::mt19937 random(11);
  std::int64_t ms = 0;
  for (int i = 0; i < 6000; ++i) {
    ms += random() % 400;
    const auto u = static_cast<std::int64_t>(random() % 40), x = static_cast<std::int64_t>(random() % 10);
    engine.push(test::make_event(network->fields(), random() % 2 == 0 ? "A" : "B", static_cast<double>(ms) / 1000, i,
                                 {{"u", Value::integer(u)}, {"x", Value::integer(x)}}));
    if (i % 1500 == 1499) {
      network = network_of(i < 1500 ? more : i < 3000 ? chained : more, &network->fields());
      CHECK(engine.swap(network, test::unread) == (i < 1500 ? 4U : 5U));
    }
    if (!calls) continue;
    if (i % 97 == 0) engine.flush();
    if (i % 401 == 0) engine.counts();
    if (i % 503 == 0) engine.advance(event_time_us(ms * 1000));
  }
  engine.finish();
  return out;
}

}  // namespace

TEST_CASE("lanes: the same over reloads, flushes and counts, however the input is cut") {
  const auto one = run_with_calls(1, 1, false);
  CHECK(one.size() > 3000);
  CHECK(run_with_calls(4, 512, false) == one);
  CHECK(run_with_calls(4, 512, true) == one);
  CHECK(run_with_calls(3, 1, false) == one);
  CHECK(run_with_calls(2, 10, true) == one);
}

TEST_CASE("lanes: one batch with more matches than may wait to be reported") {
  const auto network = network_of(
      "RULE many MATCH A THEN ANY B WITHIN 1h AFTER MATCH NO SKIP "
      "RULE some KEY u MATCH A THEN ANY B WITHIN 1h AFTER MATCH NO SKIP");
  const auto run = [&](std::size_t lanes) {
    std::vector<MatchId> out;
    engine::EngineOptions options;
    options.lanes = lanes;
    engine::Engine engine(network, options,
                          {[&](const engine::MatchView& match) { out.push_back(match.take()->id); }, {}});
    for (int i = 0; i < 400; ++i) {
      engine.push(test::make_event(network->fields(), i < 300 ? "A" : "B", i, i, {{"u", Value::integer(i % 7)}}));
    }
    engine.finish();
    return out;
  };
  const auto one = run(1);
  CHECK(one.size() > 30'000);
  CHECK((run(4) == one));
}

TEST_CASE("lanes: an engine that ends before its lanes has reported the beginning of what it would have") {
  const auto network = network_of(kRules);
  const auto run = [&](std::size_t lanes, bool finish) {
    std::vector<MatchId> out;
    engine::EngineOptions options;
    options.lanes = lanes;
    options.lane_batch = 16;
    engine::Engine engine(network, options,
                          {[&](const engine::MatchView& match) { out.push_back(match.take()->id); }, {}});
    for (int i = 0; i < 2000; ++i) {
      engine.push(test::make_event(network->fields(), i % 3 == 0 ? "A" : "B", i, i,
                                   {{"u", Value::integer(i % 7)}, {"x", Value::integer(i % 10)}}));
    }
    if (finish) engine.finish();
    return out;
  };
  const auto all = run(1, true);
  const auto some = run(4, false);
  REQUIRE(some.size() <= all.size());
  // At most 8 batches are with the lanes, and one is gathered.
  CHECK(some.size() > all.size() / 2);
  CHECK(std::equal(some.begin(), some.end(), all.begin()));
}
