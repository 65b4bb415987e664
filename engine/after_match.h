#pragma once
/// What happens after a match (language.md section 5): which of the matches that complete together are taken, and what
/// each of them takes from the others and from the partial matches.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/key_state.h"
#include "engine/trace.h"

namespace cepd::engine {

/// True when the policy of `rule` drops something that holds `bound` because `taken` was taken.
bool drops(const dsl::plan::Rule& rule, std::span<const Bound> taken, std::span<const Bound> bound);

/// Notes in `marks` what the policy drops because `taken` was taken.
void mark_dropped(const dsl::plan::Rule& rule, std::span<const Bound> taken, Marks& marks);

/// Orders `completed`, removes duplicates, and calls `take` for each that is taken, in their order. Matches that HAVING
/// drops must be gone before. Returns how many complete matches the policy dropped. `trace` may be null.
std::size_t take_matches(const dsl::plan::Rule& rule, std::vector<Candidate>& completed,
                         const std::function<void(const Candidate&)>& take, Trace* trace);

/// True when a match at `time` may act: fewer than `limit.count` that acted have a time in (time - per, time]. Notes it
/// in `acted`.
bool within_limit(const dsl::plan::Limit& limit, EventTime time, Times& acted);

}  // namespace cepd::engine
