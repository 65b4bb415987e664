#pragma once
/// Partial matches under way. A *run* stands for all partial matches of one rule and key that nothing ahead can tell
/// apart: they wait in the same place, and what conditions ahead may read of them (nfa/look_back.h) is the same. Where
/// a rule needs each partial match by itself, a run is one of them, as in SASE (Wu, Diao, Rizvi: High-Performance
/// Complex Event Processing over Streams, SIGMOD 2006).

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "base/block_pool.h"
#include "engine/match_set.h"
#include "nfa/network.h"
#include "nfa/tally.h"

namespace cepd::engine {

using BoundList = boost::container::small_vector<Bound, 2, PoolAllocator<Bound>>;

/// How far a partial match is in one group.
struct GroupProgress {
  std::uint32_t repeats = 0;  ///< the present one included, up to GroupBound::max_counted
  EventTime start{};          ///< of the present repeat's first event; kept only where the group has a bound
  bool operator==(const GroupProgress&) const = default;
};

struct Run {
  MatchSet set;     ///< the partial matches; owns their events
  BoundList bound;  ///< of a single partial match all its events; else those that conditions ahead may read
  mutable nfa::OwnTallies tallies;    ///< of `bound`, as conditions have asked; derived
  nfa::StateId state{};               ///< where the last event was taken
  std::uint32_t count = 1;            ///< events taken there; of an unbounded repeat up to its minimum
  nfa::ElementSet members = 0;        ///< the elements they are bound to
  nfa::BranchSet branches = 0;        ///< of the state: still open
  std::vector<GroupProgress> groups;  ///< by GroupId
  nfa::ElementSet violated = 0;       ///< NOTs that accepted an event since the last bound one
  bool ended = false;                 ///< UNTIL has ended the repeat
  bool first_completed = false;       ///< some match of this first event was complete: it leaves no time-out
  EventTime due{};                    ///< when time alone next changes it; kMaxTime: never
  EventTime last_time{};              ///< of the event bound last; of several, of the latest
  std::uint64_t last_sequence = 0;    ///< likewise

  /// Nothing tells the two apart but the partial matches they stand for.
  bool same_place(const Run& other) const;
  std::uint64_t place_hash() const;  ///< equal for runs in the same place
};

/// Most keys have one.
using Runs = boost::container::small_vector<Run, 1, PoolAllocator<Run>>;

/// Returns how many were erased.
template <class Gone>
std::size_t erase_if(Runs& runs, const Gone& gone) {
  const auto from = std::remove_if(runs.begin(), runs.end(), gone);
  const auto count = static_cast<std::size_t>(runs.end() - from);
  runs.erase(from, runs.end());
  return count;
}

/// A complete match before HAVING and the policy have seen it; only looks.
struct Candidate {
  std::span<const Bound> bound;
  EventTime time{};
};

/// The order in which matches that complete together are taken (language.md section 5): earlier first event, more
/// events, the order of their positions, then the one that binds the first differing event to the element written
/// earlier.
bool taken_before(std::span<const Bound> a, std::span<const Bound> b);

/// Drops runs that nothing tells apart any more: several ways led to the same place (only in ambiguous automata).
void remove_equal(Runs& runs);

}  // namespace cepd::engine
