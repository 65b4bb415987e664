#pragma once
/// The elements of a pattern: types, names, counts and links, and the mistakes that can be seen without conditions.
/// Internal to dsl/check*.cc.

#include <functional>
#include <vector>

#include "dsl/check_expr.h"

namespace cepd::dsl::checking {

/// An element of the plan as it was written.
struct WrittenElement {
  const ast::Element* element = nullptr;
  const ast::EventPattern* event = nullptr;
  const ast::Link* link = nullptr;  ///< null on the first
};

/// Fills scope.elements (no keys and no conditions yet) and scope.names. Returns the elements as written, in the same
/// order; empty after a mistake that would only lead to others.
std::vector<WrittenElement> build_elements(const ast::Rule& rule, RuleScope& scope);

/// Which types an event in MATCH, FROM or UNLESS may have; reports unknown ones.
plan::Types build_types(const ast::EventPattern& event, RuleScope& scope);

/// True when a match may begin with element `index`: everything before it may be left out.
bool may_start(const std::vector<plan::Element>& elements, std::size_t index);

/// Calls `visit` with every event of MATCH, FROM and UNLESS, those in parts that are not supported yet included.
void for_each_event(const ast::Rule& rule, const std::function<void(const ast::EventPattern&)>& visit);

}  // namespace cepd::dsl::checking
