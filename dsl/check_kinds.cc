#include "dsl/check_kinds.h"

namespace cepd::dsl::checking {

Kinds kinds_of(FieldType type) {
  switch (type) {
    case FieldType::kBool:
      return Kind::kBool;
    case FieldType::kInt:
      return Kind::kInt;
    case FieldType::kDouble:
      return Kind::kDouble;
    case FieldType::kString:
      return Kind::kString;
    case FieldType::kTimestamp:
      return Kind::kTimestamp;
    case FieldType::kDuration:
      return Kind::kDuration;
  }
  return Kinds::all();
}

std::string to_string(Kinds kinds) {
  if (kinds.empty()) return "null";
  const bool number = (kinds & Kinds::number()) == Kinds::number();
  std::string out = number ? "number" : "";
  for (const Kind kind :
       {Kind::kBool, Kind::kInt, Kind::kDouble, Kind::kString, Kind::kTimestamp, Kind::kDuration, Kind::kJson}) {
    if (!kinds.overlaps(kind) || (number && Kinds::number().overlaps(kind))) continue;
    if (!out.empty()) out += " or ";
    out += kind_name(kind);
  }
  return out;
}

std::string with_article(Kinds kinds) {
  const std::string text = to_string(kinds);
  if (kinds.empty()) return text;
  return (text.front() == 'i' ? "an " : "a ") + text;
}

bool comparable(Kinds a, Kinds b, bool ordered) {
  if (a.overlaps(Kinds::number()) && b.overlaps(Kinds::number())) return true;
  Kinds both = a & b;
  if (ordered) both = both & (Kinds(Kind::kString) | Kind::kTimestamp | Kind::kDuration);
  return !both.empty();
}

Kinds arithmetic(plan::BinaryOp op, Kinds a, Kinds b) {
  constexpr Kinds kTime = Kind::kTimestamp;
  constexpr Kinds kSpan = Kind::kDuration;
  const auto pair = [&](Kinds x, Kinds y) { return a.overlaps(x) && b.overlaps(y); };
  Kinds out;
  if (pair(Kinds::number(), Kinds::number())) {
    if (op == plan::BinaryOp::kDiv) {
      out = out | Kind::kDouble;
    } else {
      if (pair(Kind::kInt, Kind::kInt)) out = out | Kind::kInt;
      if (pair(Kind::kDouble, Kinds::number()) || pair(Kinds::number(), Kind::kDouble)) out = out | Kind::kDouble;
    }
  }
  switch (op) {
    case plan::BinaryOp::kAdd:
      if (pair(kTime, kSpan) || pair(kSpan, kTime)) out = out | kTime;
      if (pair(kSpan, kSpan)) out = out | kSpan;
      break;
    case plan::BinaryOp::kSub:
      if (pair(kTime, kTime) || pair(kSpan, kSpan)) out = out | kSpan;
      if (pair(kTime, kSpan)) out = out | kTime;
      break;
    case plan::BinaryOp::kMul:
      if (pair(kSpan, Kinds::number()) || pair(Kinds::number(), kSpan)) out = out | kSpan;
      break;
    case plan::BinaryOp::kDiv:
      if (pair(kSpan, Kinds::number())) out = out | kSpan;
      if (pair(kSpan, kSpan)) out = out | Kind::kDouble;
      break;
    default:
      break;
  }
  return out;
}

}  // namespace cepd::dsl::checking
