#include "engine/match_set.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "engine/layers.h"
#include "engine/marks.h"
#include "engine/preferred.h"
#include "engine/run.h"

using namespace cepd;
using namespace cepd::engine;

namespace {

using Path = std::vector<Bound>;
using Paths = std::vector<Path>;

dsl::plan::ElementId element(int index) { return dsl::plan::ElementId(static_cast<std::uint16_t>(index)); }

EventPtr event_at(std::uint64_t sequence, std::int64_t us) {
  EventDraft draft;
  draft.sequence = sequence;
  draft.time = event_time_us(us);
  return draft.build();
}
EventPtr event(std::uint64_t sequence) { return event_at(sequence, static_cast<std::int64_t>(sequence)); }

std::string text(std::span<const Bound> path) {
  std::string out;
  for (const Bound& bound : path) {
    out += (out.empty() ? "" : " ");
    out += static_cast<char>('a' + static_cast<int>(bound.element));
    out += std::to_string(bound.event->sequence);
  }
  return out;
}

bool before(const Path& a, const Path& b) { return taken_before(a, b); }

/// As text, in the order in which they are taken.
std::vector<std::string> texts(Paths paths) {
  std::sort(paths.begin(), paths.end(), before);
  std::vector<std::string> out;
  for (const Path& path : paths) out.push_back(text(path));
  return out;
}

Paths listed(const Cell* head, bool whole, const Alive& alive) {
  Paths out;
  MatchWalk().each({head}, whole, alive, [&](std::span<const Bound> path) {
    out.emplace_back(path.begin(), path.end());
    return true;
  });
  return out;
}
std::vector<std::string> listed(const MatchSet& set, const Alive& alive = {}) {
  return texts(listed(set.head().get(), true, alive));
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("match set: a cell stands for as many partial matches as it hangs on") {
  MatchSet a, b;
  a.add(event(1), element(0), nullptr);
  a.add(event(2), element(0), nullptr);
  b.add(event(3), element(1), &a);
  a.add(event(4), element(0), nullptr);
  b.add(event(5), element(1), &a);
  CHECK(a.count() == 3);
  CHECK(a.flat());
  CHECK(b.count() == 5);
  CHECK_FALSE(b.flat());
  CHECK(listed(b) == Texts{"a1 b3", "a1 b5", "a2 b3", "a2 b5", "a4 b5"});
  CHECK(b.newest().sequence == 4);
  CHECK(b.oldest().sequence == 2);  // the latest that the oldest cell hangs on
}

TEST_CASE("match set: what is cut is gone from all that hangs on it") {
  MatchSet a, b;
  for (const std::uint64_t each : {1, 2, 3}) a.add(event(each), element(0), nullptr);
  b.add(event(4), element(1), &a);
  a.cut(std::uint64_t{3});
  CHECK(listed(a) == Texts{"a3"});
  CHECK(listed(b) == Texts{"a3 b4"});
  a.cut(event_time_us(4));
  CHECK(a.empty());
}

TEST_CASE("match set: joined ones are listed as one") {
  MatchSet a, b;
  for (const std::uint64_t each : {1, 3}) a.add(event(each), element(0), nullptr);
  b.add(event(2), element(1), nullptr);
  a.join(std::move(b));
  CHECK(b.empty());
  CHECK(a.count() == 3);
  CHECK(listed(a) == Texts{"a1", "b2", "a3"});
}

TEST_CASE("match set: cells of dead partial matches are cut although they began late enough") {
  MatchSet a, b;
  a.add(event(1), element(0), nullptr);
  b.add(event(2), element(1), &a);
  a.add(event(3), element(0), nullptr);
  b.add(event(4), element(1), &a);
  Sequences used;
  used.insert(1);
  Alive alive;
  alive.used = &used;
  b.cut_dead(alive);
  CHECK(b.tail()->event->sequence == 4);
  CHECK(listed(b, alive) == Texts{"a3 b4"});
}

TEST_CASE("match walk: a count that looks at few cells says that there may be more") {
  MatchSet a, b;
  for (std::uint64_t each = 1; each <= 100; ++each) a.add(event(each), element(0), nullptr);
  for (std::uint64_t each = 101; each <= 200; ++each) b.add(event(each), element(1), &a);
  MatchWalk walk;
  const auto all = walk.count({b.head().get()}, {});
  CHECK(all.all);
  CHECK(all.count == 10'000);
  const auto some = walk.count({b.head().get()}, {}, 150);
  CHECK_FALSE(some.all);
  CHECK(some.count > 0);
  CHECK(some.count < 10'000);
}

TEST_CASE("preferred: earlier first event, more events, earlier positions, element written earlier") {
  Preferred preferred;
  MatchSet a, b, c, d;
  a.add(event(1), element(0), nullptr);
  b.add(event(2), element(1), &a);
  b.add(event(3), element(1), &a);
  c.add(event(4), element(2), &b);  // a1 b2 c4, a1 b3 c4
  c.add(event(4), element(2), &a);  // a1 c4
  c.add(event(4), element(1), &b);  // a1 b2 b4, a1 b3 b4
  CHECK(text(preferred.find(*c.head(), true, {})) == "a1 b2 b4");
  CHECK(text(preferred.find(*c.head(), false, {})) == "a1 b2 b4");
  CHECK(text(preferred.find(*c.head()->next, false, {})) == "a1 c4");
  Sequences used;
  used.insert(2);
  Alive alive;
  alive.used = &used;
  CHECK(text(preferred.find(*c.head(), true, alive)) == "a1 b3 b4");
  alive.oldest_sequence = 2;
  CHECK(preferred.find(*c.head(), true, alive).empty());
}

namespace {

/// Random sets, and beside each the partial matches that it stands for, one by one.
class Model {
 public:
  /// `sequence`: only what A THEN ANY B THEN ANY C ... does.
  Model(std::uint64_t seed, bool sequence) : random_(seed), sequence_(sequence), places_(4) {}

  void step() {
    ++now_;
    time_ += roll(3);
    bind();
    if (roll(4) == 0) mark();
    if (roll(4) == 0) alive_.oldest_time = std::max(alive_.oldest_time, event_time_us(time_ - 20));
    if (roll(3) == 0) cut(places_[roll(places_.size())]);
    if (!sequence_ && roll(15) == 0) join();
    if (!sequence_ && roll(15) == 0) places_[roll(places_.size())] = {};
    check(places_[roll(places_.size())]);
  }

  std::size_t ordered() const { return ordered_; }

 private:
  struct Place {
    MatchSet set;
    Paths paths;
  };

  std::size_t roll(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  bool counts(const Path& path) const {
    if (!alive_.start(Start::of(*path.front().event))) return false;
    return std::none_of(path.begin(), path.end(), [&](const Bound& bound) { return alive_.is_used(*bound.event); });
  }
  Paths alive_of(const Paths& paths) const {
    Paths out;
    std::copy_if(paths.begin(), paths.end(), std::back_inserter(out), [&](const Path& path) { return counts(path); });
    return out;
  }

  void bind() {
    const EventPtr event = event_at(now_, time_);
    events_.push_back(event);
    struct Arrival {
      std::size_t to;
      Place place;
    };
    std::vector<Arrival> arrivals;
    const std::size_t ways = 1 + (sequence_ ? 0 : roll(3));
    for (std::size_t i = 0; i < ways; ++i) {
      const std::size_t from = roll(places_.size());
      const std::size_t to = sequence_ ? from : roll(places_.size());
      const auto of = element(static_cast<int>(sequence_ ? to : roll(4)));
      Arrival arrival{to, {}};
      Place* source = sequence_ ? (from == 0 ? nullptr : &places_[from - 1]) : roll(3) == 0 ? nullptr : &places_[from];
      if (source != nullptr && source->set.empty()) continue;
      arrival.place.set.add(event, of, source == nullptr ? nullptr : &source->set);
      arrival.place.paths = source == nullptr ? Paths(1) : source->paths;
      for (Path& path : arrival.place.paths) path.push_back({of, event.get()});
      arrivals.push_back(std::move(arrival));
    }
    for (Arrival& arrival : arrivals) {
      const CellPtr cell = arrival.place.set.head();
      const Paths paths = arrival.place.paths;
      check_alone(*cell, paths);
      Place& to = places_[arrival.to];
      to.set.join_new(std::move(arrival.place.set));
      to.paths.insert(to.paths.end(), paths.begin(), paths.end());
      check_alone(*cell, paths);
    }
  }

  void mark() {
    const std::uint64_t sequence = now_ - std::min<std::uint64_t>(now_ - 1, roll(15));
    const std::size_t kind = roll(8);
    if (kind == 0) marks_.oldest = std::max(marks_.oldest, sequence - std::min<std::uint64_t>(sequence, 8));
    if (kind < 3) marks_.starts.insert(sequence);
    if (kind >= 3) marks_.used.insert(sequence);
    alive_.oldest_sequence = marks_.oldest;
    alive_.dropped_starts = &marks_.starts;
    alive_.used = &marks_.used;
  }

  void cut(Place& place) {
    place.set.cut_dead(alive_);
    place.set.cut(alive_.oldest_time);
    place.paths = alive_of(place.paths);
    if (place.set.empty()) CHECK(place.paths.empty());
  }

  void join() {
    const std::size_t to = roll(places_.size()), from = roll(places_.size());
    if (to == from || places_[from].set.empty()) return;
    places_[to].set.join(std::move(places_[from].set));
    places_[to].paths.insert(places_[to].paths.end(), places_[from].paths.begin(), places_[from].paths.end());
    places_[from] = {};
  }

  void check_alone(const Cell& cell, const Paths& paths) {
    const Texts expected = texts(alive_of(paths));
    CHECK(texts(listed(&cell, false, alive_)) == expected);
    CHECK(text(preferred_.find(cell, false, alive_)) == (expected.empty() ? "" : expected.front()));
    if (!Layers::below(cell)) return;
    ++ordered_;
    const bool any = layers_.look(cell, alive_);
    CHECK(any == !expected.empty());
    if (!any) return;
    CHECK(text(layers_.first()) == expected.front());
    Texts visited, firsts, expected_firsts;
    layers_.each(alive_, [&](std::span<const Bound> path) {
      visited.push_back(text(path));
      return true;
    });
    CHECK(visited == expected);
    layers_.each(alive_, [&](std::span<const Bound> path) {
      firsts.push_back(text(path));
      return false;
    });
    for (const std::string& each : expected) {
      const auto first_of = [](const std::string& path) { return path.substr(0, path.find(' ')); };
      if (expected_firsts.empty() || first_of(expected_firsts.back()) != first_of(each))
        expected_firsts.push_back(each);
    }
    CHECK(firsts == expected_firsts);
  }

  void check(const Place& place) {
    const Texts expected = texts(alive_of(place.paths));
    if (place.set.empty()) {
      CHECK(expected.empty());
      return;
    }
    const Cell& head = *place.set.head();
    CHECK(listed(place.set, alive_) == expected);
    CHECK(walk_.count({&head}, alive_).count == expected.size());
    CHECK(place.set.count() >= expected.size());
    const auto preferred = preferred_.find(head, true, alive_);
    CHECK(text(preferred) == (expected.empty() ? "" : expected.front()));
    if (!head.layered) return;
    const Cell* oldest = Layers::oldest_first(head, place.set.tail(), alive_);
    REQUIRE((oldest != nullptr) == !expected.empty());
    if (oldest != nullptr) CHECK(oldest->event.get() == preferred.front().event);
  }

  std::mt19937_64 random_;
  bool sequence_;
  std::vector<EventPtr> events_;  // what the paths look at
  std::vector<Place> places_;
  std::uint64_t now_ = 0;
  std::int64_t time_ = 0;
  Marks marks_;
  Alive alive_;
  MatchWalk walk_;
  Preferred preferred_;
  Layers layers_;
  std::size_t ordered_ = 0;
};

}  // namespace

TEST_CASE("match set: random sets stand for what was put into them") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const bool sequence = seed % 2 == 0;
    Model model(seed, sequence);
    const int steps = sequence ? 60 : 15;
    for (int i = 0; i < steps; ++i) model.step();
    // Sequences lie in layers, or nothing has been tried.
    if (sequence) CHECK(model.ordered() > 0);
  }
}
