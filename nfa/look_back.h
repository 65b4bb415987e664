#pragma once
/// What of a partial match can still matter to a condition or bound, by state: partial matches that agree in it behave
/// alike from there on, and the engine moves them together (engine/match_set.h).

#include <optional>
#include <vector>

#include "nfa/automaton.h"
#include "nfa/equal_look_back.h"

namespace cepd::nfa {

struct LookBack {
  struct AtState {
    ElementSet elements = 0;  ///< some condition from here on reads events bound to them
    bool last = false;        ///< the event bound last matters: prev(), the bound of a link, NEXT, CONSECUTIVE
    ElementSet moved_by = 0;  ///< elements (NOTs and UNTILs too) whose events can do something to a partial match here
    bool at_next = false;     ///< so can the very next event of the input, whatever it is
    std::optional<EqualLookBack> equal;  ///< what those events must equal it in; none also where at_next
    std::optional<RangeLookBack> range;  ///< what they must be above or below; likewise, and where there is `equal`
    bool operator==(const AtState&) const = default;
  };
  std::vector<AtState> states;  ///< by StateId
  /// False: each partial match of the rule needs to be looked at by itself, because its first event has a deadline of
  /// its own that is seen (absence, time-outs, a last GREEDY repeat), or several ways may bind the same events.
  bool sets = true;
  /// Wherever a partial match waits, it binds the very next event or is over, and nothing else but WITHIN can end it.
  bool strict = false;
  bool operator==(const LookBack&) const = default;
};

LookBack look_back_of(const dsl::plan::Rule& rule, const Automaton& automaton);

}  // namespace cepd::nfa
