#pragma once
/// Evaluates the conditions and expressions of a rule on a partial match (language.md section 4).

#include <cstdint>
#include <span>
#include <vector>

#include "base/event.h"
#include "dsl/plan.h"

namespace cepd::nfa {

/// One bound event. A partial match is a list of these in the order they were bound, which is the total order. Only
/// looks: the event belongs to the partial match.
struct Bound {
  dsl::plan::ElementId element{};
  const Event* event = nullptr;
};

class OwnTallies;  // nfa/tally.h

/// What names refer to. Only looks; everything must outlive the evaluation and its result.
struct Scope {
  const Event* tested = nullptr;      ///< none in HAVING, EMIT and DO
  std::span<const Bound> bound;       ///< the partial match, without the tested event
  std::span<const Value> key;         ///< the values of the KEY fields
  std::span<const NamedValue> emit;   ///< in DO
  const FieldPlan* fields = nullptr;  ///< names of types (for `type`)
  OwnTallies* tallies = nullptr;      ///< what is kept of `bound`; null: nothing is
};

/// Per rule: unknowns that come from unlike types, overflow, division by zero or a result that is not finite
/// (`cepd_expression_errors_total`).
struct EvalErrors {
  std::uint64_t count = 0;
};

/// `scratch` owns computed text; the result may point into it, into events of the scope, or into the expression.
Value evaluate(const dsl::plan::Expr& expr, const Scope& scope, Arena& scratch, EvalErrors& errors);

/// Three-valued logic at its end: only true accepts. True for an empty list.
bool holds(std::span<const dsl::plan::ExprPtr> conditions, const Scope& scope, Arena& scratch, EvalErrors& errors);

/// What `ref` names in the scope.
Value read_field(const dsl::plan::FieldRef& ref, const Scope& scope);

/// The property of `event` that `ref` names, whatever its subject.
Value read_property(const dsl::plan::FieldRef& ref, const Event& event, const FieldPlan& fields);

}  // namespace cepd::nfa
