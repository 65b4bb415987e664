#pragma once
/// What most tests of an event are, compiled: one comparison of a field of it with a number, with a field of the event
/// bound before it, or with what aggregates over bound events come to.

#include <optional>
#include <span>

#include "dsl/plan.h"
#include "nfa/tally.h"

namespace cepd::nfa {

class NumberTest {
 public:
  /// Knows nothing.
  NumberTest() = default;
  /// Knows something if all that is asked is one such comparison.
  explicit NumberTest(const dsl::plan::EventTest& test);

  explicit operator bool() const { return tested_.type != kOtherType; }
  /// As nfa::holds() of the test's conditions. None: ask that; the values are not both numbers.
  /// `tallies`: of `bound`.
  std::optional<bool> holds(const Event& tested, std::span<const Bound> bound, OwnTallies& tallies,
                            const FieldPlan& fields, Arena& scratch) const {
    if (tested.type != tested_.type || !*this) return std::nullopt;
    const Value& left = tested.field(tested_.slot);
    if (aggregated_ != nullptr)
      return compared(left, tallies.get().number(*aggregated_, {&tested, bound, {}, {}, &fields, &tallies}, scratch));
    if (previous_.type == kOtherType) return compared(left, constant_);
    if (bound.empty() || bound.back().event->type != previous_.type) return std::nullopt;
    return compared(left, bound.back().event->field(previous_.slot));
  }

 private:
  /// A field of one type; of none where the type is kOtherType.
  struct Place {
    TypeId type = kOtherType;
    std::uint32_t slot = 0;
  };
  static Place place_of(const dsl::plan::FieldRef& field);
  static bool aggregates_bound_events(const dsl::plan::Expr& side);

  std::optional<bool> compared(const Value& left, const Value& right) const {
    if (!left.is_number() || !right.is_number()) return std::nullopt;
    if (left.kind() != right.kind()) return unlike_compared(left, right);
    return left.kind() == Kind::kDouble ? compared(left.as_double(), right.as_double())
                                        : compared(left.as_int(), right.as_int());
  }
  bool unlike_compared(const Value& left, const Value& right) const;
  template <class Number>
  bool compared(Number left, Number right) const {
    return left < right ? if_less_ : right < left ? if_greater_ : if_equal_;
  }

  Place tested_;                                 // the left side
  Place previous_;                               // the right side, if it is a field
  Value constant_;                               // the right side, if it is a constant
  const dsl::plan::Expr* aggregated_ = nullptr;  // the right side, if it is neither
  bool if_less_ = false, if_equal_ = false, if_greater_ = false;
};

}  // namespace cepd::nfa
