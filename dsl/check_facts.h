#pragma once
/// What is known of the values in a rule's conditions before any event is seen. Internal to dsl/check*.cc.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "dsl/check_set.h"
#include "dsl/condition_cases.h"

namespace cepd::dsl::checking {

/// How many events are bound to an element; kUnbounded: no greatest number.
struct CountRange {
  std::uint32_t least = 0, most = 0;
};

/// Only looks at the rule and the set.
class RuleFacts {
 public:
  RuleFacts(const plan::Rule& rule, const SetContext& set);

  const plan::Rule& rule() const { return rule_; }
  /// In a whole match.
  CountRange count(std::size_t element) const { return counts_[element]; }
  /// Every match binds exactly one event to it.
  bool sure(std::size_t element) const;

  // Conditions in one way of writing, so that equal values have equal texts: a key field of any sure element is the
  // key's value, and first(n.f), n[0].f, n.f are one where n is one event.

  /// Of the event tested for the element.
  plan::ExprPtr tested(const plan::ExprPtr& condition, std::size_t element) const;
  /// A condition of a sure element, seen from the elements after it: of the event that is bound. Null when it may hold
  /// for the event then and not later.
  plan::ExprPtr bound(const plan::ExprPtr& condition, std::size_t element) const;
  /// In HAVING.
  plan::ExprPtr whole(const plan::ExprPtr& condition) const;

  /// Nothing assumed yet, for conditions on the event tested for the element; the conditions are `tested`.
  Cases at(std::size_t element) const;
  /// The same in HAVING.
  Cases at_end() const;
  /// For conditions of FROM and UNLESS, on events of `types`.
  Cases for_events(const plan::Types& types) const;

  /// Assumes what the sure elements before `element` say of the events bound to them (in HAVING: all).
  void assume_bound(Cases& cases, std::optional<std::size_t> element) const;
  /// Assumes that the event tested for the element passes the FROM entry.
  void assume_from(Cases& cases, const plan::EventTest& from, std::size_t element) const;
  /// Whether a sure element is bound when an event is tested for `element` (none: at the end).
  bool bound_before(std::size_t sure, std::optional<std::size_t> element) const;

 private:
  struct Where {
    std::optional<std::size_t> element;
    const plan::Types* types = nullptr;  // of the tested event
  };
  Cases cases(Where where) const;
  Cases::Domain domain(const plan::Expr& expr, const Where& where) const;
  Cases::Domain field(const plan::FieldRef& ref, const Where& where) const;
  Cases::Domain difference(const plan::Expr& left, const plan::Expr& right, const Where& where) const;
  Cases::Domain counted(const plan::Aggregate& aggregate, const Where& where) const;

  plan::ExprPtr normal(const plan::ExprPtr& expr, std::optional<std::size_t> tested, bool as_bound) const;
  plan::ExprPtr key_value(const plan::FieldRef& ref, std::size_t element) const;
  void place(const plan::Sequence& sequence, std::uint64_t least, std::uint64_t most, bool in_group);

  const plan::Rule& rule_;
  const SetContext& set_;
  struct Place {
    std::optional<plan::SlotId> all;  // the AND it is a member of
    bool in_group = false;            // repeated or optional
  };
  std::vector<CountRange> counts_;
  std::vector<Place> places_;
};

/// Calls `visit` with each part of the top-level AND of a condition.
template <class Visit>
void for_each_part(const plan::ExprPtr& condition, const Visit& visit) {
  const auto* binary = std::get_if<plan::Binary>(&condition->node);
  if (binary == nullptr || binary->op != plan::BinaryOp::kAnd) {
    visit(condition);
    return;
  }
  for_each_part(binary->left, visit);
  for_each_part(binary->right, visit);
}

/// Whether the condition looks at events that are bound to the element, or at the previous event, whatever it is bound
/// to.
bool looks_at(const plan::Expr& condition, std::size_t element);

/// True when `wide` follows from what `cases` assume; false where that is not known.
bool follows(const Cases& cases, const std::vector<plan::ExprPtr>& wide);

/// True when whatever element `narrow` of one rule accepts, element `wide` of the other accepts too, on partial matches
/// that bind the same events to elements of the same numbers: types, key and conditions. False where that is not known.
bool implies(const RuleFacts& one, std::size_t narrow, const RuleFacts& other, std::size_t wide);

}  // namespace cepd::dsl::checking
