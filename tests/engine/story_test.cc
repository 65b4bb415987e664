#include "engine/story.h"

#include <doctest/doctest.h>

#include "engine/engine.h"
#include "tests/support/rules.h"

using namespace cepd;
using engine::Engine;
using engine::Fate;
using engine::Story;
using test::make_event;
using test::network_of;

namespace {

/// An engine whose rule `r` tells its story.
class Told {
 public:
  explicit Told(const std::string& rule, EventTime until = kMaxTime, engine::EngineOptions options = {})
      : network_(network_of(rule)),
        story_(
            *network_, 0, [](std::span<const Value>) { return true; }, until),
        engine_(network_, options, Engine::Handlers{[](const engine::MatchView&) {}, {}}) {
    engine_.set_trace("r", &story_);
  }

  /// One event a second, of the types that the letters name.
  void push(const std::string& letters) {
    for (const char letter : letters) {
      engine_.push(make_event(network_->fields(), std::string(1, letter), static_cast<double>(next_), next_));
      ++next_;
    }
  }
  Story::Told finish() {
    engine_.finish();
    return story_.tell();
  }
  Story& operator*() { return story_; }

 private:
  std::shared_ptr<const nfa::Network> network_;
  Story story_;
  Engine engine_;
  std::int64_t next_ = 0;
};

std::vector<std::int64_t> offsets(const engine::PartialStory* partial) {
  std::vector<std::int64_t> out;
  if (partial == nullptr) return out;
  for (const engine::Bound& each : partial->bound) out.push_back(each.event->position.offset);
  return out;
}

using Offsets = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("story: the cap on partial matches ends the oldest") {
  engine::EngineOptions options;
  options.max_partial_matches = 1;
  Told told("RULE r MATCH a THEN b THEN c WITHIN 1h", event_time_us(2'000'000), options);
  told.push("aba");
  const Story::Told story = told.finish();
  CHECK(offsets(story.furthest) == Offsets{0, 1});
  CHECK(story.furthest->fate == Fate::kCap);
}

TEST_CASE("story: furthest is the latest place in the pattern, then more events, then the later story") {
  Told place("RULE r MATCH a THEN b? THEN c THEN d WITHIN 1h");
  place.push("acabaa");
  CHECK(offsets(place.finish().furthest) == Offsets{0, 1});
  Told events("RULE r MATCH a+ THEN b WITHIN 5s UNLESS x");
  events.push("aaxa");
  CHECK(offsets(events.finish().furthest) == Offsets{0, 1});
  Told later("RULE r MATCH a THEN b WITHIN 1s");
  later.push("axxxaxxx");
  CHECK(offsets(later.finish().furthest) == Offsets{4});
}

TEST_CASE("story: a first event that gave a match is no failure") {
  Told any("RULE r MATCH a THEN ANY b WITHIN 1h AFTER MATCH NO SKIP");
  any.push("abb");
  const Story::Told story = any.finish();
  CHECK(story.match_count == 2);
  CHECK(story.furthest == nullptr);
}

TEST_CASE("story: what went on with an event is told by what it became") {
  Told unless("RULE r MATCH a THEN b THEN c WITHIN 1h UNLESS b");
  unless.push("ab");
  const Story::Told story = unless.finish();
  CHECK(offsets(story.furthest) == Offsets{0, 1});
  CHECK(story.furthest->fate == Fate::kExpired);
}

TEST_CASE("story: it ends at its time") {
  Told told("RULE r MATCH a THEN b WITHIN 1h", event_time_us(1'000'000));
  told.push("axb");
  const Story::Told story = told.finish();
  CHECK(story.match_count == 0);
  CHECK(offsets(story.furthest) == Offsets{0});
  CHECK(story.furthest->fate == Fate::kWaiting);
  CHECK(story.under_way);
}

TEST_CASE("story: a new chapter forgets what is over and keeps what is under way") {
  Told told("RULE r MATCH a THEN b THEN c WITHIN 1h UNLESS x");
  told.push("abxa");
  (*told).begin_chapter();
  const Story::Told story = (*told).tell();
  CHECK(offsets(story.furthest) == Offsets{3});
  CHECK(story.offered.empty());
}

TEST_CASE("story: of many events that did not fit the first and the last are kept") {
  Told told("RULE r MATCH a THEN b[v = 1] WITHIN 1h");
  told.push("a" + std::string(100, 'b'));
  const Story::Told story = told.finish();
  REQUIRE(story.furthest != nullptr);
  CHECK(story.furthest->tried.count == 100);
  const auto all = story.furthest->tried.all();
  CHECK(all.size() == 40);
  CHECK(all.front().event->position.offset == 1);
  CHECK(all.back().event->position.offset == 100);
}
