#include "adapters/numeric_time.h"

#include <array>
#include <charconv>

#include "base/check.h"

namespace cepd::adapters {
namespace {

/// Microseconds are the number times ten to this.
int exponent_of(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds:
      return 6;
    case TimeUnit::kMillis:
      return 3;
    case TimeUnit::kMicros:
      return 0;
    case TimeUnit::kNanos:
      return -3;
  }
  return 0;
}

/// floor(digits * 10^exponent)
std::optional<std::int64_t> scaled(std::int64_t digits, int exponent) {
  for (; exponent > 0; --exponent) {
    if (digits == 0) return 0;
    if (__builtin_mul_overflow(digits, 10, &digits)) return std::nullopt;
  }
  if (exponent == 0) return digits;
  std::int64_t divisor = 1;
  for (; exponent < 0; ++exponent) {
    // Nothing of 64 bits is left: only the sign matters.
    if (__builtin_mul_overflow(divisor, 10, &divisor)) return digits < 0 ? -1 : 0;
  }
  const std::int64_t quotient = digits / divisor;
  return digits % divisor < 0 ? quotient - 1 : quotient;
}

}  // namespace

std::optional<std::int64_t> micros_of(std::int64_t number, TimeUnit unit) {
  if (unit == TimeUnit::kMillis) {  // the default of sources
    std::int64_t micros = 0;
    return __builtin_mul_overflow(number, 1000, &micros) ? std::nullopt : std::optional(micros);
  }
  return scaled(number, exponent_of(unit));
}

std::optional<std::int64_t> micros_of(double number, TimeUnit unit) {
  // Shortest digits, as d.ddddde[+-]xx: at most 17 of them, so they fit 64 bits.
  std::array<char, 32> text{};
  const char* const end =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::scientific).ptr;
  std::int64_t digits = 0;
  int exponent = exponent_of(unit);
  bool negative = false, fraction = false;
  const char* at = text.data();
  for (; at != end && *at != 'e'; ++at) {
    if (*at == '-') {
      negative = true;
    } else if (*at == '.') {
      fraction = true;
    } else {
      digits = digits * 10 + (*at - '0');
      exponent -= fraction ? 1 : 0;
    }
  }
  CEPD_CHECK(at != end);
  ++at;  // the 'e'
  if (*at == '+') ++at;
  int written = 0;
  std::from_chars(at, end, written);
  return scaled(negative ? -digits : digits, exponent + written);
}

}  // namespace cepd::adapters
