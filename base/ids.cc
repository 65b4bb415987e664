#include "base/ids.h"

#include <charconv>
#include <cstdio>
#include <mutex>
#include <set>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cepd {

MatchId hash_match_id(std::string_view canonical) {
  const XXH128_hash_t hash = XXH3_128bits(canonical.data(), canonical.size());
  return {hash.high64, hash.low64};
}

std::string to_string(const MatchId& id) {
  char buffer[33];
  std::snprintf(buffer, sizeof buffer, "%016llx%016llx", static_cast<unsigned long long>(id.high),
                static_cast<unsigned long long>(id.low));
  return {buffer, 32};
}

std::optional<MatchId> parse_match_id(std::string_view hex) {
  if (hex.size() != 32) return std::nullopt;
  MatchId id;
  const char* middle = hex.data() + 16;
  const char* end = hex.data() + 32;
  if (std::from_chars(hex.data(), middle, id.high, 16).ptr != middle) return std::nullopt;
  if (std::from_chars(middle, end, id.low, 16).ptr != end) return std::nullopt;
  return id;
}

const std::string* SourceId::interned(std::string_view name) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> names;
  const std::lock_guard lock(mutex);
  auto it = names.find(name);
  if (it == names.end()) it = names.emplace(name).first;
  return &*it;
}

const std::string* SourceId::no_name() {
  static const std::string* const none = interned({});
  return none;
}

}  // namespace cepd
