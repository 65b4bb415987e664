#pragma once
/// What lanes need to read keys from where they are stored (docs/state_format.md).

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/snapshot.h"
#include "state/backend.h"

namespace cepd::engine {

/// Drops what began too early for all rules that read it. False: nothing is left of it. `prefix_since`: as below.
inline bool keep_seen(KeyPart& part, const std::vector<std::uint64_t>& prefix_since) {
  if (!part.of_prefix()) return true;
  MatchSet& set = static_cast<PrefixState&>(part).set;
  set.cut(prefix_since[part.prefix()]);
  return !set.empty();
}

/// Of one set of rules. Immutable while the lanes work.
struct StoredKeys {
  state::StateBackend* backend = nullptr;
  Owners owners;
  boost::unordered_flat_map<std::uint64_t, StoredPlan> plans;  ///< by their numbers
  std::vector<RuleRecord> rules;                               ///< by rule
  std::vector<std::uint64_t> prefix_since;                     ///< by prefix: the least RuleRecord::since of its rules
  std::function<void(const Error&)> unreadable;                ///< does not return

  /// Null where what is stored under it is nothing to the rules that there are: those that it is of have changed or
  /// gone, even if they have come again since.
  const std::uint32_t* owner_of(const MatchId& id, const PartHead& head) const {
    const auto at = owners.find(id);
    if (at == owners.end()) return nullptr;
    const bool of_prefix = (at->second & KeyPart::kPrefix) != 0;
    const std::uint64_t since = of_prefix ? prefix_since[at->second & ~KeyPart::kPrefix] : rules[at->second].since;
    return head.before <= since ? nullptr : &at->second;
  }
};

}  // namespace cepd::engine
