#pragma once
/// One rule's pattern as an automaton. Its states are the places where events are taken (Glushkov's construction: a
/// state says what was bound last), with counters for repeats and for groups instead of copies of them.
///
/// Ways to go on that exclude each other before any event has come — into a repeated group or past it, into one
/// alternative of an OR or another — are the *branches* of a state. A partial match keeps the set of branches that are
/// open; an event closes the ones that take it, and the partial match waits on in the others. Edges of one branch are
/// open together (`B? THEN C`: whichever accepts the event takes it). What a branch has settled stays settled, as if
/// the rule were written once per alternative: with an element that may be left out or repeated before a decision, only
/// those branches are open behind it that agree with the one it was reached in.

#include <cstdint>
#include <optional>
#include <vector>

#include "dsl/plan.h"

namespace cepd::nfa {

using dsl::plan::element_bit;
using dsl::plan::ElementSet;

/// Index into Automaton::states.
enum class StateId : std::uint16_t {};
/// Index into Automaton::groups.
enum class GroupId : std::uint8_t {};
using GroupSet = std::uint32_t;
constexpr GroupSet group_bit(GroupId id) { return GroupSet{1} << static_cast<unsigned>(id); }
/// A set of branches of one state, one bit each.
using BranchSet = std::uint64_t;

/// kTake: keep the event and move. Every state also ignores events that it does not take, as far as contiguity and NOT
/// allow.
struct Edge {
  StateId to{};
  ElementSet elements = 0;  ///< the event goes to the first of them that accepts it
  dsl::plan::Link link;
  ElementSet guards = 0;         ///< NOTs written between: none may have been seen since the last bound event
  BranchSet branches = 0;        ///< of the state it leaves
  std::vector<BranchSet> opens;  ///< by branch of the state it leaves: the branches of `to` that agree with it
  GroupSet enters = 0;           ///< groups whose first repeat begins with the event
  GroupSet repeats = 0;          ///< the group, if any, whose next repeat begins with it
  GroupSet inside = 0;           ///< groups with a bound whose present repeat goes on with it
};

/// When a partial match that may end in a state is complete.
enum class Completes : std::uint8_t {
  kNow,        ///< at the event that brought it here
  kNextEvent,  ///< at the very next event of the input, if no guard accepts it (a last NEXT NOT)
  kDeadline,   ///< when its time is up and no guard accepted an event (a last THEN NOT: absence)
  kRepeatEnd,  ///< when a last GREEDY repeat can take no more
};

struct Accept {
  Completes completes = Completes::kNow;
  ElementSet guards = 0;         ///< NOTs that stand last
  std::optional<Micros> within;  ///< of kDeadline: counted from the last bound event; none: the match's WITHIN
  StateId greedy{};              ///< of kRepeatEnd: the state of the repeat
};

/// The group's repeats so far, the present one included, must lie between.
struct CountTest {
  GroupId group{};
  std::uint32_t min = 0, max = 0;
};

struct Branch {
  std::vector<CountTest> when;   ///< the branch is open only if all hold
  std::optional<Accept> accept;  ///< the pattern may end here
  bool waits = false;            ///< nothing is taken: only the deadline of a last NOT is waited for
  BranchSet again = 0;           ///< the branches that agree with it: open when a repeat of the state has gone on in it
};

/// "Some events of `members` are bound, one of them most recently". The partial match counts them.
struct State {
  std::vector<ElementSet> members;  ///< several: AND, each bound once
  ElementSet elements = 0;          ///< all of them
  std::uint32_t min = 1, max = 1;   ///< edges and acceptance need `min` events, `max` of them end taking
  dsl::plan::Contiguity again = dsl::plan::Contiguity::kSkipTillNext;
  bool greedy = false;
  std::optional<dsl::plan::ElementId> until;
  GroupSet inside = 0;      ///< groups with a bound that it stands in
  std::vector<Edge> edges;  ///< in pattern order within each branch
  std::vector<Branch> branches;
  BranchSet waiting = 0;    ///< branches that only wait
  BranchSet accepting = 0;  ///< those in which the pattern may end here
  BranchSet later = 0;      ///< of them those that are not complete at once
  BranchSet counted = 0;    ///< branches that ask for numbers of repeats
  ElementSet guards = 0;    ///< all guards of edges and acceptance

  bool joins() const { return members.size() > 1; }
  /// Nothing comes after the event that is taken here.
  bool last() const { return edges.empty() && max == 1 && later == 0; }
  /// Calls `visit(const Branch&, BranchSet bit)` for each branch of `set`.
  template <class Visit>
  void each_branch(BranchSet set, const Visit& visit) const {
    for (; set != 0; set &= set - 1) visit(branches[static_cast<std::size_t>(__builtin_ctzll(set))], set & -set);
  }
};

struct GroupBound {
  std::uint32_t max_counted = 1;  ///< more repeats than this need not be told apart
  std::optional<Micros> within;   ///< of each repeat
};

struct Automaton {
  std::vector<State> states;  ///< one for each slot, in pattern order
  State start;                ///< nothing bound yet: only its edges and their branches are used
  std::vector<GroupBound> groups;
  ElementSet next_guards = 0;  ///< the NOTs reached by NEXT: they look only at the very next event
  /// How long a NOT looks after the last bound event; by element, none: until the next bound event.
  std::vector<std::optional<Micros>> guard_within;
  ElementSet starting = 0;     ///< elements that the first event may be bound to
  ElementSet moving = 0;       ///< elements that can do something to a partial match under way
  bool looks_at_next = false;  ///< something depends on the very next event of the input, whatever it is
  bool ambiguous = false;      ///< several ways may bind the same events to the same elements
};

/// Cannot fail: what cannot be compiled was refused by the check.
Automaton compile_automaton(const dsl::plan::Rule& rule);

}  // namespace cepd::nfa
