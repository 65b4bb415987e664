#pragma once
/// Numbers of a time unit as whole microseconds: times and durations in input.

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace cepd::adapters {

/// Parts finer than a microsecond are cut towards the past (down, also below zero). Nothing outside 64 bits.
std::optional<std::int64_t> micros_of(std::int64_t number, TimeUnit unit);

/// Of the shortest decimal that reads back as `number`: 1700000000.123456 s is …123456 us, although the double itself
/// may lie a little below. Requires a finite number.
std::optional<std::int64_t> micros_of(double number, TimeUnit unit);

}  // namespace cepd::adapters
