#pragma once
/// What happens after a match (language.md section 5): which of the matches that complete together are taken, and what
/// each of them takes from the others and from the partial matches.

#include <cstdint>
#include <deque>
#include <vector>

#include "tests/plain/run.h"

namespace cepd::plain {

struct Taken {
  std::vector<Candidate> matches;  ///< in the order in which they are reported
  std::size_t dropped = 0;         ///< complete matches that the policy dropped
};
/// Removes from `runs` and from `expired` what the taken matches drop. Matches that HAVING drops must be gone before.
Taken take_matches(const dsl::plan::Rule& rule, std::vector<Candidate> completed, std::vector<Run>& runs,
                   std::vector<Run>& expired);

/// True when a match at `time` may act: fewer than `limit.count` that acted have a time in (time - per, time]. Notes it
/// in `acted`.
bool within_limit(const dsl::plan::Limit& limit, EventTime time, std::deque<EventTime>& acted);

}  // namespace cepd::plain
