#pragma once
/// Equality look-backs (`payment[order_id = o.order_id]`): where every event that can do something to a partial match
/// in a state must equal it in the same value, those that an event concerns are found by that value
/// (engine/run_index.h).

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "dsl/plan.h"

namespace cepd::nfa {

struct EqualLookBack {
  dsl::plan::FieldRef of;  ///< of the partial match: it is the same while that waits in the state
  /// What of the event must equal it: by element (NOTs and UNTILs too) that can do something in the state.
  std::vector<std::pair<dsl::plan::ElementId, dsl::plan::FieldRef>> elements;
  /// Likewise by UNLESS clause; one that is missing asks for no such thing.
  std::vector<std::pair<std::size_t, dsl::plan::FieldRef>> unless;
  bool operator==(const EqualLookBack&) const = default;
};

/// For a state in which events of `moved_by` can do something. None where some of them ask for no equality, or no two
/// for the same one.
std::optional<EqualLookBack> equal_look_back_of(const dsl::plan::Rule& rule, dsl::plan::ElementSet moved_by);

}  // namespace cepd::nfa
