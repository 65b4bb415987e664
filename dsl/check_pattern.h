#pragma once
/// MATCH: the elements with their types and names, and the tree of slots, NOTs and groups; the mistakes that can be
/// seen without conditions. Internal to dsl/check*.cc.

#include <functional>
#include <vector>

#include "dsl/check_expr.h"

namespace cepd::dsl::checking {

/// An element of the plan as it was written.
struct WrittenElement {
  const ast::Element* element = nullptr;         ///< of an UNTIL: the element whose repeat it ends
  std::vector<const ast::EventPattern*> events;  ///< several: `(a OR b) AS name`
  const ast::Link* link = nullptr;               ///< null on the first and on UNTIL
};

/// What MATCH says: scope.elements, scope.places and scope.names are filled in beside it (no keys, no conditions yet).
struct Pattern {
  std::vector<WrittenElement>
      written;  ///< in the order of scope.elements; empty after a mistake that would only lead to others
  std::vector<plan::Slot> slots;
  plan::Sequence tree;
  bool bounded = false;  ///< links and groups bound the time from the first to the last event
};
Pattern build_pattern(const ast::Rule& rule, RuleScope& scope);

/// Which types an event in MATCH, FROM or UNLESS may have; reports unknown ones.
plan::Types build_types(const ast::EventPattern& event, RuleScope& scope);

/// Calls `visit` with every event of MATCH, FROM and UNLESS.
void for_each_event(const ast::Rule& rule, const std::function<void(const ast::EventPattern&)>& visit);

}  // namespace cepd::dsl::checking
