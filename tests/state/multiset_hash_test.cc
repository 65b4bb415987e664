#include "state/multiset_hash.h"

#include <doctest/doctest.h>

#include <string>

namespace cepd::state {
namespace {

TEST_CASE("multiset hash: of one record it is the SHA-256 of space, length and bytes of the key, and value") {
  MultisetHash hash;
  hash.add(Space::kPartial, "abc", "value");
  // printf '\002\003abcvalue' | sha256sum
  CHECK(hash.hex() == "90b60344f5601aeb738fe82b1ab405d81ff130e56a03cfe49e415f108d706909");
  CHECK(MultisetHash::from_bytes(hash.bytes()) == hash);
}

TEST_CASE("multiset hash: the order of changes does not matter, and what was removed leaves nothing") {
  MultisetHash one, other;
  for (int i = 0; i < 200; ++i) one.add(Space::kOutbox, std::to_string(i), "v");
  for (int i = 199; i >= 0; --i) other.add(Space::kOutbox, std::to_string(i), "v");
  CHECK(one == other);
  other.add(Space::kOutbox, "more", "v");
  CHECK_FALSE(one == other);
  for (int i = 0; i < 200; ++i) other.remove(Space::kOutbox, std::to_string(i), "v");
  other.remove(Space::kOutbox, "more", "v");
  CHECK(other == MultisetHash());
  // More is taken than was there, and given back.
  other.remove(Space::kOutbox, "x", "v");
  other.add(Space::kOutbox, "x", "v");
  CHECK(other == MultisetHash());
}

TEST_CASE("multiset hash: space, key and value are apart, and what is there twice counts twice") {
  const auto of = [](Space space, const char* key, const char* value) {
    MultisetHash hash;
    hash.add(space, key, value);
    return hash.hex();
  };
  CHECK(of(Space::kPartial, "ab", "c") != of(Space::kPartial, "a", "bc"));
  CHECK(of(Space::kPartial, "a", "b") != of(Space::kPending, "a", "b"));
  MultisetHash twice;
  twice.add(Space::kPartial, "a", "b");
  twice.add(Space::kPartial, "a", "b");
  CHECK(twice.hex() != of(Space::kPartial, "a", "b"));
}

}  // namespace
}  // namespace cepd::state
