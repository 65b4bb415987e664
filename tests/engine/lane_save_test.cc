/// A save that is written a part at a time, while events go on, is the state as it was when it began.
#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "state/memory_backend.h"
#include "tests/support/rules.h"

using namespace cepd;
using engine::Engine;

namespace {

// Prefixes with one reader and with several, runs, marks, deadlines, a cap that is met, limits.
const std::string kRules =
    "RULE a KEY u MATCH A THEN B WITHIN 20s AFTER MATCH NO SKIP "
    "RULE b KEY u MATCH A THEN B[x > 5] WITHIN 9s "
    "RULE c KEY u MATCH A THEN ANY B THEN A WITHIN 15s AFTER MATCH CONSUME LIMIT 2 PER 30s "
    "RULE d KEY u MATCH B AS first THEN A[x = first.x] WITHIN 20s AFTER MATCH SKIP TO NEXT "
    "RULE e KEY u MATCH B[x > 7] THEN NOT A WITHIN 6s "
    "RULE f MATCH A[x = 3] THEN B[x = 4] WITHIN 8s ON TIMEOUT "
    "RULE g KEY x MATCH A+ THEN B WITHIN 5s";

/// Tells for each event what it made.
class Run {
 public:
  /// `stored`: keys are read from it when they are touched.
  explicit Run(std::shared_ptr<const nfa::Network> network, std::size_t lanes, state::StateBackend* stored = nullptr)
      : network_(std::move(network)) {
    engine::EngineOptions options;
    options.stored = stored;
    options.track_changes = true;
    options.max_partial_matches = 12;
    options.lanes = lanes;
    engine_ = std::make_unique<Engine>(network_, options,
                                       Engine::Handlers{[this](const engine::MatchView& view) {
                                                          const MatchPtr match = view.take();
                                                          seen_ += match->rule + " " + to_string(match->id) + "\n";
                                                        },
                                                        {}});
  }
  std::string push(std::size_t number) {
    std::mt19937 random(static_cast<unsigned>(number));
    const auto u = static_cast<std::int64_t>(random() % 9), x = static_cast<std::int64_t>(random() % 10);
    engine_->push(test::make_event(network_->fields(), random() % 2 == 0 ? "A" : "B", static_cast<double>(number) / 4,
                                   static_cast<std::int64_t>(number),
                                   {{"u", Value::integer(u)}, {"x", Value::integer(x)}}));
    engine_->flush();
    return std::exchange(seen_, {});
  }
  Engine* operator->() { return engine_.get(); }

 private:
  std::shared_ptr<const nfa::Network> network_;
  std::unique_ptr<Engine> engine_;
  std::string seen_;
};

void compare(std::size_t lanes, bool read_late) {
  const auto network = test::network_of(kRules);
  constexpr std::size_t kEvents = 3'000, kAfter = 60;
  Run engine(network, lanes);
  std::mt19937 random(5);
  std::vector<std::string> made;
  struct Save {
    std::size_t at;
    std::unique_ptr<state::StateBackend> backend;
  };
  std::vector<Save> saves;
  // One directory over all of them: a save holds what has changed since the one before.
  state::WriteBatch all, part;
  bool saving = false;
  for (std::size_t i = 0; i < kEvents; ++i) {
    if (!saving && random() % 20 == 0) {
      engine->begin_save();
      saving = true;
      saves.push_back({i, nullptr});
    }
    made.push_back(engine.push(i));
    if (!saving || random() % 3 != 0) continue;
    saving = engine->save_some(part, random() % 400);
    if (saving) continue;
    all.append(std::exchange(part, {}));
    saves.back().backend = state::memory_backend();
    REQUIRE(saves.back().backend->commit(all).has_value());
  }
  CHECK(saves.size() > 20);
  std::size_t with_matches = 0;
  for (const Save& save : saves) {
    if (save.backend == nullptr) continue;
    Run again(network, lanes, read_late ? save.backend.get() : nullptr);
    REQUIRE(again->restore(*save.backend, test::unread).has_value());
    for (std::size_t i = save.at; i < std::min(save.at + kAfter, kEvents); ++i) {
      REQUIRE(again.push(i) == made[i]);
      with_matches += made[i].empty() ? 0 : 1;
    }
  }
  CHECK(with_matches > 500);
}

}  // namespace

TEST_CASE("save: parts that are written later are as they were when it began") {
  SUBCASE("one lane") { compare(1, false); }
  SUBCASE("three lanes") { compare(3, false); }
  SUBCASE("one lane, and keys are read when they are touched or due") { compare(1, true); }
  SUBCASE("three lanes, likewise") { compare(3, true); }
}

TEST_CASE("save: a reload in between leaves the rest of it as it was") {
  const auto network = test::network_of(kRules);
  Run engine(network, 1);
  for (std::size_t i = 0; i < 100; ++i) engine.push(i);
  state::WriteBatch batch;
  engine->begin_save();
  CHECK(engine->save_some(batch, 1));
  engine->swap(test::network_of("RULE z MATCH A", &network->fields()), test::unread);
  CHECK_FALSE(engine->save_some(batch, 1));
  const auto backend = state::memory_backend();
  REQUIRE(backend->commit(batch).has_value());
  Run again(network, 1), whole(network, 1);
  REQUIRE(again->restore(*backend, test::unread).has_value());
  for (std::size_t i = 0; i < 100; ++i) whole.push(i);
  for (std::size_t i = 100; i < 140; ++i) CHECK(again.push(i) == whole.push(i));
}
