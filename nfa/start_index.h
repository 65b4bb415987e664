#pragma once
/// Finds the rules whose first element may accept an event without asking each of them: what a condition compares with
/// constants for equality (= and IN) is looked up by hash, what it bounds (<, <=, >, >=) by order. A rule that is found
/// is tested in full afterwards; one that is not found would not have accepted.

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "base/event.h"
#include "dsl/plan.h"

namespace cepd::nfa {

class StartIndex {
 public:
  /// `place` starts when one of `elements` of the rule accepts an event of this type; none: never. Places come in
  /// rising order.
  void add(std::uint32_t place, const dsl::plan::Rule& rule, dsl::plan::ElementSet elements, TypeId type);
  /// After the last add().
  void finish();

  /// Appends the places that the event may start, sorted.
  void find(const Event& event, std::vector<std::uint32_t>& out) const;

 private:
  /// Kinds whose values compare with each other.
  enum class Family : std::uint8_t { kBool, kNumber, kText, kTime, kDuration, kOther };
  static Family family_of(const Value& value);

  /// Of one field, compared with constants of one family. A value of another family is no match, but an error of the
  /// rule that the full test counts: then all are found.
  struct Equality {
    std::size_t slot = 0;
    Family family = Family::kOther;
    boost::unordered_flat_map<std::uint64_t, std::vector<std::uint32_t>> places;  // by hash of the constant
    std::vector<std::uint32_t> all;
  };
  struct Bound {
    Value constant;
    std::uint32_t place = 0;
  };
  /// `field > constant` for the constants below the event's value, or `field < constant` for those above it; equal ones
  /// are always found.
  struct Range {
    std::size_t slot = 0;
    Family family = Family::kOther;
    bool above = false;         ///< the field is to be above the constants
    std::vector<Bound> bounds;  // sorted
  };
  bool add_equality(std::uint32_t place, const dsl::plan::Expr& condition, TypeId type);
  bool add_range(std::uint32_t place, const dsl::plan::Expr& condition, TypeId type);

  std::vector<Equality> equalities_;
  std::vector<Range> ranges_;
  std::vector<std::uint32_t> always_;
};

}  // namespace cepd::nfa
