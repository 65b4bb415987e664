#pragma once
/// Sets of values of the rule language, for judging conditions before any event is seen. Internal to dsl/check*.cc.
///
/// A value is null, a bool, JSON (an array or object), or stands on one of four ordered lines: numbers (int and double
/// together, by exact value), strings, timestamps, durations. Values of different lines never compare.

#include <array>
#include <boost/container/small_vector.hpp>
#include <optional>
#include <utility>

#include "dsl/check_kinds.h"

namespace cepd::dsl::checking {

/// A set of values of one line: whether its low end is inside, and the cuts at which that changes.
class Line {
 public:
  /// Between the values below `at` and those above it; `at` itself is below when `after`.
  struct Cut {
    plan::Constant at;
    bool after = false;
  };

  static Line all() { return Line(true, {}); }
  static Line none() { return Line(false, {}); }
  static Line point(const plan::Constant& at) { return Line(false, {{at, false}, {at, true}}); }
  /// What is below the cut, or above it.
  static Line below(Cut cut) { return Line(true, {std::move(cut)}); }
  static Line above(Cut cut) { return Line(false, {std::move(cut)}); }

  bool empty() const { return !low_end_ && cuts_.empty(); }
  bool operator==(const Line& other) const;
  /// Its one value, if it has just one.
  std::optional<plan::Constant> only() const;
  /// Where it begins and ends; nothing when there is no end. Requires: not empty.
  std::optional<Cut> begin() const { return low_end_ ? std::nullopt : std::optional(cuts_.front()); }
  std::optional<Cut> end() const {
    return low_end_ != (cuts_.size() % 2 == 1) ? std::nullopt : std::optional(cuts_.back());
  }

  Line operator~() const { return Line(!low_end_, cuts_); }
  Line operator&(const Line& other) const;
  Line operator|(const Line& other) const { return ~(~*this & ~other); }
  /// Without the gaps between neighbouring ints. Requires: numbers.
  Line of_ints() const;

 private:
  using Cuts = boost::container::small_vector<Cut, 2>;  // most conditions compare with one constant
  Line(bool low_end, Cuts cuts) : low_end_(low_end), cuts_(std::move(cuts)) {}
  bool low_end_ = false;
  Cuts cuts_;  // rising
};

class ValueSet {
 public:
  static ValueSet none() { return {}; }
  static ValueSet all() { return ~none(); }
  static ValueSet null();
  static ValueSet boolean(bool value);
  static ValueSet of(Kinds kinds);
  static ValueSet point(const plan::Constant& constant);
  /// The values v for which `v op constant` is true, op being one of = != < <= > >=.
  static ValueSet where(plan::BinaryOp op, const plan::Constant& constant);
  /// The values v for which `v op other` is true for some value of `others`.
  static ValueSet where(plan::BinaryOp op, const ValueSet& others);

  bool empty() const;
  bool operator==(const ValueSet&) const = default;
  ValueSet operator~() const;
  ValueSet operator&(const ValueSet& other) const;
  ValueSet operator|(const ValueSet& other) const { return ~(~*this & ~other); }
  /// The same when all its numbers are ints.
  ValueSet of_ints() const;

 private:
  static std::optional<std::size_t> line_of(Kind kind);
  enum Single : unsigned { kNullBit = 1, kFalseBit = 2, kTrueBit = 4, kJsonBit = 8, kSingles = 15 };

  unsigned singles_ = 0;
  std::array<Line, 4> lines_{Line::none(), Line::none(), Line::none(), Line::none()};
};

/// `a op b` turned round: `b op a`.
plan::BinaryOp mirrored(plan::BinaryOp op);
/// The comparison that is true where `op` is false.
plan::BinaryOp inverse(plan::BinaryOp op);

}  // namespace cepd::dsl::checking
