#pragma once
/// A hash of a set of records that follows its changes one by one: the sum, modulo 2^256, of the SHA-256 of each
/// record. Source: Clarke et al., Incremental multiset hash functions, ASIACRYPT 2003 (MSet-Add-Hash, without a key: it
/// finds damage, it is no defence against someone who can write to the disk).

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "state/backend.h"

namespace cepd::state {

class MultisetHash {
 public:
  void add(Space space, std::string_view key, std::string_view value);
  void remove(Space space, std::string_view key, std::string_view value);

  /// 32 bytes, big-endian.
  std::string bytes() const;
  static MultisetHash from_bytes(std::string_view bytes);  // of 32 bytes
  std::string hex() const;
  bool operator==(const MultisetHash&) const = default;

 private:
  using Words = std::array<std::uint64_t, 4>;  // least significant first
  static Words digest(Space space, std::string_view key, std::string_view value);

  Words sum_{};
};

/// What is in a set of records.
struct StateSum {
  MultisetHash hash;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;  ///< of keys and values

  void add(Space space, std::string_view key, std::string_view value);
  void remove(Space space, std::string_view key, std::string_view value);
  bool operator==(const StateSum&) const = default;
};

}  // namespace cepd::state
