/// Lanes where rules read what others make, over batches, restarts and reloads.
#include "engine/lane.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "engine/engine.h"
#include "state/memory_backend.h"
#include "tests/support/rules.h"

using namespace cepd;
using engine::Engine;
using test::make_event;
using test::network_of;

namespace {

constexpr const char* kRules =
    "RULE pair KEY k MATCH a AS x THEN b AS y WITHIN 9s AFTER MATCH NO SKIP EMIT y.n AS n INTO paired "
    "ON TIMEOUT EMIT x.n AS n INTO missed\n"
    "RULE all MATCH a+ THEN c WITHIN 20s EMIT count(a) AS n INTO counted\n"
    "RULE via FROM a, b, c[n > 2] KEY k MATCH a BY n NEXT b WITHIN 9s EMIT b.n AS n INTO paired\n"
    "RULE quiet KEY k MATCH paired AS p THEN NOT b WITHIN 4s EMIT p.n AS n INTO still\n"
    "RULE both KEY k MATCH still | missed AS s THEN paired AS p WITHIN 30s EMIT s.n AS n INTO top LIMIT 2 PER 10s\n"
    "RULE count MATCH counted | top | paired | still AS t\n"
    "RULE noted KEY k MATCH top AS t THEN NOT still WITHIN 5s\n";

/// Reported matches as lines, and what was counted.
struct Seen {
  std::vector<std::string> lines;
  std::string counts;
  bool operator==(const Seen&) const = default;
};

std::string text_of(const std::vector<engine::RuleCounts>& counts) {
  std::string out;
  for (const engine::RuleCounts& c : counts) {
    out += c.rule;
    for (const std::uint64_t n : {c.matches, c.timeouts, c.by_having, c.by_policy, c.suppressed, c.over_cap,
                                  c.missing_key, c.expression_errors, c.partial_matches}) {
      out += " " + std::to_string(n);
    }
    out += "\n";
  }
  return out;
}

class Run {
 public:
  Run(std::size_t lanes, std::uint32_t seed) : random_(seed), network_(network_of(kRules)) { make(lanes); }

  /// Many events of few keys, some at equal times, some without a key, flushed every `batch`.
  void push(int count, int batch) {
    for (int i = 0; i < count; ++i) {
      const char* types[] = {"a", "a", "b", "b", "c", "d"};
      time_ += 0.25 * pick(3);
      const std::string type = types[pick(6)];
      const std::int64_t n = pick(5), k = pick(6);
      engine_->push(k == 0 ? make_event(network_->fields(), type, time_, offset_++, {{"n", Value::integer(n)}})
                           : make_event(network_->fields(), type, time_, offset_++,
                                        {{"n", Value::integer(n)}, {"k", Value::integer(k)}}));
      if ((i + 1) % batch == 0) engine_->flush();
    }
    engine_->flush();
  }
  /// Saves, and goes on with another number of lanes.
  void restart(std::size_t lanes) {
    state::WriteBatch batch;
    engine_->save(batch);
    const auto backend = state::memory_backend();
    REQUIRE(backend->commit(batch).has_value());
    make(lanes);
    REQUIRE(engine_->restore(*backend, test::unread).has_value());
  }
  void reload(const std::string& more) {
    network_ = network_of(more + kRules, &network_->fields());
    CHECK(engine_->swap(network_, test::unread) == 7);
  }
  Seen finish() {
    engine_->finish();
    seen_.counts = text_of(engine_->counts());
    return std::move(seen_);
  }
  Engine& engine() { return *engine_; }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint32_t>(n)); }
  void make(std::size_t lanes) {
    engine::EngineOptions options;
    options.lanes = lanes;
    options.track_changes = true;
    engine_ =
        std::make_unique<Engine>(network_, options,
                                 Engine::Handlers{[this](const engine::MatchView& match) {
                                                    seen_.lines.push_back(to_json(*match.take(), EventsForm::kLines));
                                                  },
                                                  nullptr});
  }

  std::mt19937 random_;
  std::shared_ptr<const nfa::Network> network_;
  std::unique_ptr<Engine> engine_;
  double time_ = 0;
  std::int64_t offset_ = 0;
  Seen seen_;
};

}  // namespace

TEST_CASE(
    "lanes under chained rules: the same results in the same order, with the same counts, for any number and any "
    "batches") {
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    INFO("seed " << seed);
    Run one(1, seed);
    one.push(600, 1);
    const Seen expected = one.finish();
    CHECK(expected.lines.size() > 500);
    for (const std::size_t lanes : {1U, 2U, 4U, 7U}) {
      for (const int batch : {1, 7, 500, 2000}) {
        Run run(lanes, seed);
        run.push(600, batch);
        CHECK((run.finish() == expected));
      }
    }
  }
}

TEST_CASE("lanes under chained rules: more events at once than are worked together") {
  Run one(1, 5), four(4, 5);
  one.push(3000, 1);
  four.push(3000, 3000);
  CHECK((four.finish() == one.finish()));
}

TEST_CASE("lanes under chained rules: a key's partial matches go on after a restart with another number of lanes") {
  Run one(1, 3), many(4, 3);
  for (const std::size_t lanes : {3U, 1U, 8U, 4U}) {
    one.push(150, 1);
    many.push(150, 150);
    one.restart(1);
    many.restart(lanes);
    CHECK(text_of(many.engine().counts()) == text_of(one.engine().counts()));
  }
  CHECK((many.finish() == one.finish()));
}

TEST_CASE("lanes under chained rules: a reload keeps each key in its lane") {
  Run one(1, 4), many(4, 4);
  for (Run* run : {&one, &many}) {
    run->push(300, run == &one ? 1 : 300);
    // Another rule before the others moves their places.
    run->reload("RULE aa KEY k MATCH paired AS p THEN top WITHIN 1m EMIT p.n AS n INTO more\n");
    run->push(300, run == &one ? 1 : 300);
  }
  CHECK((many.finish() == one.finish()));
}
