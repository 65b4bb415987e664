#pragma once
/// Partial matches, one object each ("run"): nothing is shared between them but the events they hold.

#include <cstdint>
#include <deque>
#include <vector>

#include "base/arena.h"
#include "base/value.h"
#include "nfa/eval.h"
#include "nfa/network.h"

namespace cepd::plain {

using nfa::Bound;

/// How far a partial match is in one group.
struct GroupProgress {
  std::uint32_t repeats = 0;  ///< the present one included, up to GroupBound::max_counted
  EventTime start{};          ///< of the present repeat's first event; kept only where the group has a bound
};

struct Run {
  std::vector<Bound> bound;           ///< in the order bound; never empty
  nfa::StateId state{};               ///< where the last of them was taken
  std::uint32_t count = 1;            ///< events taken there; of an unbounded repeat up to its minimum
  nfa::ElementSet members = 0;        ///< the elements they are bound to
  nfa::BranchSet branches = 0;        ///< of the state: still open
  std::vector<GroupProgress> groups;  ///< by GroupId
  nfa::ElementSet violated = 0;       ///< NOTs that accepted an event since the last bound one
  bool adjacent = true;               ///< no event of the input has come since the last bound one
  bool ended = false;                 ///< UNTIL has ended the repeat
  bool first_completed = false;       ///< some match of this first event was complete: it leaves no time-out
  EventTime due{};                    ///< when time alone next changes it; kMaxTime: never

  const Event& first() const { return *bound.front().event; }
  const Event& last() const { return *bound.back().event; }
};

/// A complete match before HAVING and the policy have seen it.
struct Candidate {
  std::vector<Bound> bound;
  EventTime time{};

  const Event& first() const { return *bound.front().event; }
};

/// The order in which matches that complete together are taken (language.md section 5): earlier first event, more
/// events, the order of their positions, then the one that binds the first differing event to the element written
/// earlier.
bool taken_before(const std::vector<Bound>& a, const std::vector<Bound>& b);

/// Drops runs that nothing tells apart any more: several ways led to the same place.
void remove_equal(std::vector<Run>& runs);

/// All that one rule knows of one key.
struct KeyState {
  std::vector<Value> key;  ///< text in `arena`
  Arena arena;
  std::vector<Run> runs;        ///< their order means nothing
  std::vector<Run> expired;     ///< ended by a bound while others of their first event go on: one may be reported later
  std::deque<EventTime> acted;  ///< times of matches whose actions ran, for LIMIT
  std::deque<EventTime> acted_on_timeout;

  bool empty() const { return runs.empty() && expired.empty() && acted.empty() && acted_on_timeout.empty(); }
};

}  // namespace cepd::plain
