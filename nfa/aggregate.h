#pragma once
/// count sum avg min max stddev percentile distinct collect over the events bound to an element (language.md section
/// 4).

#include "nfa/eval.h"

namespace cepd::nfa {

/// Over nothing `count` is 0 and the others null. Null and counted: a sum of ints that overflows, a result that is not
/// finite, values of kinds that the aggregate is not made for or that do not go together. `sum avg stddev percentile`
/// take numbers, or durations (which give a duration); `min max` whatever has an order.
/// Cost: O(bound events), `percentile` sorts; where the scope keeps tallies that of nfa/tally.h.
Value aggregate(const dsl::plan::Aggregate& node, const Scope& scope, Arena& scratch, EvalErrors& errors);

}  // namespace cepd::nfa
