/// Queues between the caller and the lanes.
#include "engine/lane_threads.h"

#include <doctest/doctest.h>

#include <atomic>
#include <semaphore>
#include <string>
#include <thread>

#include "tests/support/rules.h"

using namespace cepd;
using engine::Lane;
using engine::LaneBatch;
using engine::LaneMatch;
using engine::LaneThreads;

namespace {

using Matches = std::vector<LaneMatch>;

/// `events` of no meaning.
LaneBatch batch_of(std::size_t events, std::uint64_t first_step) {
  return {std::vector<EventPtr>(events), kMinTime, first_step};
}

LaneMatch match_at(std::uint64_t step, std::size_t lane) {
  LaneMatch match{step, kMinTime, static_cast<std::uint32_t>(lane), std::make_unique<Match>()};
  match.match->rule = std::to_string(lane);
  return match;
}

/// Steps and lanes as they were reported.
struct Reported {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> places;

  LaneThreads::Report report() {
    return [this](Matches matches) {
      for (const LaneMatch& match : matches) places.emplace_back(match.step, match.rule);
    };
  }
};

/// Lets through as many as were released.
using Gate = std::counting_semaphore<>;

constexpr std::size_t kLanes = 3;

}  // namespace

TEST_CASE("lane threads: every lane does every batch, matches come in the order of their steps, then rules") {
  Reported reported;
  LaneThreads threads(
      kLanes, {},
      [](LaneThreads&, std::size_t lane, const LaneBatch& batch) {
        Matches matches;
        for (std::size_t i = 0; i < batch.events.size(); ++i) {
          // The later lanes begin, so that their order alone does not make that of the report.
          if (i % kLanes <= lane) matches.push_back(match_at(batch.first_step + 2 * i + 1, kLanes - 1 - lane));
        }
        return matches;
      },
      reported.report());
  std::vector<std::pair<std::uint64_t, std::uint32_t>> expected;
  std::uint64_t step = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    LaneBatch batch = batch_of(i % 7, step);
    for (std::size_t event = 0; event < i % 7; ++event) {
      for (std::size_t lane = kLanes; lane-- > event % kLanes;) {
        expected.emplace_back(step + 2 * event + 1, kLanes - 1 - lane);
      }
    }
    step = batch.end_step();
    threads.give(std::move(batch));
  }
  threads.finish();
  CHECK((reported.places == expected));
}

TEST_CASE("lane threads: one that stands holds up the others only when its queue is full") {
  constexpr std::size_t kBatches = 4;
  Gate gate(0), others(0);
  std::atomic<std::size_t> done_by_slow = 0, gave = 0;
  Reported reported;
  LaneThreads threads(
      kLanes, {.batches = kBatches},
      [&](LaneThreads&, std::size_t lane, const LaneBatch& batch) {
        if (lane == 1) {
          gate.acquire();
          ++done_by_slow;
        } else {
          others.release();
        }
        Matches matches;
        matches.push_back(match_at(batch.first_step, lane));
        return matches;
      },
      reported.report());
  for (std::size_t i = 0; i < kBatches; ++i) threads.give(batch_of(0, i));
  for (std::size_t i = 0; i < kBatches * (kLanes - 1); ++i) others.acquire();
  CHECK(done_by_slow == 0);
  CHECK(threads.queued() == kBatches);
  CHECK(reported.places.empty());  // the slow lane's come between theirs

  // One more finds no room. (Where it did, it would be there long before all these turns are over.)
  std::jthread caller([&] {
    threads.give(batch_of(0, kBatches));
    gave = 1;
  });
  for (int turn = 0; turn < 1000; ++turn) std::this_thread::yield();
  CHECK(gave == 0);
  CHECK(threads.queued() == kBatches);
  gate.release(kBatches + 1);
  caller.join();
  threads.finish();
  CHECK(done_by_slow == kBatches + 1);
  CHECK(reported.places.size() == (kBatches + 1) * kLanes);
}

TEST_CASE("lane threads: matches that are not reported are bounded, whichever lane makes them") {
  constexpr std::size_t kMost = 20, kAtOnce = 3;
  for (const bool waits : {false, true}) {
    std::atomic<std::size_t> made = 0, reported = 0, most = 0;
    std::uint64_t last_step = 0;
    LaneThreads threads(
        kLanes, {.batches = 8, .matches = kMost},
        [&](LaneThreads& of, std::size_t lane, const LaneBatch& batch) {
          for (std::size_t i = 0; i < batch.events.size(); ++i) {
            const std::uint64_t step = batch.first_step + 2 * i + 1;
            // Now one lane makes many, now all of them some.
            if (batch.first_step % 4 != 0 && lane != 2) continue;
            Matches matches;
            for (std::size_t n = 0; n < kAtOnce; ++n) matches.push_back(match_at(step, lane));
            const std::size_t now = (made += kAtOnce) - reported;
            for (std::size_t before = most; before < now && !most.compare_exchange_weak(before, now);) {
            }
            of.hand_over(lane, std::move(matches), step + 1);
          }
          return Matches();
        },
        [&](const Matches& matches) {
          for (const LaneMatch& match : matches) {
            CHECK(match.step >= last_step);
            last_step = match.step;
          }
          reported += matches.size();
        });
    std::uint64_t step = 0;
    for (int i = 0; i < 40; ++i) {
      LaneBatch batch = batch_of(29, step);
      step = batch.end_step();
      threads.give(std::move(batch));
      if (waits && i == 20) {
        // Nobody reports meanwhile, so the bound does not hold; but they come to an end.
        threads.wait();
        CHECK(threads.queued() == 0);
      }
    }
    threads.finish();
    CHECK(reported == made);
    // Each lane may have made some when the bound was reached, and go on to where the one ahead is.
    if (!waits) CHECK(most <= kMost + 2 * kLanes * kAtOnce);
  }
}

TEST_CASE("lane threads: wait() has all done but reports nothing") {
  std::atomic<std::size_t> done = 0;
  Reported reported;
  Gate gate(0);
  LaneThreads threads(
      kLanes, {},
      [&](LaneThreads&, std::size_t lane, const LaneBatch& batch) {
        gate.acquire();
        ++done;
        Matches matches;
        matches.push_back(match_at(batch.first_step, lane));
        return matches;
      },
      reported.report());
  for (std::uint64_t i = 0; i < 2; ++i) threads.give(batch_of(0, i));
  gate.release(2 * kLanes);
  threads.wait();
  CHECK(done == 2 * kLanes);
  CHECK(reported.places.empty());
  threads.finish();
  CHECK(reported.places.size() == 2 * kLanes);
}

TEST_CASE("lane threads: end with work in the queues") {
  std::atomic<std::size_t> begun = 0;
  Gate gate(0), at_work(0);
  std::optional<std::jthread> opener;
  {
    LaneThreads threads(
        kLanes, {.batches = 5, .matches = 1},
        [&](LaneThreads& of, std::size_t lane, const LaneBatch& batch) {
          ++begun;
          at_work.release();
          if (lane == 0) gate.acquire();
          // Over the bound and ahead of lane 0: it waits here, and is still to come to an end.
          Matches matches;
          matches.push_back(match_at(batch.first_step, lane));
          of.hand_over(lane, std::move(matches), batch.first_step);
          return Matches();
        },
        [](const Matches&) {});
    for (std::uint64_t i = 0; i < 5; ++i) threads.give(batch_of(1, 3 * i));
    for (std::size_t lane = 0; lane < kLanes; ++lane) at_work.acquire();
    opener.emplace([&] { gate.release(5); });
  }
  CHECK(begun >= kLanes);
}

TEST_CASE("lane threads: keyed rules go on while a rule without KEY stands") {
  // One event of each key starts, the next ends; the rule without KEY holds all of them.
  const auto network = test::network_of(
      "RULE keyed KEY k MATCH A THEN B AFTER MATCH NO SKIP "
      "RULE unkeyed MATCH A AS a THEN ANY B[x > a.x] AFTER MATCH NO SKIP");
  std::vector<EventPtr> events;
  for (std::int64_t i = 0; i < 120; ++i) {
    events.push_back(test::make_event(network->fields(), i / 20 % 2 == 0 ? "A" : "B", static_cast<double>(i), i,
                                      {{"k", Value::integer(i % 20)}, {"x", Value::integer(i % 7)}}));
  }
  const auto run = [&](std::size_t count, bool stands) {
    engine::EngineOptions options;
    options.lanes = count;
    const auto rules = std::make_shared<const engine::LaneRules>(network, count, std::vector<bool>());
    std::deque<Lane> lanes;
    for (std::size_t i = 0; i < count; ++i) lanes.emplace_back(rules, options, i, nullptr);
    const std::size_t slow = rules->lane_of_unkeyed[1];
    Gate gate(0), done(0);
    std::atomic<std::size_t> keyed_matches = 0;
    std::vector<std::string> out;
    {
      LaneThreads threads(
          count, {},
          [&](LaneThreads&, std::size_t index, const LaneBatch& batch) {
            if (stands && index == slow) gate.acquire();
            std::uint64_t step = batch.first_step;
            for (const EventPtr& event : batch.events) {
              lanes[index].give(event, rules->dispatch.of(event->type), ++step);
              ++step;
            }
            Matches matches = lanes[index].take_matches();
            if (index != slow) {
              keyed_matches += matches.size();
              done.release();
            }
            return matches;
          },
          [&](Matches matches) {
            for (const LaneMatch& match : matches) out.push_back(to_json(*match.match, EventsForm::kLines));
          });
      std::uint64_t step = 0;
      for (std::size_t at = 0; at < events.size(); at += 20) {
        LaneBatch batch{
            {events.begin() + static_cast<std::ptrdiff_t>(at), events.begin() + static_cast<std::ptrdiff_t>(at + 20)},
            kMinTime,
            step};
        for (std::size_t i = 0; i < 20; ++i) batch.events[i]->sequence = at + i + 1;
        step = batch.end_step();
        threads.give(std::move(batch));
      }
      if (stands) {
        for (std::size_t i = 0; i < 6 * (count - 1); ++i) done.acquire();
        CHECK(keyed_matches > 50);  // of 20 + 40 + 60, without those in the slow lane
        CHECK(out.empty());
        gate.release(6);
      }
      threads.finish();
    }
    return out;
  };
  const std::vector<std::string> one = run(1, false);
  CHECK(one.size() > 1000);
  CHECK(run(4, true) == one);
}
