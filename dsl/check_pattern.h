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

/// A part that a match may wait for as long as it likes, for all that links and groups say.
struct Waiting {
  enum class What : std::uint8_t {
    kEvent,    ///< the link before the step has no bound; or the step is a last NEXT NOT
    kRepeats,  ///< the step's repeats may be any time apart
    kMembers,  ///< …the members of an AND
  };
  const plan::Step* step = nullptr;  ///< in Pattern::tree
  What what = What::kEvent;
};

/// What MATCH says: scope.elements, scope.places and scope.names are filled in beside it (no keys, no conditions yet).
struct Pattern {
  std::vector<WrittenElement>
      written;  ///< in the order of scope.elements; empty after a mistake that would only lead to others
  std::vector<const ast::Element*> groups;  ///< as written, in the order of the plan's groups in the tree
  std::vector<plan::Slot> slots;
  plan::Sequence tree;
  std::optional<Waiting> waiting;  ///< none: links and groups bound the time from the first to the last event
};
Pattern build_pattern(const ast::Rule& rule, RuleScope& scope);

/// Which types an event in MATCH, FROM or UNLESS may have; reports unknown ones.
plan::Types build_types(const ast::EventPattern& event, RuleScope& scope);

/// Calls `visit` with every event of MATCH, FROM and UNLESS.
void for_each_event(const ast::Rule& rule, const std::function<void(const ast::EventPattern&)>& visit);

}  // namespace cepd::dsl::checking
