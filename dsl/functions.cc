/// The function table of language.md section 4.

#include "dsl/check_kinds.h"
#include "dsl/plan.h"

namespace cepd::dsl {
namespace plan {

const std::vector<FunctionInfo>& functions() {
  // Of the functions that take any number of arguments: more than a person writes, little enough for the stack.
  constexpr unsigned kMany = 100;
  static const std::vector<FunctionInfo> table = {
      {"abs", Function::kAbs, 1, 1, std::nullopt},
      {"round", Function::kRound, 1, 1, std::nullopt},
      {"floor", Function::kFloor, 1, 1, std::nullopt},
      {"ceil", Function::kCeil, 1, 1, std::nullopt},
      {"sqrt", Function::kSqrt, 1, 1, Kind::kDouble},
      {"pow", Function::kPow, 2, 2, Kind::kDouble},
      {"ln", Function::kLn, 1, 1, Kind::kDouble},
      {"exp", Function::kExp, 1, 1, Kind::kDouble},
      {"least", Function::kLeast, 1, kMany, std::nullopt},
      {"greatest", Function::kGreatest, 1, kMany, std::nullopt},
      {"coalesce", Function::kCoalesce, 1, kMany, std::nullopt},
      {"if", Function::kIf, 3, 3, std::nullopt},
      {"lower", Function::kLower, 1, 1, Kind::kString},
      {"upper", Function::kUpper, 1, 1, Kind::kString},
      {"trim", Function::kTrim, 1, 1, Kind::kString},
      {"length", Function::kLength, 1, 1, Kind::kInt},
      {"substr", Function::kSubstr, 2, 3, Kind::kString},
      {"concat", Function::kConcat, 1, kMany, Kind::kString},
      {"contains", Function::kContains, 2, 2, Kind::kBool},
      {"starts_with", Function::kStartsWith, 2, 2, Kind::kBool},
      {"ends_with", Function::kEndsWith, 2, 2, Kind::kBool},
      {"split_part", Function::kSplitPart, 3, 3, Kind::kString},
      {"hour", Function::kHour, 1, 2, Kind::kInt},
      {"minute", Function::kMinute, 1, 2, Kind::kInt},
      {"day_of_week", Function::kDayOfWeek, 1, 2, Kind::kInt},
      {"date", Function::kDate, 1, 2, Kind::kString},
      {"haversine_km", Function::kHaversineKm, 4, 4, Kind::kDouble},
      {"hash", Function::kHash, 1, 1, Kind::kInt},
  };
  return table;
}

}  // namespace plan

namespace checking {

Kinds argument_kinds(plan::Function function, std::size_t index) {
  using plan::Function;
  switch (function) {
    case Function::kAbs:
      return Kinds::number() | Kind::kDuration;
    case Function::kRound:
    case Function::kFloor:
    case Function::kCeil:
    case Function::kSqrt:
    case Function::kPow:
    case Function::kLn:
    case Function::kExp:
    case Function::kHaversineKm:
      return Kinds::number();
    case Function::kLower:
    case Function::kUpper:
    case Function::kTrim:
    case Function::kLength:
    case Function::kContains:
    case Function::kStartsWith:
    case Function::kEndsWith:
      return Kind::kString;
    case Function::kSubstr:
      return index == 0 ? Kinds(Kind::kString) : Kinds::number();
    case Function::kSplitPart:
      return index < 2 ? Kinds(Kind::kString) : Kinds::number();
    case Function::kHour:
    case Function::kMinute:
    case Function::kDayOfWeek:
    case Function::kDate:
      return index == 0 ? Kinds(Kind::kTimestamp) : Kinds(Kind::kString);
    case Function::kIf:
      return index == 0 ? Kinds::boolean() : Kinds::all();
    case Function::kLeast:
    case Function::kGreatest:
    case Function::kCoalesce:
    case Function::kConcat:
    case Function::kHash:
      return Kinds::all();
  }
  return Kinds::all();
}

}  // namespace checking
}  // namespace cepd::dsl
