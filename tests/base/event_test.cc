#include "base/event.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/block_pool.h"

namespace cepd {
namespace {

TEST_CASE("event: built from a draft, its texts are its own") {
  EventPtr event;
  {
    std::string text = "a text that is longer than a small string", name = "door/open", raw = "{}";
    EventDraft draft;
    draft.time = event_time_us(5);
    draft.other_type = name;
    draft.position = {SourceId("s"), 1, 2};
    draft.maker = MatchId{3, 4};
    draft.shadow = true;
    draft.sequence = 7;
    draft.raw = raw;
    draft.fields = {Value::string(text), Value::null(), Value::integer(-1), Value::json(raw)};
    event = draft.build();
    text.assign(text.size(), '?');
    name = raw = "?";
  }
  CHECK(event->time == event_time_us(5));
  CHECK(event->other_type() == "door/open");
  CHECK(event->position == SourcePosition{SourceId("s"), 1, 2});
  REQUIRE(event->maker() != nullptr);
  CHECK(*event->maker() == MatchId{3, 4});
  CHECK(event->shadow);
  CHECK(event->sequence == 7);
  CHECK(event->raw() == "{}");
  REQUIRE(event->fields().size() == 4);
  CHECK(event->field(0).text() == "a text that is longer than a small string");
  CHECK(event->field(1).is_null());
  CHECK(event->field(2).as_int() == -1);
  CHECK(event->field(3).kind() == Kind::kJson);
  CHECK(event->field(4).is_null());

  const EventPtr again = EventDraft(*event).build();
  event.reset();
  CHECK(again->other_type() == "door/open");
  CHECK(again->field(0).text() == "a text that is longer than a small string");
}

TEST_CASE("event: without what few events have") {
  const EventPtr event = EventDraft().build();
  CHECK(event->other_type().empty());
  CHECK(event->maker() == nullptr);
  CHECK(event->raw().empty());
  CHECK(event->fields().empty());
}

TEST_CASE("block pool: blocks made by one thread and dropped by another are whole and used again") {
  for (int round = 0; round < 3; ++round) {
    std::vector<EventPtr> events;
    for (int i = 0; i < 5'000; ++i) {
      EventDraft draft;
      const std::string text(static_cast<std::size_t>(i % 1'500), static_cast<char>('a' + i % 26));
      draft.fields = {Value::string(text)};
      events.push_back(draft.build());
    }
    std::jthread([dropped = std::move(events)]() mutable {
      for (std::size_t i = 0; i < dropped.size(); ++i) {
        const std::string text(i % 1'500, static_cast<char>('a' + i % 26));
        CHECK(dropped[i]->field(0).text() == text);
      }
      dropped.clear();
    });
  }
}

}  // namespace
}  // namespace cepd
