#include "nfa/aggregate.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "nfa/tally.h"

namespace cepd::nfa {
namespace {

using dsl::plan::AggregateKind;

template <class Visit>
void each_value(const dsl::plan::Aggregate& node, const Scope& scope, const Visit& visit) {
  const dsl::plan::FieldRef& field = *node.field;
  // Nearly always all events have the field in one place.
  const bool in_one_place = field.property == dsl::plan::Property::kField && field.slots.size() == 1;
  for (const Bound& bound : scope.bound) {
    if (bound.element != node.element) continue;
    if (in_one_place && bound.event->type == field.slots.front().first) {
      visit(bound.event->field(field.slots.front().second));
    } else {
      visit(read_property(field, *bound.event, *scope.fields));
    }
  }
}

/// The JSON text of the list, nulls included.
Value collect(const dsl::plan::Aggregate& node, const Scope& scope, Arena& scratch) {
  std::string text;
  each_value(node, scope, [&](const Value& v) {
    text += text.empty() ? '[' : ',';
    append_json(text, v);
  });
  if (text.empty()) return Value::null();
  text += ']';
  return Value::json(scratch.copy(text));
}

}  // namespace

Value aggregate(const dsl::plan::Aggregate& node, const Scope& scope, Arena& scratch, EvalErrors& errors) {
  CEPD_CHECK(node.field.has_value() || node.kind == AggregateKind::kCount);
  if (node.kind == AggregateKind::kCollect) return collect(node, scope, scratch);
  if (Tallies* kept = tallies_of(scope)) return kept->aggregate(node, scope.bound, *scope.fields, errors);
  if (!node.field) {
    return Value::integer(std::count_if(scope.bound.begin(), scope.bound.end(),
                                        [&](const Bound& bound) { return bound.element == node.element; }));
  }
  Tally tally(node);
  each_value(node, scope, [&](const Value& v) { tally.add(v); });
  return tally.value(errors);
}

}  // namespace cepd::nfa
