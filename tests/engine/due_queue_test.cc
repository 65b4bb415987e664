#include "engine/due_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>

using namespace cepd;
using engine::DueQueue;
using engine::KeyEntry;
using engine::KeyState;

namespace {

EventTime at(std::int64_t us) { return event_time_us(us); }

}  // namespace

TEST_CASE("due queue: what is due comes out in order, whatever was moved and taken out in between") {
  // Lengths that make lines, and ones that fit in none.
  for (const std::int64_t spread : {1, 3, 100, 100'000}) {
    std::mt19937 random(static_cast<unsigned>(spread));
    const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
    KeyEntry entry;
    std::deque<KeyState> states(400);
    for (std::uint32_t i = 0; i < states.size(); ++i) {
      states[i].entry = &entry;
      states[i].owner = i;
      states[i].level = 1 + i % 2;
    }
    DueQueue queue;
    std::map<std::uint32_t, EventTime> expected;  // by owner
    const auto first = [&] {
      return std::min_element(expected.begin(), expected.end(),
                              [](const auto& a, const auto& b) { return a.second < b.second; });
    };
    std::int64_t now = 0;
    for (int step = 0; step < 20'000; ++step) {
      now += below(3);
      KeyState& state = states[static_cast<std::size_t>(below(400))];
      const EventTime time = at(now + 1 + 50 * below(spread));
      const auto known = expected.find(state.owner);
      switch (below(8)) {
        case 0:
          queue.set(state, kMaxTime);
          expected.erase(state.owner);
          break;
        case 1:
          queue.set(state, time);
          expected[state.owner] = time;
          break;
        default:
          queue.set_earlier(state, time);
          if (known == expected.end() || time < known->second) expected[state.owner] = time;
      }
      while (!expected.empty() && first()->second <= at(now)) {
        const EventTime due = first()->second;
        REQUIRE(queue.earliest() == due);
        for (std::uint32_t level = 1; level <= 2; ++level) {
          std::vector<std::uint32_t> taken, wanted;
          for (const auto* part : queue.take(due, level)) taken.push_back(part->owner);
          for (const auto& [owner, when] : expected) {
            if (when == due && 1 + owner % 2 == level) wanted.push_back(owner);
          }
          REQUIRE(taken == wanted);
          for (const std::uint32_t owner : wanted) expected.erase(owner);
        }
      }
      REQUIRE(queue.earliest() == (expected.empty() ? kMaxTime : first()->second));
    }
  }
}

TEST_CASE("due queue: those that are gone are forgotten though the first one waits on") {
  KeyEntry entry;
  std::deque<KeyState> states(2);
  for (KeyState& state : states) state.entry = &entry;
  states[1].owner = 1;
  DueQueue queue;
  queue.set(states[0], at(1));
  KeyState other;
  other.entry = &entry;
  other.owner = 2;
  // Another stands behind, so that what goes stands in the middle.
  for (int i = 0; i < 1'000; ++i) {
    queue.set(states[1], at(10 + 2 * i));
    queue.set(other, at(11 + 2 * i));
    queue.set(states[1], kMaxTime);
  }
  CHECK(queue.size() <= 200);
  CHECK(queue.take(at(1), 1).front() == &states[0]);
  CHECK(queue.earliest() == at(11 + 2 * 999));
}
