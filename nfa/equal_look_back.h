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

/// What of the event is compared: by element (NOTs and UNTILs too) that can do something in the state.
struct LookedBackFrom {
  std::vector<std::pair<dsl::plan::ElementId, dsl::plan::FieldRef>> elements;
  /// Likewise by UNLESS clause; one that is missing asks for no such thing.
  std::vector<std::pair<std::size_t, dsl::plan::FieldRef>> unless;
  bool operator==(const LookedBackFrom&) const = default;
};

struct EqualLookBack : LookedBackFrom {
  dsl::plan::FieldRef of;  ///< of the partial match: it is the same while that waits in the state
  bool operator==(const EqualLookBack&) const = default;
};

/// Range look-backs (`tick[price > a.price * 1.1]`), likewise: those that an event concerns stand together in the order
/// of the value.
struct RangeLookBack : LookedBackFrom {
  dsl::plan::ExprPtr of;  ///< of the partial match
  bool above = false;     ///< what of the event is compared must be above it, or equal; else below, or equal
  bool operator==(const RangeLookBack&) const = default;
};

/// For a state in which events of `moved_by` can do something. None where some of them ask for no equality, or no two
/// for the same one.
std::optional<EqualLookBack> equal_look_back_of(const dsl::plan::Rule& rule, dsl::plan::ElementSet moved_by);
/// Likewise.
std::optional<RangeLookBack> range_look_back_of(const dsl::plan::Rule& rule, dsl::plan::ElementSet moved_by);

}  // namespace cepd::nfa
