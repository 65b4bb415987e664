#include "dsl/value_set.h"

#include <algorithm>
#include <cmath>

namespace cepd::dsl::checking {
namespace {

using plan::BinaryOp;

int order(const Line::Cut& a, const Line::Cut& b) {
  switch (compare(a.at.value(), b.at.value())) {
    case Ordering::kLess:
      return -1;
    case Ordering::kGreater:
      return 1;
    default:
      return static_cast<int>(a.after) - static_cast<int>(b.after);
  }
}

plan::Constant integer(std::int64_t i) { return {Kind::kInt, {}, Value::integer(i)}; }

/// The same cut between ints: just below the first int above it. Numbers beyond the ints stay as they are.
Line::Cut between_ints(const Line::Cut& cut) {
  constexpr std::int64_t kFar = std::int64_t{1} << 53;
  const Value at = cut.at.value();
  std::int64_t floor = 0;
  bool whole = true;
  if (at.kind() == Kind::kInt) {
    floor = at.as_int();
  } else {
    const double d = at.as_double();
    if (std::fabs(d) > static_cast<double>(kFar)) return cut;
    floor = static_cast<std::int64_t>(std::floor(d));
    whole = static_cast<double>(floor) == d;
  }
  if (floor > kFar || floor < -kFar) return cut;
  return {integer(whole && !cut.after ? floor : floor + 1), false};
}

}  // namespace

std::optional<plan::Constant> Line::only() const {
  if (low_end_ || cuts_.size() != 2 || cuts_[0].after || !cuts_[1].after) return std::nullopt;
  if (compare(cuts_[0].at.value(), cuts_[1].at.value()) != Ordering::kEqual) return std::nullopt;
  return cuts_[0].at;
}

bool Line::operator==(const Line& other) const {
  return low_end_ == other.low_end_ && std::equal(cuts_.begin(), cuts_.end(), other.cuts_.begin(), other.cuts_.end(),
                                                  [](const Cut& a, const Cut& b) { return order(a, b) == 0; });
}

Line Line::operator&(const Line& other) const {
  Line out(low_end_ && other.low_end_, {});
  bool here = low_end_, there = other.low_end_, inside = out.low_end_;
  std::size_t i = 0, k = 0;
  while (i < cuts_.size() || k < other.cuts_.size()) {
    const int side = i == cuts_.size() ? 1 : k == other.cuts_.size() ? -1 : order(cuts_[i], other.cuts_[k]);
    const Cut& cut = side <= 0 ? cuts_[i] : other.cuts_[k];
    if (side <= 0) here = !here, ++i;
    if (side >= 0) there = !there, ++k;
    if (inside == (here && there)) continue;
    inside = !inside;
    out.cuts_.push_back(cut);
  }
  return out;
}

Line Line::of_ints() const {
  Line out(low_end_, {});
  for (const Cut& cut : cuts_) {
    Cut moved = between_ints(cut);
    if (!out.cuts_.empty() && order(out.cuts_.back(), moved) == 0) {
      out.cuts_.pop_back();  // nothing stands between the two
    } else {
      out.cuts_.push_back(std::move(moved));
    }
  }
  return out;
}

std::optional<std::size_t> ValueSet::line_of(Kind kind) {
  switch (kind) {
    case Kind::kInt:
    case Kind::kDouble:
      return 0;
    case Kind::kString:
      return 1;
    case Kind::kTimestamp:
      return 2;
    case Kind::kDuration:
      return 3;
    default:
      return std::nullopt;
  }
}

ValueSet ValueSet::null() {
  ValueSet out;
  out.singles_ = kNullBit;
  return out;
}

ValueSet ValueSet::boolean(bool value) {
  ValueSet out;
  out.singles_ = value ? kTrueBit : kFalseBit;
  return out;
}

ValueSet ValueSet::of(Kinds kinds) {
  ValueSet out;
  if (kinds.overlaps(Kind::kBool)) out.singles_ |= kTrueBit | kFalseBit;
  if (kinds.overlaps(Kind::kJson)) out.singles_ |= kJsonBit;
  for (const Kind kind : {Kind::kInt, Kind::kDouble, Kind::kString, Kind::kTimestamp, Kind::kDuration}) {
    if (kinds.overlaps(kind)) out.lines_[*line_of(kind)] = Line::all();
  }
  return out;
}

ValueSet ValueSet::point(const plan::Constant& constant) {
  if (constant.kind == Kind::kNull) return null();
  if (constant.kind == Kind::kBool) return boolean(constant.scalar.as_bool());
  ValueSet out;
  if (const auto line = line_of(constant.kind)) out.lines_[*line] = Line::point(constant);
  return out;
}

ValueSet ValueSet::where(BinaryOp op, const plan::Constant& constant) {
  if (constant.kind == Kind::kNull) return none();
  return where(op, point(constant));
}

ValueSet ValueSet::where(BinaryOp op, const ValueSet& others) {
  ValueSet out;
  constexpr unsigned kBools = kFalseBit | kTrueBit;
  if (op == BinaryOp::kEq) {
    out = others;
    out.singles_ &= ~static_cast<unsigned>(kNullBit);
    return out;
  }
  if (op == BinaryOp::kNe) {
    const unsigned bools = others.singles_ & kBools;
    if (bools != 0) out.singles_ |= bools == kBools ? kBools : kBools & ~bools;
    out.singles_ |= others.singles_ & kJsonBit;
  }
  for (std::size_t i = 0; i < out.lines_.size(); ++i) {
    const Line& line = others.lines_[i];
    if (line.empty()) continue;
    const auto begin = line.begin(), end = line.end();
    switch (op) {
      case BinaryOp::kLt:
        out.lines_[i] = end ? Line::below({end->at, false}) : Line::all();
        break;
      case BinaryOp::kLe:
        out.lines_[i] = end ? Line::below(*end) : Line::all();
        break;
      case BinaryOp::kGt:
        out.lines_[i] = begin ? Line::above({begin->at, true}) : Line::all();
        break;
      case BinaryOp::kGe:
        out.lines_[i] = begin ? Line::above(*begin) : Line::all();
        break;
      default:
        if (const auto only = line.only()) {
          out.lines_[i] = ~Line::point(*only);
        } else {
          out.lines_[i] = Line::all();
        }
    }
  }
  return out;
}

bool ValueSet::empty() const {
  if (singles_ != 0) return false;
  for (const Line& line : lines_) {
    if (!line.empty()) return false;
  }
  return true;
}

ValueSet ValueSet::operator~() const {
  ValueSet out;
  out.singles_ = ~singles_ & kSingles;
  for (std::size_t i = 0; i < lines_.size(); ++i) out.lines_[i] = ~lines_[i];
  return out;
}

ValueSet ValueSet::operator&(const ValueSet& other) const {
  ValueSet out;
  out.singles_ = singles_ & other.singles_;
  for (std::size_t i = 0; i < lines_.size(); ++i) out.lines_[i] = lines_[i] & other.lines_[i];
  return out;
}

ValueSet ValueSet::of_ints() const {
  ValueSet out = *this;
  const std::size_t numbers = *line_of(Kind::kInt);
  out.lines_[numbers] = out.lines_[numbers].of_ints();
  return out;
}

BinaryOp mirrored(BinaryOp op) {
  switch (op) {
    case BinaryOp::kLt:
      return BinaryOp::kGt;
    case BinaryOp::kLe:
      return BinaryOp::kGe;
    case BinaryOp::kGt:
      return BinaryOp::kLt;
    case BinaryOp::kGe:
      return BinaryOp::kLe;
    default:
      return op;
  }
}

BinaryOp inverse(BinaryOp op) {
  switch (op) {
    case BinaryOp::kEq:
      return BinaryOp::kNe;
    case BinaryOp::kNe:
      return BinaryOp::kEq;
    case BinaryOp::kLt:
      return BinaryOp::kGe;
    case BinaryOp::kLe:
      return BinaryOp::kGt;
    case BinaryOp::kGt:
      return BinaryOp::kLe;
    case BinaryOp::kGe:
      return BinaryOp::kLt;
    default:
      return op;
  }
}

}  // namespace cepd::dsl::checking
