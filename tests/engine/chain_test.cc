/// Rules that read what other rules make: the order of derived events and of results, restore and reload in a chain.

#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "engine/engine.h"
#include "state/memory_backend.h"
#include "tests/support/rules.h"

using namespace cepd;
using engine::Engine;
using test::make_event;
using test::network_of;

namespace {

/// An engine that notes results as "rule@seconds event event …": an event is its offset, a derived one its maker and
/// how many that one had reported with it.
class Chain {
 public:
  explicit Chain(const std::string& rules) : network_(network_of(rules)), backend_(state::memory_backend()) { make(); }

  void push(const std::string& type, double seconds, std::int64_t offset, test::Fields fields = {}) {
    engine_->push(make_event(network_->fields(), type, seconds, offset, fields));
  }
  std::size_t reload(const std::string& rules) {
    network_ = network_of(rules, &network_->fields());
    return engine_->swap(network_, test::unread);
  }
  /// Saves, and goes on in another engine that is restored from it.
  void restart() {
    state::WriteBatch batch;
    engine_->save(batch);
    REQUIRE(backend_->commit(batch).has_value());
    make();
    REQUIRE(engine_->restore(*backend_, test::unread).has_value());
  }
  Engine* operator->() { return engine_.get(); }
  std::vector<std::string> take() { return std::exchange(seen_, {}); }

  std::vector<MatchId> ids;

 private:
  void make() {
    engine::EngineOptions options;
    options.track_changes = true;
    engine_ = std::make_unique<Engine>(
        network_, options, Engine::Handlers{[this](const engine::MatchView& match) { note(*match.take()); }, nullptr});
  }
  void note(const Match& match) {
    names_[match.id] = match.rule + "#" + std::to_string(++reported_[match.rule]);
    ids.push_back(match.id);
    std::string text = (match.kind == MatchKind::kTimeout ? "timeout " : "") + match.rule + "@" +
                       std::to_string(to_us(match.time) / 1'000'000);
    for (const Binding& binding : match.bindings) {
      for (const EventPtr& event : binding.events) {
        text += " " + (event->maker() != nullptr ? names_.at(*event->maker()) : std::to_string(event->position.offset));
      }
    }
    seen_.push_back(text);
  }

  std::shared_ptr<const nfa::Network> network_;
  std::unique_ptr<state::StateBackend> backend_;
  std::unique_ptr<Engine> engine_;
  std::map<MatchId, std::string> names_;
  std::map<std::string, int> reported_;
  std::vector<std::string> seen_;
};

using Seen = std::vector<std::string>;

}  // namespace

TEST_CASE("chain: results at the input event first, by rule name, then those at each derived event in their order") {
  Chain chain(
      "RULE z MATCH e EMIT 1 AS v INTO z1\n"
      "RULE y MATCH e EMIT 1 AS v INTO y1\n"
      "RULE b MATCH e | z1 AS x EMIT 2 AS v INTO b2\n"
      "RULE a MATCH e | y1 | b2 AS x\n");
  chain.push("e", 0, 0);
  // y and z are of level 1, b of 2, a of 3: y's event stands before z's, and b's two behind both.
  CHECK(chain.take() == Seen{"a@0 0", "b@0 0", "y@0 0", "z@0 0", "a@0 y#1", "b@0 z#1", "a@0 b#1", "a@0 b#2"});
  chain.push("e", 0, 1);
  CHECK(chain.take().front() == "a@0 1");
}

TEST_CASE("chain: a rule of a higher level that reads the input event itself makes its event behind lower levels'") {
  Chain chain(
      "RULE a MATCH e | low AS x EMIT 2 AS v INTO high\n"
      "RULE m MATCH e EMIT 1 AS v INTO low\n"
      "RULE r MATCH low THEN high WITHIN 1s\n"
      "RULE s MATCH high THEN low WITHIN 1s\n");
  chain.push("e", 0, 0);
  CHECK(chain.take() == Seen{"a@0 0", "m@0 0", "a@0 m#1", "r@0 m#1 a#1"});
}

TEST_CASE("chain: a deadline's results level by level, each with the results at what it made") {
  Chain chain(
      "RULE z KEY k MATCH e THEN NOT x WITHIN 10s EMIT 1 AS v INTO quiet\n"
      "RULE b KEY k MATCH e THEN NOT quiet WITHIN 10s EMIT 1 AS v INTO noisy\n"
      "RULE a KEY k MATCH quiet AS q THEN NOT x WITHIN 5s\n"
      "RULE c KEY k MATCH e THEN NOT noisy WITHIN 10s\n"
      "RULE d KEY k MATCH quiet | noisy AS q\n");
  chain.push("e", 0, 0, {{"k", Value::integer(1)}});
  chain.push("e", 0, 1, {{"k", Value::integer(2)}});
  chain.push("x", 1, 2, {{"k", Value::integer(2)}});
  chain.push("f", 10, 3);
  CHECK(chain.take().empty());
  chain->advance(event_time_us(10'000'001));
  // Of key 1 z is quiet, so b's absence is broken and c's holds; of key 2 b's holds, so c's is broken.
  CHECK(chain.take() == Seen{"z@10 0", "d@10 z#1", "b@10 1", "d@10 b#1", "c@10 0"});
  chain->finish();
  CHECK(chain.take() == Seen{"a@15 z#1"});
}

TEST_CASE("chain: of an instant first the input events with all that they set off, then the deadlines") {
  Chain chain(
      "RULE a MATCH e THEN NOT x WITHIN 10s EMIT 1 AS v INTO quiet\n"
      "RULE b MATCH f EMIT 1 AS v INTO seen\n"
      "RULE c MATCH seen THEN quiet WITHIN 1s\n"
      "RULE d MATCH quiet THEN seen WITHIN 1s\n");
  chain.push("e", 0, 0);
  chain.push("f", 10, 1);
  chain->finish();
  CHECK(chain.take() == Seen{"b@10 1", "a@10 0", "c@10 b#1 a#1"});
}

TEST_CASE("chain: time-outs make events at the expiry, in the order of deadlines") {
  Chain chain(
      "RULE a KEY k MATCH e THEN x WITHIN 10s ON TIMEOUT EMIT 1 AS v INTO missed\n"
      "RULE b MATCH missed AS one THEN missed AS two WITHIN 1m\n");
  chain.push("e", 0, 0, {{"k", Value::integer(2)}});
  chain.push("e", 0, 1, {{"k", Value::integer(1)}});
  chain->finish();
  CHECK(chain.take() == Seen{"timeout a@10 1", "timeout a@10 0", "b@10 a#1 a#2"});
}

TEST_CASE("chain: ids of matches of derived events are the same in every run, and hash the maker") {
  const std::string rules =
      "RULE a KEY k MATCH e EMIT k INTO made\nRULE b MATCH made AS one THEN made AS two WITHIN 1m\n";
  Chain once(rules), again(rules), other(rules);
  for (Chain* chain : {&once, &again, &other}) {
    chain->push("e", 0, 0, {{"k", Value::integer(1)}});
    chain->push("e", 1, chain == &other ? 2 : 1, {{"k", Value::integer(1)}});
  }
  REQUIRE(once.ids.size() == 3);
  CHECK(again.ids == once.ids);
  CHECK(other.ids.front() == once.ids.front());
  CHECK(other.ids.back() != once.ids.back());
}

TEST_CASE("chain: partial matches that hold derived events are saved and restored, also those of SHADOW rules") {
  const std::string rules =
      "RULE a KEY k MATCH e EMIT e.n AS n, collect(e.n) AS l INTO made\n"
      "RULE b KEY k MATCH made AS m THEN f WITHIN 1m EMIT m.n AS n INTO second\n"
      "RULE s SHADOW KEY k MATCH e EMIT e.n AS n INTO tried\n"
      "RULE t SHADOW KEY k MATCH tried AS m THEN second WITHIN 1m\n"
      "RULE u KEY k MATCH made AS m THEN NOT f WITHIN 5s EMIT m.l[0] AS n INTO third\n"
      "RULE v KEY k MATCH made AS m THEN third[n = 7] WITHIN 1m\n";
  Chain through(rules), restarted(rules);
  for (Chain* chain : {&through, &restarted}) {
    for (int i = 0; i < 3; ++i) {
      chain->push("e", i, 2 * i, {{"k", Value::integer(i % 2)}, {"n", Value::integer(7)}});
      if (chain == &restarted) chain->restart();
    }
    chain->push("f", 4, 7, {{"k", Value::integer(1)}});
    if (chain == &restarted) chain->restart();
    (*chain)->finish();
  }
  const Seen seen = through.take();
  CHECK(std::find(seen.begin(), seen.end(), "t@4 s#2 b#1") != seen.end());
  CHECK(std::find(seen.begin(), seen.end(), "v@5 a#1 u#1") != seen.end());
  CHECK(restarted.take() == seen);
  CHECK(restarted.ids == through.ids);
}

TEST_CASE("chain: a reload puts a maker under a rule that waits, and takes it away again") {
  const std::string reader = "RULE r MATCH e THEN NOT made WITHIN 10s\n";
  const std::string maker = "RULE m MATCH e THEN NOT x WITHIN 10s EMIT 1 AS v INTO made\n";
  Chain chain(reader);
  chain.push("e", 0, 0);
  CHECK(chain.reload(reader + maker) == 1);
  chain.push("e", 5, 1);
  chain->advance(event_time_us(16'000'000));
  // The first event began before there was a maker; now r is of level 2 and its deadline comes behind m's.
  CHECK(chain.take() == Seen{"r@10 0", "m@15 1"});
  chain.push("e", 20, 2);
  CHECK(chain.reload(reader) == 1);
  chain->finish();
  CHECK(chain.take() == Seen{"r@30 2"});
}

TEST_CASE("chain: a reload that moves a rule up keeps what it holds") {
  Chain chain("RULE a MATCH e THEN made AS m WITHIN 1m\nRULE b MATCH f EMIT 1 AS v INTO made\n");
  chain.push("e", 0, 0);
  CHECK(chain.reload("RULE a MATCH e THEN made AS m WITHIN 1m\nRULE b MATCH g EMIT 1 AS v INTO made\n"
                     "RULE c MATCH f EMIT 1 AS v INTO g\n") == 1);
  chain.push("f", 1, 1);
  CHECK(chain.take() == Seen{"c@1 1", "b@1 c#1", "a@1 0 b#1"});
}
