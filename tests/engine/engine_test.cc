#include "engine/engine.h"

#include <doctest/doctest.h>

#include <vector>

#include "state/memory_backend.h"
#include "tests/support/rules.h"

using namespace cepd;
using engine::Engine;
using test::make_event;
using test::network_of;

namespace {

/// An engine that notes what it reports as "rule@seconds element:offset,offset element:…".
class Watched {
 public:
  explicit Watched(std::shared_ptr<const nfa::Network> network, engine::EngineOptions options = {})
      : network_(std::move(network)), options_(options) {
    make();
  }

  void make() {
    engine_ =
        std::make_unique<Engine>(network_, options_,
                                 Engine::Handlers{[this](const engine::MatchView& match) { note(*match.take()); },
                                                  [this](const Event& event, DropReason reason, std::string_view) {
                                                    seen.push_back(std::string(drop_reason_name(reason)) + ":" +
                                                                   std::to_string(event.position.offset));
                                                  }});
  }
  void push(const std::string& type, double seconds, std::int64_t offset, test::Fields fields = {}) {
    engine_->push(make_event(network_->fields(), type, seconds, offset, fields));
  }
  std::size_t reload(const std::string& rules) {
    network_ = network_of(rules, &network_->fields());
    return engine_->swap(network_, test::unread);
  }
  Engine& operator*() { return *engine_; }
  Engine* operator->() { return engine_.get(); }

  std::vector<std::string> seen;
  std::vector<MatchId> ids;

 private:
  void note(const Match& match) {
    std::string text = match.rule + "@" + std::to_string(to_us(match.time) / 1'000'000);
    if (match.kind == MatchKind::kTimeout) text = "timeout " + text;
    for (const Binding& binding : match.bindings) {
      text += " " + binding.name + ":";
      for (std::size_t i = 0; i < binding.events.size(); ++i) {
        text += (i == 0 ? "" : ",") + std::to_string(binding.events[i]->position.offset);
      }
    }
    seen.push_back(text);
    ids.push_back(match.id);
  }

  std::shared_ptr<const nfa::Network> network_;
  engine::EngineOptions options_;
  std::unique_ptr<Engine> engine_;
};

using Seen = std::vector<std::string>;

engine::EngineOptions tracked() {
  engine::EngineOptions options;
  options.track_changes = true;
  return options;
}

void save_to(Engine& engine, state::StateBackend& backend) {
  state::WriteBatch batch;
  engine.save(batch);
  REQUIRE(backend.commit(batch).has_value());
}

std::size_t records(state::StateBackend& backend, state::Space space) {
  std::size_t count = 0;
  REQUIRE(backend
              .scan(space, {},
                    [&](std::string_view, std::string_view) -> Status {
                      ++count;
                      return {};
                    })
              .has_value());
  return count;
}

constexpr const char* kPair = "RULE pair KEY u MATCH A THEN B WITHIN 10s";

}  // namespace

TEST_CASE("engine: matches are reported at the event that completes them") {
  Watched engine(network_of(kPair));
  engine.push("A", 0, 0, {{"u", Value::integer(1)}});
  CHECK(engine.seen.empty());
  engine.push("B", 5, 1, {{"u", Value::integer(1)}});
  CHECK(engine.seen == Seen{"pair@5 A:0 B:1"});
}

TEST_CASE("engine: results of one instant go by rule name, then key, whatever the order of the text") {
  Watched engine(network_of("RULE z KEY u MATCH A\nRULE a KEY u MATCH A BY v"));
  engine.push("A", 0, 0, {{"u", Value::integer(1)}, {"v", Value::integer(2)}});
  CHECK(engine.seen == Seen{"a@0 A:0", "z@0 A:0"});
}

TEST_CASE("engine: absence falls due when the watermark passes, without a further event of the key") {
  Watched engine(network_of("RULE quiet KEY u MATCH A THEN NOT B WITHIN 10s"));
  engine.push("A", 0, 0, {{"u", Value::integer(1)}});
  engine.push("A", 10, 1, {{"u", Value::integer(2)}});
  CHECK(engine.seen.empty());
  engine->advance(event_time_us(10'000'001));
  CHECK(engine.seen == Seen{"quiet@10 A:0"});
  engine->finish();
  CHECK(engine.seen == Seen{"quiet@10 A:0", "quiet@20 A:1"});
}

TEST_CASE("engine: the same events under the same rule give the same id, under another key or rule another") {
  Watched one(network_of(kPair));
  Watched renamed(network_of("RULE pair KEY u MATCH A AS x THEN B AS y WITHIN 10s"));
  Watched other(network_of("RULE other KEY u MATCH A THEN B WITHIN 10s"));
  for (Watched* engine : {&one, &renamed, &other}) {
    engine->push("A", 0, 0, {{"u", Value::integer(1)}});
    engine->push("B", 5, 1, {{"u", Value::real(1.0)}});
  }
  REQUIRE(one.ids.size() == 1);
  CHECK(renamed.ids == one.ids);
  CHECK(other.ids != one.ids);
}

TEST_CASE("engine: a reload keeps partial matches of rules whose meaning did not change") {
  Watched engine(network_of(kPair));
  engine.push("A", 0, 0, {{"u", Value::integer(1)}});
  SUBCASE("other white space, actions and a limit") {
    CHECK(engine.reload(
              "# moved\nRULE pair\n  KEY u\n  MATCH A THEN B WITHIN 10s\n  LIMIT 5 PER 1h\n  DO log(\"hello\")") == 1);
    engine.push("B", 5, 1, {{"u", Value::integer(1)}});
    CHECK(engine.seen == Seen{"pair@5 A:0 B:1"});
  }
  SUBCASE("the same bound in other units") {
    CHECK(engine.reload("RULE pair KEY u MATCH A THEN B WITHIN 10000ms") == 1);
    engine.push("B", 5, 1, {{"u", Value::integer(1)}});
    CHECK(engine.seen == Seen{"pair@5 A:0 B:1"});
  }
  SUBCASE("another bound starts anew") {
    CHECK(engine.reload("RULE pair KEY u MATCH A THEN B WITHIN 11s") == 0);
    engine.push("B", 5, 1, {{"u", Value::integer(1)}});
    CHECK(engine.seen.empty());
  }
  SUBCASE("a field that is read for the first time starts anew: the events bound do not have it") {
    CHECK(engine.reload("RULE pair KEY u MATCH A THEN B WITHIN 10s EMIT A.extra AS extra") == 0);
  }
  SUBCASE("deadlines go on") {
    CHECK(engine.reload("RULE pair KEY u MATCH A THEN B WITHIN 10s ON TIMEOUT EMIT u") == 1);
    engine->advance(event_time_us(11'000'000));
    CHECK(engine.seen == Seen{"timeout pair@10 A:0"});
  }
  SUBCASE("a rule that is gone takes its partial matches with it") {
    CHECK(engine.reload("RULE else KEY u MATCH A THEN B WITHIN 10s") == 0);
    CHECK(engine.reload(kPair) == 0);
    engine.push("B", 5, 1, {{"u", Value::integer(1)}});
    CHECK(engine.seen.empty());
  }
}

TEST_CASE("engine: a rule that gets its time-outs back has them of what was forgotten in between, too") {
  const std::string rule = "RULE pair KEY u MATCH A THEN B WITHIN 10s ";
  const auto backend = state::memory_backend();
  engine::EngineOptions options = tracked();
  options.stored = backend.get();
  Watched engine(network_of(rule + "ON TIMEOUT EMIT u"), options);
  engine.push("A", 0, 0, {{"u", Value::integer(1)}});
  CHECK(engine.reload(rule) == 1);
  for (int second = 1; second < 4; ++second) {
    engine.push("A", second, second, {{"u", Value::integer(1)}});
    save_to(*engine, *backend);
    engine->saved();
    while (engine->evict(1'000)) {
    }
    CHECK(engine->key_counts().here == 0);
  }
  CHECK(engine.reload(rule + "ON TIMEOUT EMIT u") == 1);
  engine->advance(event_time_us(10'500'000));
  CHECK(engine.seen == Seen{"timeout pair@10 A:0"});
}

TEST_CASE("engine: what was saved goes on after a restore") {
  const auto backend = state::memory_backend();
  Watched engine(network_of("RULE pair KEY u MATCH A+ THEN B WITHIN 10s ON TIMEOUT EMIT u"), tracked());
  engine.push("A", 0, 0, {{"u", Value::integer(1)}});
  engine.push("A", 1, 1, {{"u", Value::string("two")}});
  save_to(*engine, *backend);
  CHECK(records(*backend, state::Space::kPartial) == 2);

  engine.make();
  const auto restored = engine->restore(*backend, test::unread);
  REQUIRE(restored.has_value());
  CHECK(restored->keys == 2);
  CHECK(restored->dropped == 0);
  engine.push("A", 0.5, 2, {{"u", Value::integer(1)}});  // the watermark was saved too
  engine.push("B", 2, 3, {{"u", Value::integer(1)}});
  engine->advance(event_time_us(20'000'000));
  CHECK(engine.seen == Seen{"late:2", "pair@2 A:0 B:3", "timeout pair@11 A:1"});
  save_to(*engine, *backend);
  CHECK(records(*backend, state::Space::kPartial) == 0);
}

TEST_CASE("engine: events held back by max_delay are saved and restored") {
  const auto backend = state::memory_backend();
  Watched engine(network_of(kPair), tracked());
  engine->set_max_delay(SourceId("s"), Micros(5'000'000));
  engine.push("A", 0, 0, {{"u", Value::integer(1)}});
  engine.push("B", 3, 1, {{"u", Value::integer(1)}});
  CHECK(engine->waiting() == 2);
  save_to(*engine, *backend);
  engine.make();
  engine->set_max_delay(SourceId("s"), Micros(5'000'000));
  std::size_t decoded = 0;
  REQUIRE(engine
              ->restore(*backend,
                        [&](const Event& event, std::string_view) {
                          ++decoded;
                          EventDraft again(event);
                          again.fields = {Value::integer(1)};
                          return again.build();
                        })
              .has_value());
  CHECK(decoded == 2);
  engine->finish();
  CHECK(engine.seen == Seen{"pair@3 A:0 B:1"});
}

TEST_CASE("engine: what a rule means does not depend on which types other rules name first") {
  const auto backend = state::memory_backend();
  const std::string rule = "RULE u MATCH a|b THEN c WITHIN 1h ON TIMEOUT RULE v MATCH a|b THEN d WITHIN 1h ";
  Watched before(network_of(rule), tracked());
  before.push("a", 0, 0);
  save_to(*before, *backend);
  Watched after(network_of("RULE t MATCH d THEN b THEN a WITHIN 1h " + rule), tracked());
  const auto restored = after->restore(*backend, test::unread);
  REQUIRE(restored.has_value());
  CHECK(restored->keys == 2);
  CHECK(restored->dropped == 0);
  after.push("c", 1, 1);
  after.push("d", 2, 2);
  CHECK(after.seen == Seen{"u@1 a|b#1:0 c:1", "v@2 a|b#1:0 d:2"});
}

TEST_CASE("engine: stored partial matches of a rule that changed are dropped and erased") {
  const auto backend = state::memory_backend();
  Watched before(network_of(kPair), tracked());
  before.push("A", 0, 0, {{"u", Value::integer(1)}});
  save_to(*before, *backend);
  Watched after(network_of("RULE pair KEY u MATCH A THEN B WITHIN 9s"), tracked());
  const auto restored = after->restore(*backend, test::unread);
  REQUIRE(restored.has_value());
  CHECK(restored->keys == 0);
  CHECK(restored->dropped == 1);
  save_to(*after, *backend);
  CHECK(records(*backend, state::Space::kPartial) == 0);
}

TEST_CASE("engine: a reload erases what was stored for rules that are gone") {
  const auto backend = state::memory_backend();
  Watched engine(network_of(kPair), tracked());
  engine.push("A", 0, 0, {{"u", Value::integer(1)}});
  save_to(*engine, *backend);
  engine.reload("RULE other KEY u MATCH A THEN B WITHIN 10s");
  save_to(*engine, *backend);
  CHECK(records(*backend, state::Space::kPartial) == 0);
}

TEST_CASE("engine: what a LIMIT counted goes with it, also from what is stored") {
  constexpr const char* kLimited = "RULE r KEY u MATCH A THEN B WITHIN 1h AFTER MATCH NO SKIP LIMIT 1 PER 1h";
  constexpr const char* kUnlimited = "RULE r KEY u MATCH A THEN B WITHIN 1h AFTER MATCH NO SKIP";
  const auto backend = state::memory_backend();
  Watched engine(network_of(kLimited), tracked());
  engine.push("A", 0, 0, {{"u", Value::integer(1)}});
  engine.push("B", 1, 1, {{"u", Value::integer(1)}});
  engine.push("A", 2, 2, {{"u", Value::integer(1)}});
  save_to(*engine, *backend);
  SUBCASE("over a reload") {
    engine.reload(kUnlimited);
    save_to(*engine, *backend);
  }
  SUBCASE("over a restart") {
    Watched unlimited(network_of(kUnlimited), tracked());
    REQUIRE(unlimited->restore(*backend, test::unread).has_value());
    save_to(*unlimited, *backend);
  }
  Watched after(network_of(kLimited), tracked());
  REQUIRE(after->restore(*backend, test::unread).has_value());
  after.push("B", 3, 3, {{"u", Value::integer(1)}});
  CHECK(after.seen == Seen{"r@3 A:2 B:3"});
  CHECK(after->counts().front().suppressed == 0);
}

TEST_CASE("engine: a LIMIT that a reload brought counts from the reload on, though no event came after it") {
  const std::string rule = "RULE r KEY u MATCH A THEN NOT B WITHIN 10s AFTER MATCH NO SKIP";
  const auto backend = state::memory_backend();
  Watched engine(network_of(rule), tracked());
  engine.push("A", 0, 0, {{"u", Value::integer(1)}});
  engine.push("A", 5, 1, {{"u", Value::integer(1)}});
  engine.reload(rule + " LIMIT 1 PER 1h");
  engine->advance(event_time_us(12'000'000));
  CHECK(engine.seen == Seen{"r@10 A:0"});
  save_to(*engine, *backend);
  Watched after(network_of(rule + " LIMIT 1 PER 1h"), tracked());
  REQUIRE(after->restore(*backend, test::unread).has_value());
  after->advance(event_time_us(20'000'000));
  CHECK(after.seen == Seen{"r@15 A:1"});
  CHECK(after->counts().front().suppressed == 1);
}

/// The stored partial matches of the only rule and key.
std::pair<std::string, std::string> only_record(state::StateBackend& backend) {
  std::pair<std::string, std::string> found;
  REQUIRE(backend
              .scan(state::Space::kPartial, {},
                    [&](std::string_view key, std::string_view record) -> Status {
                      found = {std::string(key), std::string(record)};
                      return {};
                    })
              .has_value());
  return found;
}

TEST_CASE("engine: a damaged record is an error, never a crash or a wrong partial match") {
  const auto backend = state::memory_backend();
  Watched engine(network_of("RULE pair KEY u MATCH A+ THEN B WITHIN 10s"), tracked());
  engine.push("A", 0, 0, {{"u", Value::string("somebody")}});
  engine.push("A", 1, 1, {{"u", Value::string("somebody")}});
  save_to(*engine, *backend);
  const auto [key, record] = only_record(*backend);
  for (std::size_t length = 0; length < record.size(); ++length) {
    state::WriteBatch batch;
    batch.put(state::Space::kPartial, key, record.substr(0, length));
    REQUIRE(backend->commit(batch).has_value());
    engine.make();
    const auto restored = engine->restore(*backend, test::unread);
    REQUIRE(!restored.has_value());
    CHECK(restored.error().code == Errc::kCorrupt);
  }
}

TEST_CASE("engine: whatever a record says, it is refused or gives partial matches that hold their events") {
  const auto backend = state::memory_backend();
  for (const char* rule :
       {"RULE r KEY u MATCH A AS a THEN B[v > a.v] WITHIN 10s AFTER MATCH NO SKIP",
        "RULE r KEY u MATCH A+ THEN ANY B WITHIN 10s", "RULE r KEY u MATCH A THEN NOT B WITHIN 10s"}) {
    CAPTURE(rule);
    Watched engine(network_of(rule), tracked());
    for (int i = 0; i < 4; ++i) {
      engine.push("A", i, i, {{"u", Value::string("somebody")}, {"v", Value::integer(i)}});
    }
    save_to(*engine, *backend);
    const auto [key, record] = only_record(*backend);
    for (std::size_t at = 0; at < record.size(); ++at) {
      for (const int change : {1, 2, 3, 0x80}) {
        std::string changed = record;
        changed[at] = static_cast<char>(changed[at] ^ change);
        state::WriteBatch batch;
        batch.put(state::Space::kPartial, key, changed);
        REQUIRE(backend->commit(batch).has_value());
        engine.make();
        if (!engine->restore(*backend, test::unread).has_value()) continue;
        for (int i = 4; i < 6; ++i) {
          engine.push("A", i, i, {{"u", Value::string("somebody")}, {"v", Value::integer(i)}});
          engine.push("B", i, 10 + i, {{"u", Value::string("somebody")}, {"v", Value::integer(i)}});
        }
        engine->finish();
      }
    }
    state::WriteBatch batch;
    batch.clear(state::Space::kPartial);
    REQUIRE(backend->commit(batch).has_value());
  }
}

TEST_CASE("engine: the cap drops the partial matches of the oldest first event and counts them") {
  engine::EngineOptions options;
  options.max_partial_matches = 2;
  Watched engine(network_of("RULE pair KEY u MATCH A THEN B AFTER MATCH NO SKIP"), options);
  for (int i = 0; i < 4; ++i) engine.push("A", i, i, {{"u", Value::integer(1)}});
  engine.push("B", 9, 9, {{"u", Value::integer(1)}});
  CHECK(engine.seen == Seen{"pair@9 A:2 B:9", "pair@9 A:3 B:9"});
  CHECK(engine->counts().front().over_cap == 2);
}

TEST_CASE("engine: what one rule has used is not used for the next one, also where the cap is reached") {
  engine::EngineOptions options;
  options.max_partial_matches = 2;
  Watched engine(network_of("RULE p MATCH A OR A AND A THEN B?\nRULE r MATCH A"), options);
  engine.push("A", 0, 0);
  CHECK(engine.seen == Seen{"p@0 A#1:0", "r@0 A:0"});
}

TEST_CASE("engine: the state TTL ends partial matches of rules without a bound, without a time-out") {
  engine::EngineOptions options;
  options.state_ttl = Micros(10'000'000);
  Watched engine(network_of("RULE open KEY u MATCH A THEN B"), options);
  engine.push("A", 0, 0, {{"u", Value::integer(1)}});
  engine.push("A", 5, 1, {{"u", Value::integer(1)}});
  engine.push("B", 11, 2, {{"u", Value::integer(1)}});
  CHECK(engine.seen == Seen{"open@11 A:1 B:2"});
  CHECK(engine->counts().front().partial_matches == 0);
}

TEST_CASE("engine: a key without partial matches takes no memory") {
  Watched engine(network_of(kPair), {});
  for (int i = 0; i < 100; ++i) engine.push("A", 0, i, {{"u", Value::integer(i)}});
  CHECK(engine->counts().front().partial_matches == 100);
  engine->advance(event_time_us(10'000'001));
  CHECK(engine->counts().front().partial_matches == 0);
}

TEST_CASE("engine: counts say what HAVING, the policy and LIMIT did") {
  Watched engine(network_of("RULE r KEY u MATCH A AS a THEN B WITHIN 1h HAVING a.x > 1 LIMIT 1 PER 1h"));
  const auto pair = [&](double seconds, std::int64_t offset, std::int64_t x) {
    engine.push("A", seconds, offset, {{"u", Value::integer(1)}, {"x", Value::integer(x)}});
    engine.push("B", seconds + 1, offset + 1, {{"u", Value::integer(1)}});
  };
  pair(0, 0, 1);  // HAVING drops it; the partial match that took this B is over
  pair(10, 10, 2);
  pair(20, 20, 2);  // within the hour: suppressed
  const engine::RuleCounts counts = engine->counts().front();
  CHECK(counts.matches == 2);
  CHECK(counts.suppressed == 1);
  CHECK(counts.by_having == 1);
  CHECK(counts.by_policy == 0);
}

TEST_CASE("engine: an event without a key field is counted for the rule and is no input of it") {
  Watched engine(network_of("RULE pair KEY u MATCH A NEXT B WITHIN 1h\nRULE each MATCH B"));
  engine.push("A", 0, 0, {{"u", Value::integer(1)}});
  engine.push("B", 1, 1);
  engine.push("B", 2, 2, {{"u", Value::integer(1)}});
  CHECK(engine.seen == Seen{"each@1 B:1", "each@2 B:2", "pair@2 A:0 B:2"});
  CHECK(engine->counts().at(0).missing_key == 0);
  CHECK(engine->counts().at(1).missing_key == 1);
}

TEST_CASE("engine: many open partial matches are found by what they are to equal, over a restore and a reload too") {
  constexpr const char* kPaid =
      "RULE paid MATCH order AS o THEN payment[id = o.id] WITHIN 100s UNLESS cancel[id = o.id]";
  engine::EngineOptions options = tracked();
  options.index_runs_from = 8;
  Watched engine(network_of(kPaid), options);
  for (int i = 0; i < 50; ++i) engine.push("order", i, i, {{"id", Value::integer(i)}});
  engine.push("payment", 50, 50, {{"id", Value::integer(20)}});
  CHECK(engine.seen == Seen{"paid@50 o:20 payment:50"});
  engine.push("payment", 51, 51, {{"id", Value::integer(20)}});
  engine.push("cancel", 52, 52, {{"id", Value::integer(49)}});
  engine.push("payment", 53, 53, {{"id", Value::integer(49)}});
  CHECK(engine.seen.size() == 1);
  CHECK(engine->counts()[0].partial_matches == 48);

  const auto backend = state::memory_backend();
  save_to(*engine, *backend);
  engine.make();
  REQUIRE(engine->restore(*backend, test::unread).has_value());
  engine.push("payment", 54, 54, {{"id", Value::real(7)}});
  CHECK(engine.seen.back() == "paid@54 o:7 payment:54");

  CHECK(engine.reload(std::string("RULE other MATCH A\n") + kPaid) == 1);
  engine.push("payment", 55, 55, {{"id", Value::integer(3)}});
  engine.push("payment", 56, 56, {{"id", Value::string("4")}});
  CHECK(engine.seen.back() == "paid@55 o:3 payment:55");
  CHECK(engine->counts()[1].expression_errors == 46);

  // The first ten are over, one of which was paid, and one cancelled or paid does not come again.
  engine.push("payment", 109.5, 57, {{"id", Value::integer(9)}});
  engine.push("payment", 109.5, 58, {{"id", Value::integer(10)}});
  CHECK(engine.seen.back() == "paid@109 o:10 payment:58");
  CHECK(engine.seen.size() == 4);
  CHECK(engine->counts()[1].partial_matches == 37);
  engine->finish();
  CHECK(engine->counts()[1].partial_matches == 0);
}

TEST_CASE("engine: an event whose id has come before is dropped, and late where it is too old, in any run") {
  const auto network = network_of("RULE r MATCH A");
  Watched engine(network, tracked());
  const auto push = [&](double seconds, std::int64_t offset, const char* id, std::size_t most = 5000) {
    engine->push(make_event(network->fields(), "A", seconds, offset, {}), "", hash_match_id(id), most);
  };
  engine->set_max_delay(SourceId("s"), Micros(5'000'000));
  push(1, 0, "x");
  push(2, 1, "y");
  push(1, 2, "x");  // its first one still waits
  push(9, 3, "z");  // the watermark is at 4
  push(1, 4, "x");  // too old by now
  push(9, 5, "z");
  CHECK(engine.seen == Seen{"duplicate:2", "r@1 A:0", "r@2 A:1", "late:4", "duplicate:5"});
  CHECK(engine->seen_ids().kept == 3);  // their chunk has one that may still come again

  const auto backend = state::memory_backend();
  save_to(*engine, *backend);
  engine.make();
  engine->set_max_delay(SourceId("s"), Micros(5'000'000));
  REQUIRE(engine->restore(*backend, test::unread).has_value());
  engine.seen.clear();
  push(9, 6, "z");
  push(8, 7, "w");
  engine->set_idle(SourceId("s"), 0);
  engine->advance(event_time_us(20'000'000));
  push(9, 8, "z");   // the clock has passed it
  push(21, 9, "z");  // a new one of the name
  engine->finish();
  CHECK(engine.seen == Seen{"duplicate:6", "r@8 A:7", "r@9 A:3", "late_after_idle:8", "r@21 A:9"});
}

TEST_CASE("engine: an event that came before wakes its partition as any other") {
  for (const bool again : {false, true}) {
    CAPTURE(again);
    const auto network = network_of("RULE r MATCH A");
    Watched engine(network);
    const auto push = [&](double seconds, std::int64_t offset, const char* source) {
      engine->push(make_event(network->fields(), "A", seconds, offset, {}, source), "", hash_match_id("x"), 5000);
    };
    push(1, 0, "a");
    engine->set_idle(SourceId("a"), 0);
    if (again) push(1, 1, "a");
    push(5, 2, "b");
    CHECK(engine.seen == (again ? Seen{"r@1 A:0", "duplicate:1"} : Seen{"r@1 A:0", "r@5 A:2"}));
  }
}
