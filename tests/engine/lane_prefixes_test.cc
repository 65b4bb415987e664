/// What rules whose patterns begin alike share, and what of it stays each rule's own.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "engine/engine.h"
#include "state/memory_backend.h"
#include "tests/support/rules.h"

using namespace cepd;
using engine::Engine;
using test::make_event;
using test::network_of;

namespace {

/// Counts matches by rule.
class Counting {
 public:
  explicit Counting(const std::string& rules, engine::EngineOptions options = {})
      : network_(network_of(rules)), options_(options) {
    make();
  }

  void push(const std::string& type, std::int64_t second, test::Fields fields = {}) {
    engine_->push(make_event(network_->fields(), type, static_cast<double>(second), next_++, fields));
  }
  std::size_t reload(const std::string& rules) {
    network_ = network_of(rules, &network_->fields());
    return engine_->swap(network_, test::unread);
  }
  /// The same state in an engine of its own, with these rules.
  void restart(const std::string& rules) {
    state::WriteBatch batch;
    engine_->save(batch);
    REQUIRE(backend_->commit(batch).has_value());
    network_ = network_of(rules, &network_->fields());
    make();
    REQUIRE(engine_->restore(*backend_, test::unread).has_value());
  }

  void set_cap(std::size_t cap) { options_.max_partial_matches = cap; }
  std::map<std::string, int> take() { return std::exchange(matches_, {}); }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const engine::RuleCounts& rule : engine_->counts()) sum += rule.bytes;
    return sum;
  }
  std::map<std::string, std::uint64_t> waiting() const {
    std::map<std::string, std::uint64_t> out;
    for (const engine::RuleCounts& rule : engine_->counts()) out[rule.rule] = rule.partial_matches;
    return out;
  }

  std::map<std::string, std::uint64_t> over_cap() const {
    std::map<std::string, std::uint64_t> out;
    for (const engine::RuleCounts& rule : engine_->counts()) out[rule.rule] = rule.over_cap;
    return out;
  }

 private:
  void make() {
    engine_ = std::make_unique<Engine>(
        network_, options_,
        Engine::Handlers{[this](const engine::MatchView& match) { ++matches_[match.take()->rule]; }, {}});
  }

  std::shared_ptr<const nfa::Network> network_;
  engine::EngineOptions options_;
  std::unique_ptr<state::StateBackend> backend_ = state::memory_backend();
  std::unique_ptr<Engine> engine_;
  std::map<std::string, int> matches_;
  std::int64_t next_ = 0;
};

using Matches = std::map<std::string, int>;
using Waiting = std::map<std::string, std::uint64_t>;

engine::EngineOptions tracked() {
  engine::EngineOptions options;
  options.track_changes = true;
  return options;
}

const std::string kAll = "RULE all MATCH A THEN B WITHIN 1h AFTER MATCH NO SKIP ";
const std::string kOne = "RULE one MATCH A THEN B WITHIN 1h AFTER MATCH SKIP PAST LAST ";
const std::string kBig = "RULE big MATCH A THEN B[v > 5] WITHIN 1h AFTER MATCH NO SKIP ";

}  // namespace

TEST_CASE("prefixes: 1,000 rules with one prefix hold one copy of its partial matches") {
  const auto bytes_of = [](int rules, bool share) {
    std::string text;
    for (int i = 0; i < rules; ++i) {
      const std::string number = std::to_string(i);
      text += "RULE r" + number + " KEY u MATCH A[v < 900] THEN B THEN C[v > " + number + "] WITHIN " +
              std::to_string(1'000 + i) + "s " + (i % 3 == 0 ? "HAVING A.v > " + number + " " : "") +
              (i % 2 == 0 ? "AFTER MATCH NO SKIP " : "") + (i % 5 == 0 ? "EMIT A.v AS v " : "");
    }
    engine::EngineOptions options;
    options.share_prefixes = share;
    Counting engine(text, options);
    for (int i = 0; i < 200; ++i) {
      engine.push(i % 10 == 9 ? "B" : "A", i, {{"u", Value::integer(1)}, {"v", Value::integer(i)}});
    }
    for (const auto& [rule, waiting] : engine.waiting()) CHECK(waiting == 180);
    return engine.bytes();
  };
  const std::uint64_t one = bytes_of(1, false);
  CHECK(bytes_of(1'000, true) < 2 * one);
  CHECK(bytes_of(100, false) > 50 * one);
}

TEST_CASE("prefixes: what one rule takes or drops is the others' all the same") {
  Counting engine(kAll + kOne + kBig);
  for (int i = 0; i < 4; ++i) engine.push("A", i);
  CHECK(engine.waiting() == Waiting{{"all", 4}, {"big", 4}, {"one", 4}});
  engine.push("B", 10, {{"v", Value::integer(1)}});
  CHECK(engine.take() == Matches{{"all", 4}, {"one", 1}});
  CHECK(engine.waiting() == Waiting{{"all", 0}, {"big", 4}, {"one", 0}});
  engine.push("A", 11);
  engine.push("B", 12, {{"v", Value::integer(9)}});
  CHECK(engine.take() == Matches{{"all", 1}, {"big", 5}, {"one", 1}});
  engine.push("B", 13, {{"v", Value::integer(9)}});
  CHECK(engine.take().empty());
}

TEST_CASE("prefixes: an event that a match has used begins no other, however many were before it") {
  for (const std::string policy :
       {"", "AFTER MATCH CONSUME", "AFTER MATCH SKIP PAST LAST", "AFTER MATCH SKIP TO NEXT"}) {
    for (const bool share : {true, false}) {
      CAPTURE(policy);
      CAPTURE(share);
      engine::EngineOptions options;
      options.share_prefixes = share;
      Counting engine("RULE r MATCH A THEN A WITHIN 1h " + policy, options);
      for (int i = 0; i < 1'000; ++i) engine.push("A", i / 3);
      CHECK(engine.take() == Matches{{"r", policy.ends_with("NEXT") ? 999 : 500}});
    }
  }
}

TEST_CASE("prefixes: each rule has its own WITHIN") {
  Counting engine(
      "RULE long MATCH A THEN B WITHIN 1h AFTER MATCH NO SKIP RULE short MATCH A THEN B WITHIN 10s AFTER MATCH NO "
      "SKIP");
  engine.push("A", 0);
  engine.push("A", 5);
  engine.push("C", 11);
  CHECK(engine.waiting() == Waiting{{"long", 2}, {"short", 1}});
  engine.push("B", 12);
  CHECK(engine.take() == Matches{{"long", 2}, {"short", 1}});
}

TEST_CASE("prefixes: each rule has its own cap") {
  engine::EngineOptions options;
  options.max_partial_matches = 3;
  // `three` has a partial match of its own, behind the prefix, when the others have not.
  Counting engine(kAll + "RULE three MATCH A THEN B+ THEN C WITHIN 1h AFTER MATCH NO SKIP", options);
  engine.push("A", 0);
  engine.push("B", 1);
  CHECK(engine.take() == Matches{{"all", 1}});
  for (int i = 0; i < 3; ++i) engine.push("A", 2 + i);
  CHECK(engine.waiting() == Waiting{{"all", 3}, {"three", 3}});
  engine.push("C", 9);
  CHECK(engine.take().empty());  // the first A of `three` was dropped
  engine.push("A", 10);
  engine.push("B", 11);
  CHECK(engine.take() == Matches{{"all", 3}});
  engine.push("C", 12);
  CHECK(engine.take() == Matches{{"three", 3}});
}

TEST_CASE("prefixes: the cap counts what a rule holds behind the prefix after a restart too") {
  engine::EngineOptions options = tracked();
  options.max_partial_matches = 3;
  const std::string rules = "RULE three MATCH A THEN B+ THEN C WITHIN 1h AFTER MATCH NO SKIP";
  Counting engine(rules, options);
  engine.push("A", 0);
  engine.push("B", 1);
  engine.restart(rules);
  for (int i = 0; i < 3; ++i) {
    engine.push("A", 2 + i);
    engine.restart(rules);
  }
  engine.push("C", 9);
  CHECK(engine.take().empty());
}

TEST_CASE("prefixes: a cap that is lower after a restart holds for all at once") {
  engine::EngineOptions options = tracked();
  options.max_partial_matches = 4;
  const std::string rules = kAll + "RULE long MATCH A THEN D THEN B WITHIN 1h AFTER MATCH NO SKIP";
  Counting engine(rules, options);
  for (int i = 0; i < 4; ++i) engine.push("A", i);
  engine.set_cap(2);
  engine.restart(rules);
  CHECK(engine.waiting() == Waiting{{"all", 2}, {"long", 2}});
}

TEST_CASE("prefixes: what an event comes to in several of them is counted against the cap as a whole") {
  engine::EngineOptions options;
  options.max_partial_matches = 5;
  Counting engine("RULE all MATCH B THEN ANY A THEN ANY A THEN C WITHIN 7s AFTER MATCH NO SKIP", options);
  engine.push("B", 0);
  for (int i = 0; i < 3; ++i) engine.push("A", 1);
  // Of one first event: B, three of B A and three of B A A.
  CHECK(engine.over_cap() == Waiting{{"all", 7}});
  CHECK(engine.waiting() == Waiting{{"all", 0}});
}

TEST_CASE("prefixes: at the cap a rule leaves what others with the same longer prefix have") {
  engine::EngineOptions options;
  options.max_partial_matches = 2;
  Counting engine(
      "RULE one MATCH A THEN B THEN C WITHIN 1h AFTER MATCH NO SKIP "
      "RULE two MATCH A THEN B THEN C[v > 5] WITHIN 1h AFTER MATCH NO SKIP",
      options);
  for (int i = 0; i < 4; ++i) engine.push("A", i);
  CHECK(engine.waiting() == Waiting{{"one", 2}, {"two", 2}});
  CHECK(engine.over_cap() == Waiting{{"one", 2}, {"two", 2}});
  engine.push("B", 5);
  engine.push("C", 6, {{"v", Value::integer(9)}});
  CHECK(engine.take() == Matches{{"one", 2}, {"two", 2}});
}

TEST_CASE("prefixes: over reloads a rule that is new sees only what comes, and the others keep what they have") {
  Counting engine(kAll);
  engine.push("A", 0);
  CHECK(engine.reload(kAll + kOne) == 1);
  CHECK(engine.waiting() == Waiting{{"all", 1}, {"one", 0}});
  SUBCASE("the new one") {
    engine.push("B", 1);
    CHECK(engine.take() == Matches{{"all", 1}});
  }
  SUBCASE("the old one goes") {
    engine.push("A", 1);
    CHECK(engine.reload(kOne) == 1);
    CHECK(engine.waiting() == Waiting{{"one", 1}});
    engine.push("B", 2);
    CHECK(engine.take() == Matches{{"one", 1}});
  }
  SUBCASE("one that tells of time-outs keeps its partial matches for itself, and goes on so") {
    engine.push("A", 1);
    CHECK(engine.reload(kAll + "ON TIMEOUT " + kOne) == 2);
    CHECK(engine.waiting() == Waiting{{"all", 2}, {"one", 1}});
    CHECK(engine.reload(kAll + kOne) == 2);
    CHECK(engine.waiting() == Waiting{{"all", 2}, {"one", 1}});
    engine.push("A", 2);
    CHECK(engine.waiting() == Waiting{{"all", 3}, {"one", 2}});
    engine.push("B", 3);
    CHECK(engine.take() == Matches{{"all", 3}, {"one", 1}});
  }
}

TEST_CASE("prefixes: what each rule has taken and since when it looks is kept over a restart") {
  Counting engine(kAll + kBig, tracked());
  engine.push("A", 0);
  engine.push("A", 1);
  engine.push("B", 2, {{"v", Value::integer(1)}});
  CHECK(engine.take() == Matches{{"all", 2}});
  engine.push("A", 3);
  engine.restart(kAll + kBig + kOne);
  CHECK(engine.waiting() == Waiting{{"all", 1}, {"big", 3}, {"one", 0}});
  engine.restart(kAll + kBig + kOne);
  engine.push("B", 4, {{"v", Value::integer(9)}});
  CHECK(engine.take() == Matches{{"all", 1}, {"big", 3}});
}
