#include "nfa/functions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "nfa/arithmetic.h"
#include "nfa/text_functions.h"
#include "nfa/time_functions.h"

namespace cepd::nfa {
namespace {

using dsl::plan::Function;

bool any_null(std::span<const Value> arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const Value& v) { return v.is_null(); });
}

bool all_numbers(std::span<const Value> arguments) {
  return std::all_of(arguments.begin(), arguments.end(), [](const Value& v) { return v.is_number(); });
}

/// round, floor, ceil: of an int the int itself, of a double a double.
template <class Whole>
Value whole(const Value& v, const Whole& to_whole, EvalErrors& errors) {
  if (v.kind() == Kind::kInt) return v;
  return v.kind() == Kind::kDouble ? Value::real(to_whole(v.as_double())) : failed(errors);
}

Value absolute(const Value& v, EvalErrors& errors) {
  if (v.kind() == Kind::kDouble) return Value::real(std::fabs(v.as_double()));
  if (v.kind() != Kind::kInt && v.kind() != Kind::kDuration) return failed(errors);
  return v.as_int() < 0 ? negate(v, errors) : v;
}

/// least and greatest: nulls are left out.
Value extreme(std::span<const Value> arguments, Ordering wanted, EvalErrors& errors) {
  Value best;
  for (const Value& v : arguments) {
    if (v.is_null()) continue;
    if (v.kind() == Kind::kBool || v.kind() == Kind::kJson) return failed(errors);
    const Ordering order = best.is_null() ? wanted : compare(v, best);
    if (order == Ordering::kUnlike) return failed(errors);
    if (order == wanted) best = v;
  }
  return best;
}

/// Great-circle distance by the haversine formula, on a sphere with the mean Earth radius (IUGG R1).
Value haversine_km(std::span<const Value> arguments, EvalErrors& errors) {
  constexpr double kEarthRadiusKm = 6371.0088;
  constexpr double kRadians = std::numbers::pi / 180;
  const double lat1 = arguments[0].number(), lon1 = arguments[1].number();
  const double lat2 = arguments[2].number(), lon2 = arguments[3].number();
  if (std::fabs(lat1) > 90 || std::fabs(lat2) > 90) return failed(errors);
  const double half_lat = std::sin((lat2 - lat1) * kRadians / 2), half_lon = std::sin((lon2 - lon1) * kRadians / 2);
  const double a = half_lat * half_lat + std::cos(lat1 * kRadians) * std::cos(lat2 * kRadians) * half_lon * half_lon;
  return finite(2 * kEarthRadiusKm * std::asin(std::min(1.0, std::sqrt(a))), errors);
}

/// Functions of numbers only. No argument is null.
Value numeric(Function function, std::span<const Value> arguments, EvalErrors& errors) {
  if (!all_numbers(arguments)) return failed(errors);
  const double x = arguments[0].number();
  switch (function) {
    case Function::kSqrt:
      return finite(std::sqrt(x), errors);
    case Function::kPow:
      return finite(std::pow(x, arguments[1].number()), errors);
    case Function::kLn:
      return finite(std::log(x), errors);
    case Function::kExp:
      return finite(std::exp(x), errors);
    default:
      return haversine_km(arguments, errors);
  }
}

}  // namespace

Value call_function(Function function, std::span<const Value> arguments, Arena& scratch, EvalErrors& errors) {
  switch (function) {  // those that take nulls
    case Function::kLeast:
      return extreme(arguments, Ordering::kLess, errors);
    case Function::kGreatest:
      return extreme(arguments, Ordering::kGreater, errors);
    case Function::kConcat:
      return concat(arguments, scratch);
    default:
      if (any_null(arguments)) return Value::null();
  }
  CEPD_CHECK(!arguments.empty());
  const Value& first = arguments[0];
  switch (function) {
    case Function::kAbs:
      return absolute(first, errors);
    case Function::kRound:  // std::round is half away from zero
      return whole(
          first, [](double d) { return std::round(d); }, errors);
    case Function::kFloor:
      return whole(
          first, [](double d) { return std::floor(d); }, errors);
    case Function::kCeil:
      return whole(
          first, [](double d) { return std::ceil(d); }, errors);
    case Function::kSqrt:
    case Function::kPow:
    case Function::kLn:
    case Function::kExp:
    case Function::kHaversineKm:
      return numeric(function, arguments, errors);
    case Function::kHour:
    case Function::kMinute:
    case Function::kDayOfWeek:
    case Function::kDate:
      return time_function(function, arguments, scratch, errors);
    case Function::kHash:
      return Value::integer(static_cast<std::int64_t>(hash_value(first)));
    default:
      return text_function(function, arguments, scratch, errors);
  }
}

}  // namespace cepd::nfa
