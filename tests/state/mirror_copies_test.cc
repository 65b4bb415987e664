#include "state/mirror_copies.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>

#include "state/layout.h"
#include "state/memory_backend.h"
#include "state/verify.h"
#include "tests/state/checkpoints_subject.h"
#include "tests/state/map_store.h"
#include "tests/state/state_dump.h"

namespace cepd::state {
namespace {

/// Random changes of a few keys, so that they are written again and again.
class Changes {
 public:
  WriteBatch of(std::span<const Space> spaces) {
    WriteBatch batch;
    for (std::size_t i = random_() % 12; i > 0; --i) {
      const Space space = spaces[random_() % spaces.size()];
      const std::string key = "k" + std::to_string(random_() % 30);
      if (random_() % 3 == 0) {
        batch.erase(space, key);
      } else {
        batch.put(space, key, std::to_string(random_()));
      }
    }
    return batch;
  }

 private:
  std::mt19937 random_{7};
};

Records records_of(StateBackend& backend) {
  Records records = checkpointed_records(backend);
  records.merge(live_records(backend));
  return records;
}

/// What a state is that is made of copy `number`.
Records restored(MapStore& store, std::uint64_t number) {
  const auto backend = memory_backend();
  const auto copy = restore_copy(store, *backend, number);
  if (!copy) FAIL(copy.error().message);
  CHECK(copy->checkpoint.number == number);
  CHECK(copy->damaged.empty());
  CHECK(verify_state(*backend)->good());
  return records_of(*backend);
}

WriteBatch both(WriteBatch a, WriteBatch b) {
  a.append(std::move(b));
  return a;
}

TEST_CASE("mirror copies: each that is kept is the state as of its checkpoint, whatever was written since") {
  const auto backend = memory_backend();
  MapStore store;
  Changes changes;
  std::map<std::uint64_t, Records> was;
  CheckpointOptions options = small();
  options.keep = 6;
  Subject subject(*backend, options);
  MirrorCopies copies(*backend, store, *identity_of(*backend), 4);
  std::size_t fulls = 0;
  for (int round = 0; round < 40; ++round) {
    subject.add(changes.of(kLiveSpaces));
    const Records live = live_records(*backend);
    const std::uint64_t number = subject->begin(round, 1);
    subject.add(changes.of(kLiveSpaces));  // behind the barrier
    subject->add(changes.of(kCheckpointSpaces));
    subject->finish();
    REQUIRE(subject->wait_finished(number, far()));
    was[number] = checkpointed_records(*backend);
    was[number].insert(live.begin(), live.end());
    if (round % 7 == 3) continue;  // away
    // What comes while it is copied is not of it.
    store.before_write = [&]() -> Status {
      subject.add(changes.of(kLiveSpaces));
      return {};
    };
    const auto added = copies.add(number);
    REQUIRE(added.has_value());
    fulls += added->full ? 1 : 0;
    CHECK(store.listed.size() >= std::min<std::size_t>(4, number / 2));
    for (auto each = store.listed.rbegin(); std::distance(store.listed.rbegin(), each) < 4; ++each) {
      if (each == store.listed.rend()) break;
      CHECK(restored(store, *each) == was[*each]);
    }
    CHECK(store.listed.size() <= 3 * 4);
  }
  CHECK(fulls > 1);
  CHECK(fulls < 12);
  // No blob is left of those that are not listed.
  for (const auto& [name, bytes] : store.blobs) {
    const std::uint64_t number = std::stoull(name.substr(name.find(':') + 1));
    CHECK(store.listed.contains(number));
  }
}

TEST_CASE(
    "mirror copies: one that was emptied, or that was away for longer than checkpoints are kept, gets all again") {
  const auto backend = memory_backend();
  MapStore store;
  Subject subject(*backend);
  MirrorCopies copies(*backend, store, *identity_of(*backend), 3);
  subject.whole(put(Space::kPartial, "a", "1"));
  REQUIRE(copies.add(1)->full);
  subject.whole(put(Space::kPartial, "b", "2"));
  CHECK_FALSE(copies.add(2)->full);
  store.blobs.clear();
  store.listed.clear();
  subject.whole(put(Space::kPartial, "c", "3"));
  CHECK(copies.add(3)->full);
  for (int i = 0; i < 5; ++i) subject.whole(put(Space::kPartial, "d", std::to_string(i)));
  subject.settle();
  CHECK(copies.add(8)->full);
  CHECK(restored(store, 8) == records_of(*backend));
  // Known from what is there alone.
  MirrorCopies again(*backend, store, *identity_of(*backend), 3);
  subject.whole(put(Space::kPartial, "e", "1"));
  CHECK_FALSE(again.add(9)->full);
  CHECK(restored(store, 9) == records_of(*backend));
}

TEST_CASE("mirror copies: one that is damaged is told, and the one before it taken") {
  const auto backend = memory_backend();
  MapStore store;
  Subject subject(*backend);
  MirrorCopies copies(*backend, store, *identity_of(*backend), 3);
  subject.whole(put(Space::kPartial, "a", "1"));
  REQUIRE(copies.add(1).has_value());
  const Records first = records_of(*backend);
  subject.whole(put(Space::kPartial, "b", "2"));
  REQUIRE(copies.add(2).has_value());
  const MapStore good = store;

  const auto falls_back = [&](const std::string& says) {
    const auto empty = memory_backend();
    const auto copy = restore_copy(store, *empty, std::nullopt);
    REQUIRE(copy.has_value());
    CHECK(copy->checkpoint.number == 1);
    REQUIRE(copy->damaged.size() == 1);
    CHECK(copy->damaged.front().find(says) != std::string::npos);
    CHECK(records_of(*empty) == first);
    CHECK(verify_state(*empty)->good());
    CHECK(restore_copy(store, *memory_backend(), 2).error().code == Errc::kCorrupt);
    store = good;
  };
  SUBCASE("a byte of a chunk") {
    for (char& byte : store.blobs[chunk_name(2, 0)]) {
      byte = static_cast<char>(byte ^ 1);
      CHECK(restore_copy(store, *memory_backend(), 2).error().code == Errc::kCorrupt);
      byte = static_cast<char>(byte ^ 1);
    }
    store.blobs[chunk_name(2, 0)].back() ^= 1;
    falls_back("is not what was written");
  }
  SUBCASE("a byte of the manifest") {
    for (char& byte : store.blobs[manifest_name(2)]) {
      byte = static_cast<char>(byte ^ 1);
      CHECK(restore_copy(store, *memory_backend(), 2).error().code == Errc::kCorrupt);
      byte = static_cast<char>(byte ^ 1);
    }
    store.blobs[manifest_name(2)].back() ^= 1;
    falls_back("does not read back");
  }
  SUBCASE("a chunk that is gone") {
    store.blobs.erase(chunk_name(2, 0));
    falls_back("lacks chunk");
  }
  SUBCASE("a manifest that is gone") {
    store.blobs.erase(manifest_name(2));
    falls_back("has lost its manifest");
  }
  SUBCASE("chunk and manifest that fit each other, but not the state") {
    MirrorManifest manifest = *decode_manifest(2, store.blobs[manifest_name(2)]);
    std::string chunk;
    ChunkWriter writer([&](std::string full) -> Status {
      chunk = std::move(full);
      return {};
    });
    REQUIRE(writer.add({WriteBatch::Change::Kind::kPut, Space::kPartial, "b", "other"}).has_value());
    REQUIRE(writer.finish().has_value());
    manifest.chunks = {{sha256(chunk), chunk.size()}};
    store.blobs[chunk_name(2, 0)] = chunk;
    store.blobs[manifest_name(2)] = encode(manifest);
    falls_back("does not come to what its checkpoint was");
  }
  SUBCASE("all of them") {
    store.blobs[chunk_name(1, 0)].back() ^= 1;
    const auto empty = memory_backend();
    CHECK(restore_copy(store, *empty, std::nullopt).error().code == Errc::kCorrupt);
    CHECK(all_records(*empty).empty());
  }
}

TEST_CASE("mirror copies: those of another state are not written over") {
  MapStore store;
  const auto other = memory_backend();
  Subject theirs(*other);
  for (int i = 0; i < 3; ++i) theirs.whole(put(Space::kPartial, "a", std::to_string(i)));
  MirrorCopies of_theirs(*other, store, *identity_of(*other), 3);
  REQUIRE(of_theirs.add(3).has_value());
  const auto backend = memory_backend();
  Subject subject(*backend);
  MirrorCopies copies(*backend, store, *identity_of(*backend), 3);
  subject.whole(put(Space::kPartial, "b", "1"));
  for (std::uint64_t number = 1; number < 12; ++number) {
    CHECK(copies.add(number).error().code == Errc::kInvalidArgument);
    subject.whole(put(Space::kPartial, "b", "1"));
  }
  CHECK(copies.add(12).error().message.find("copy 3 of another state") != std::string::npos);
  CHECK(store.listed == std::set<std::uint64_t>{3});
  // The same one, but put back from an old export: it has another checkpoint 2.
  MapStore ours;
  MirrorCopies before(*other, ours, *identity_of(*other), 3);
  REQUIRE(before.add(3).has_value());
  const auto old = memory_backend();
  WriteBatch identity;
  put_identity(identity, *identity_of(*other));
  REQUIRE(old->commit(identity).has_value());
  Subject again(*old);
  for (int i = 0; i < 4; ++i) again.whole(put(Space::kPartial, "c", "1"));
  MirrorCopies after(*old, ours, *identity_of(*old), 3);
  CHECK(after.add(4).error().message.find("copy 3 of another state") != std::string::npos);
}

TEST_CASE("mirror copies: a state made of one goes on where it was") {
  const auto backend = memory_backend();
  MapStore store;
  {
    Subject subject(*backend);
    MirrorCopies copies(*backend, store, *identity_of(*backend), 3);
    subject.add(put(Space::kOutbox, "call", "v"));
    subject.whole(both(put(Space::kPartial, "a", "1"), put(Space::kPositions, "p", "5")), 700);
    REQUIRE(copies.add(1).has_value());
  }
  const auto made = memory_backend();
  REQUIRE(restore_copy(store, *made, std::nullopt).has_value());
  Subject subject(*made);
  REQUIRE(subject->last());
  CHECK(subject->last()->journal_sequence == 700);
  MirrorCopies copies(*made, store, *identity_of(*made), 3);
  CHECK(subject.whole(put(Space::kPartial, "a", "2")) == 2);
  const auto added = copies.add(2);
  REQUIRE(added.has_value());
  CHECK_FALSE(added->full);
  CHECK(restored(store, 2) == records_of(*made));
}

}  // namespace
}  // namespace cepd::state
