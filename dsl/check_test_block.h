#pragma once
/// TEST -> plan::Test. Internal to dsl/check*.cc.

#include "dsl/check_set.h"

namespace cepd::dsl::checking {

/// Most events that TIMES may make in one TEST.
inline constexpr std::uint64_t kMaxTestEvents = 1'000'000;
/// Most memory for the events of all TESTs of a set.
inline constexpr std::uint64_t kMaxTestBytes = 256 << 20;

/// Checks one TEST; all rules of the set must have been checked before.
plan::Test check_test(const ast::Test& test, SetContext& set, Reporter& report);

}  // namespace cepd::dsl::checking
