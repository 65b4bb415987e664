#include "engine/seen_ids.h"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <random>

#include "state/memory_backend.h"

using namespace cepd;
using engine::SeenIds;

namespace {

const PartitionId kPartition{SourceId("bus"), 3};
constexpr std::size_t kMany = 1'000'000;

MatchId id(std::uint64_t number) { return hash_match_id(std::to_string(number)); }

bool add(SeenIds& seen, std::uint64_t number, std::int64_t time, std::int64_t watermark, std::size_t most = kMany,
         const PartitionId& partition = kPartition) {
  return seen.add(partition, id(number), event_time_us(time), event_time_us(watermark), most);
}

void save(SeenIds& seen, state::StateBackend& backend, std::int64_t watermark) {
  state::WriteBatch batch;
  seen.save(batch, [&](const PartitionId&) { return event_time_us(watermark); });
  REQUIRE(backend.commit(batch).has_value());
}

std::unique_ptr<SeenIds> restored(state::StateBackend& backend) {
  auto seen = std::make_unique<SeenIds>();
  REQUIRE(seen->restore(backend).has_value());
  return seen;
}

std::size_t stored(state::StateBackend& backend) {
  std::size_t count = 0;
  REQUIRE(backend
              .scan(state::Space::kEngine, "seen/",
                    [&](auto, auto) -> Status {
                      ++count;
                      return {};
                    })
              .has_value());
  return count;
}

}  // namespace

TEST_CASE("seen ids: an id is known until the watermark has passed its event's time, and then it is a new one") {
  SeenIds seen;
  CHECK(add(seen, 1, 10, 0));
  CHECK(add(seen, 2, 20, 0));
  CHECK_FALSE(add(seen, 1, 10, 5));
  CHECK_FALSE(add(seen, 1, 15, 10));  // at the watermark: it would be in time
  CHECK(add(seen, 1, 30, 11));        // the one before is late by now
  CHECK_FALSE(add(seen, 1, 30, 11));
  CHECK_FALSE(add(seen, 2, 20, 20));
  CHECK_FALSE(add(seen, 1, 30, 21));
  CHECK(add(seen, 2, 21, 21));
}

TEST_CASE("seen ids: each partition has its own") {
  SeenIds seen;
  CHECK(add(seen, 1, 10, 0));
  CHECK(add(seen, 1, 10, 0, kMany, {SourceId("bus"), 4}));
  CHECK(add(seen, 1, 10, 0, kMany, {SourceId("other"), 3}));
  CHECK(seen.size() == 3);
}

TEST_CASE("seen ids: what time has passed takes no room, in memory or stored") {
  SeenIds seen;
  const auto backend = state::memory_backend();
  for (std::uint64_t i = 0; i < 10 * SeenIds::kChunk; ++i)
    CHECK(add(seen, i, static_cast<std::int64_t>(i), static_cast<std::int64_t>(i)));
  CHECK(seen.size() <= 2 * SeenIds::kChunk);
  save(seen, *backend, 0);
  CHECK(stored(*backend) <= 2);
  save(seen, *backend, 10 * SeenIds::kChunk);
  CHECK(seen.size() == 0);
  CHECK(stored(*backend) == 0);
  CHECK(seen.forgotten() == 0);
}

TEST_CASE("seen ids: of more than there may be the first ones are forgotten, and counted") {
  SeenIds seen;
  constexpr std::size_t kMost = 2 * SeenIds::kChunk;
  for (std::uint64_t i = 0; i < 5 * SeenIds::kChunk; ++i) CHECK(add(seen, i, 7, 0, kMost));
  CHECK(seen.size() <= kMost);
  CHECK(seen.size() > kMost - SeenIds::kChunk);
  CHECK(seen.forgotten() == 5 * SeenIds::kChunk - seen.size());
  CHECK_FALSE(add(seen, 5 * SeenIds::kChunk - 1, 7, 0, kMost));
  CHECK(add(seen, 0, 7, 0, kMost));
}

TEST_CASE("seen ids: a save stores what has changed only") {
  SeenIds seen;
  for (std::uint64_t i = 0; i < 3 * SeenIds::kChunk + 5; ++i) CHECK(add(seen, i, 7, 0));
  const auto changes = [&] {
    state::WriteBatch batch;
    seen.save(batch, [](const PartitionId&) { return event_time_us(0); });
    return batch.changes().size();
  };
  CHECK(changes() == 4);
  CHECK(changes() == 0);
  CHECK(add(seen, 1'000'000, 7, 0));
  CHECK(changes() == 1);
}

TEST_CASE("seen ids: as a list of all that ever came says, saved and restored at any time") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto pick = [&](std::int64_t from, std::int64_t to) {
      return std::uniform_int_distribution<std::int64_t>(from, to)(random);
    };
    const auto backend = state::memory_backend();
    auto seen = std::make_unique<SeenIds>();
    std::map<std::uint64_t, std::int64_t> last;  // of each id, the time of the event that was taken last
    std::int64_t watermark = 0;
    bool agree = true;
    for (int i = 0; i < 20'000 && agree; ++i) {
      const auto number = static_cast<std::uint64_t>(pick(0, 9'000));
      const std::int64_t time = watermark + pick(0, 3'000);
      const auto known = last.find(number);
      const bool is_new = known == last.end() || known->second < watermark;
      agree = add(*seen, number, time, watermark) == is_new;
      if (is_new) last[number] = time;
      if (pick(0, 2) == 0) watermark += pick(0, 10);
      if (pick(0, 500) == 0) {
        save(*seen, *backend, watermark);
        if (pick(0, 1) == 0) seen = restored(*backend);
      }
    }
    CHECK(agree);
  }
}

TEST_CASE("seen ids: a record that does not read back is refused") {
  SeenIds seen;
  const auto backend = state::memory_backend();
  CHECK(add(seen, 1, 7, 0));
  save(seen, *backend, 0);
  std::string key, record;
  REQUIRE(backend
              ->scan(state::Space::kEngine, "seen/",
                     [&](std::string_view k, std::string_view r) -> Status {
                       key = k;
                       record = r;
                       return {};
                     })
              .has_value());
  for (const auto& [bad_key, bad_record] :
       {std::pair{key, record.substr(0, record.size() - 1)}, {key, record + "x"}, {key.substr(0, 20), record}}) {
    const auto other = state::memory_backend();
    state::WriteBatch batch;
    batch.put(state::Space::kEngine, bad_key, bad_record);
    REQUIRE(other->commit(batch).has_value());
    CHECK(SeenIds().restore(*other).error().code == Errc::kCorrupt);
  }
}
