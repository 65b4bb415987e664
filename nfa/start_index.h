#pragma once
/// Finds the rules whose first element may accept an event without asking each of them: what a condition compares with
/// constants for equality (= and IN) is looked up by hash, what it bounds (<, <=, >, >=) by order. A rule that is found
/// is tested in full afterwards, unless that comparison was all it asks; one that is not found would not have accepted.

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/event.h"
#include "dsl/plan.h"

namespace cepd::nfa {

class StartIndex {
 public:
  /// A place, and whether the index has decided: that its element accepts the event. If not, that is to be asked.
  class Found {
   public:
    Found(std::uint32_t place, bool accepted) : bits_(place << 1 | (accepted ? 1U : 0U)) {}
    std::uint32_t place() const { return bits_ >> 1; }
    bool accepted() const { return (bits_ & 1) != 0; }
    Found undecided() const { return {place(), false}; }
    auto operator<=>(const Found&) const = default;

   private:
    std::uint32_t bits_;
  };

  /// `place` (below 2^31) starts when one of `elements` of the rule accepts an event of this type; none: never. Places
  /// come in rising order.
  void add(std::uint32_t place, const dsl::plan::Rule& rule, dsl::plan::ElementSet elements, TypeId type);
  /// After the last add().
  void finish();

  /// Appends what the event may start, sorted.
  void find(const Event& event, std::vector<Found>& out) const;

  /// Kinds whose values compare with each other.
  enum class Family : std::uint8_t { kBool, kNumber, kText, kTime, kDuration, kOther };

  /// `field > constant` for the constants below the event's value, or `field < constant` for those above it.
  struct Range {
    struct Bound {
      Value constant;
      Found found;
      bool itself;  ///< >= or <=
    };
    std::uint32_t slot = 0;
    Family family = Family::kOther;
    bool above = false;         ///< the field is to be above the constants
    std::vector<Bound> bounds;  ///< sorted: those that are found come first

    /// Appends what is found, not sorted.
    void find(const Event& event, std::vector<Found>& out) const;
  };
  /// Where nothing else is asked than one range: that, which it then loses. Else none.
  std::optional<Range> take_only_range();

 private:
  static Family family_of(const Value& value);

  /// Of one field, compared with constants of one family. A value of another family is no match, but an error of the
  /// rule that the full test counts: then all are found.
  struct Equality {
    struct Equal {
      std::uint64_t hash;
      Value constant;
      Found found;
    };
    /// Where those of one hash stand.
    struct Places {
      std::uint32_t begin = 0, end = 0;
    };
    std::size_t slot = 0;
    Family family = Family::kOther;
    std::vector<Equal> equals;  // until finish()
    std::vector<char> texts;    // of the constants, near each other: what is compared may be in no cache
    std::vector<Value> constants;
    std::vector<Found> found;  // by number of the constant; both sorted by hash
    boost::unordered_flat_map<std::uint64_t, Places> by_hash;
  };
  bool add_equality(Found found, const dsl::plan::Expr& condition, TypeId type);
  bool add_range(Found found, const dsl::plan::Expr& condition, TypeId type);
  static void find_equal(const Equality& equality, const Value& value, std::vector<Found>& out);

  std::vector<Equality> equalities_;
  std::vector<Range> ranges_;
  std::vector<Found> always_;
};

}  // namespace cepd::nfa
