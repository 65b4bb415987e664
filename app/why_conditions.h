#pragma once
/// Why a condition did not hold: the part that failed, and what its sides were.

#include <span>
#include <string>
#include <vector>

#include "nfa/eval.h"
#include "nfa/network.h"

namespace cepd::app {

/// One part of a condition (between its top-level ANDs) that was not true.
struct FailedPart {
  std::string condition;  ///< `amount > 3 * avg(o.amount)`
  std::string values;     ///< `amount = 20, 3 * avg(o.amount) = 45.0`; may be empty
};

/// The parts of `conditions` that do not hold in `scope`.
std::vector<FailedPart> failed_parts(std::span<const dsl::plan::ExprPtr> conditions, const dsl::plan::Rule& rule,
                                     const nfa::Scope& scope);

/// The conditions that the element has for an event that the partial match `bound` could take, those over several
/// members of an AND as far as they are due.
std::vector<dsl::plan::ExprPtr> conditions_of(const dsl::plan::Element& element, std::span<const nfa::Bound> bound);

/// `{price: 30, item: "lamp"}`: the fields of an event bound to `element` that conditions of the rule read. Empty when
/// they read none.
std::string fields_read(const dsl::plan::Rule& rule, dsl::plan::ElementId element, const Event& event,
                        const FieldPlan& fields);

}  // namespace cepd::app
