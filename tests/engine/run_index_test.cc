#include "engine/run_index.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "engine/key_state.h"
#include "tests/support/rules.h"

using namespace cepd;
using engine::KeyState;
using engine::Offer;
using engine::Run;
using engine::RunIndex;
using test::make_event;
using test::network_of;

namespace {

/// Runs of a rule that wait behind its first element `o`.
struct Fixture {
  std::shared_ptr<const nfa::Network> network;
  KeyState state;
  nfa::EvalErrors errors;
  std::int64_t offset = 0;

  explicit Fixture(const std::string& pattern) : network(network_of("RULE r MATCH " + pattern)) {
    state.index = std::make_unique<RunIndex>(network->look_back(0), network->fields(), state.runs);
  }

  EventPtr event(const std::string& type, const Value& i) {
    return make_event(network->fields(), type, 0, offset++, {{"i", i}});
  }
  void add(const Value& i, EventTime due = kMaxTime) {
    const EventPtr first = event("o", i);
    Run run;
    run.set.add(first, dsl::plan::ElementId{}, nullptr);
    run.bound.push_back({dsl::plan::ElementId{}, first.get()});
    run.due = due;
    state.add_run(std::move(run));
  }
  std::vector<std::uint32_t> find(const std::string& type, const Value& i, nfa::ElementSet elements,
                                  std::uint64_t unless = 0) {
    const EventPtr shown = event(type, i);
    return state.index->find({&shown, elements, unless, true}, errors);
  }
};

using Places = std::vector<std::uint32_t>;
constexpr nfa::ElementSet kSecond = 2;

}  // namespace

TEST_CASE("run index: runs whose value the event has, the last one first") {
  Fixture f("o AS o THEN p[i = o.i] WITHIN 1h");
  for (const int i : {1, 2, 1, 3}) f.add(Value::integer(i));
  f.add(Value::null());
  CHECK(f.find("p", Value::integer(1), kSecond) == Places{2, 0});
  CHECK(f.find("p", Value::real(2.0), kSecond) == Places{1});
  CHECK(f.find("p", Value::integer(4), kSecond).empty());
  CHECK(f.find("p", Value::null(), kSecond).empty());
  CHECK(f.find("o", Value::integer(1), 1).empty());
}

TEST_CASE("run index: a value of another kind is an error for each run that has one, as if they were looked at") {
  Fixture f("o AS o THEN p[i = o.i] WITHIN 1h");
  for (const int i : {1, 2}) f.add(Value::integer(i));
  f.add(Value::string("1"));
  f.add(Value::null());
  CHECK(f.find("p", Value::string("1"), kSecond) == Places{2});
  CHECK(f.errors.count == 2);
  CHECK(f.find("p", Value::real(1), kSecond) == Places{0});
  CHECK(f.errors.count == 3);
}

TEST_CASE("run index: an UNLESS that asks for no equality concerns all") {
  Fixture f("o AS o THEN p[i = o.i] WITHIN 1h UNLESS x, y[i = o.i]");
  for (const int i : {1, 2}) f.add(Value::integer(i));
  f.add(Value::null());
  CHECK(f.find("x", Value::integer(1), 0, 1) == Places{2, 1, 0});
  CHECK(f.find("y", Value::integer(1), 0, 2) == Places{0});
}

TEST_CASE("run index: without a look-back by value, runs of the states that the event concerns") {
  Fixture f("o AS o THEN p[i != o.i] WITHIN 1h");
  for (const int i : {1, 2}) f.add(Value::integer(i));
  CHECK(f.find("p", Value::integer(1), kSecond) == Places{1, 0});
  CHECK(f.find("o", Value::integer(1), 1).empty());
}

TEST_CASE("run index: runs that the event's value is above or below, those it equals for the full test") {
  Fixture above("o AS o THEN p[i > o.i] WITHIN 1h"), below("o AS o THEN p[i * 2 > 0 AND o.i + 1 >= i] WITHIN 1h");
  for (Fixture* f : {&above, &below}) {
    for (const int i : {1, 3, 2, 3}) f->add(Value::integer(i));
    f->add(Value::null());
  }
  CHECK(above.find("p", Value::integer(2), kSecond) == Places{2, 0});
  CHECK(above.find("p", Value::real(2.5), kSecond) == Places{2, 0});
  CHECK(above.find("p", Value::integer(0), kSecond).empty());
  CHECK(above.find("p", Value::null(), kSecond).empty());
  CHECK(above.find("o", Value::integer(5), 1).empty());
  CHECK(below.find("p", Value::integer(4), kSecond) == Places{3, 1});
  CHECK(below.find("p", Value::real(2.5), kSecond) == Places{3, 2, 1});
  CHECK(above.errors.count + below.errors.count == 0);
}

TEST_CASE("run index: values that are not in order with the event's are errors, unknown ones are looked at") {
  Fixture f("o AS o THEN p[i < o.i] WITHIN 1h");
  f.add(Value::integer(5));
  f.add(Value::string("5"));
  f.add(Value::boolean(true));
  f.add(Value::null());
  CHECK(f.find("p", Value::integer(4), kSecond) == Places{0});
  CHECK(f.errors.count == 2);
  CHECK(f.find("p", Value::string("4"), kSecond) == Places{1});
  CHECK(f.errors.count == 4);
  CHECK(f.find("p", Value::boolean(false), kSecond).empty());
  CHECK(f.errors.count == 7);
  Fixture computed("o AS o THEN p[i < o.i + 1] WITHIN 1h");
  computed.add(Value::integer(5));
  computed.add(Value::string("5"));
  CHECK(computed.find("p", Value::integer(7), kSecond) == Places{1});
  CHECK(computed.errors.count == 0);
}

TEST_CASE("run index: what is due comes once, until it has a deadline again") {
  Fixture f("o AS o THEN p[i = o.i] WITHIN 1h");
  for (const int due : {5, 3, 9, 3}) f.add(Value::integer(due), event_time_us(due));
  f.add(Value::integer(0));
  CHECK(f.state.index->first_due() == event_time_us(3));
  CHECK(f.state.index->take_due(event_time_us(2)).empty());
  CHECK(f.state.index->take_due(event_time_us(5)) == Places{3, 1, 0});
  CHECK(f.state.index->first_due() == event_time_us(9));
  f.state.index->set_due(1, event_time_us(4));
  CHECK(f.state.index->take_due(event_time_us(4)) == Places{1});
}

namespace {

/// `pattern` compares `i` with `o.i`. `wanted`: what a run's value and the event's make of that.
void check_by_looking(const std::string& pattern, bool (*wanted)(std::int64_t of, std::int64_t event)) {
  Fixture f(pattern);
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  const auto value_of = [](const Run& run) { return run.bound.front().event->field(0).as_int(); };
  for (int step = 0; step < 20'000; ++step) {
    const bool grows = (step / 500) % 2 == 0;
    if (f.state.runs.empty() || below(10) < (grows ? 7 : 3)) {
      f.add(Value::integer(below(20)), below(4) == 0 ? kMaxTime : event_time_us(below(1000)));
    } else if (below(3) == 0) {
      const std::uint32_t place = below(static_cast<std::uint32_t>(f.state.runs.size()));
      f.state.runs[place].due = event_time_us(below(1000));
      f.state.note_due(place);
    } else {
      f.state.remove_run(below(static_cast<std::uint32_t>(f.state.runs.size())));
    }
    const std::int64_t value = below(20);
    Places expected;
    std::uint64_t count = 0;
    EventTime due = kMaxTime;
    for (std::uint32_t i = 0; i < f.state.runs.size(); ++i) {
      if (wanted(value_of(f.state.runs[i]), value)) expected.push_back(i);
      due = std::min(due, f.state.runs[i].due);
      count += f.state.runs[i].set.count();
    }
    std::sort(expected.begin(), expected.end(), std::greater<>());
    REQUIRE(f.find("p", Value::integer(value), kSecond) == expected);
    REQUIRE(f.state.index->first_due() == due);
    REQUIRE(f.state.index->count() == count);
  }
}

}  // namespace

TEST_CASE("run index: finds what a look at each run finds, whatever comes and goes") {
  check_by_looking("o AS o THEN p[i = o.i] WITHIN 1h", [](std::int64_t of, std::int64_t event) { return of == event; });
  check_by_looking("o AS o THEN p[i >= o.i] WITHIN 1h",
                   [](std::int64_t of, std::int64_t event) { return of <= event; });
  check_by_looking("o AS o THEN p[i <= o.i] WITHIN 1h",
                   [](std::int64_t of, std::int64_t event) { return of >= event; });
}
