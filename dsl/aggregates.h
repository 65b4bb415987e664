#pragma once
/// The functions over elements (language.md section 4); those of values are plan::functions(). Internal to dsl/.

#include <array>
#include <string_view>

#include "dsl/plan.h"

namespace cepd::dsl {

struct AggregateInfo {
  std::string_view name;
  plan::AggregateKind kind;
};
inline constexpr std::array<AggregateInfo, 9> kAggregates = {{
    {"count", plan::AggregateKind::kCount},
    {"sum", plan::AggregateKind::kSum},
    {"avg", plan::AggregateKind::kAvg},
    {"min", plan::AggregateKind::kMin},
    {"max", plan::AggregateKind::kMax},
    {"stddev", plan::AggregateKind::kStddev},
    {"percentile", plan::AggregateKind::kPercentile},
    {"distinct", plan::AggregateKind::kDistinct},
    {"collect", plan::AggregateKind::kCollect},
}};

/// Functions that give one event's field.
inline constexpr std::array<std::string_view, 3> kPickers = {"prev", "first", "last"};

/// The name that rules use.
constexpr std::string_view name_of(plan::AggregateKind kind) {
  for (const auto& [name, known] : kAggregates) {
    if (known == kind) return name;
  }
  return "?";
}

}  // namespace cepd::dsl
