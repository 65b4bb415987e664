#include "nfa/arithmetic.h"

#include <cmath>
#include <limits>

namespace cepd::nfa {
namespace {

using dsl::plan::BinaryOp;

constexpr std::int64_t kMinInt = std::numeric_limits<std::int64_t>::min();

/// Sum, difference or product in 64 bits; false on overflow.
bool exact(BinaryOp op, std::int64_t a, std::int64_t b, std::int64_t& out) {
  switch (op) {
    case BinaryOp::kAdd:
      return !__builtin_add_overflow(a, b, &out);
    case BinaryOp::kSub:
      return !__builtin_sub_overflow(a, b, &out);
    default:
      return !__builtin_mul_overflow(a, b, &out);
  }
}

Value ints(BinaryOp op, std::int64_t a, std::int64_t b, EvalErrors& errors) {
  if (op == BinaryOp::kDiv) {
    return b == 0 ? failed(errors) : finite(static_cast<double>(a) / static_cast<double>(b), errors);
  }
  if (op == BinaryOp::kMod) {
    if (b == 0) return failed(errors);
    return Value::integer(b == -1 ? 0 : a % b);  // kMinInt % -1 traps although its result is 0
  }
  std::int64_t result = 0;
  return exact(op, a, b, result) ? Value::integer(result) : failed(errors);
}

Value doubles(BinaryOp op, double a, double b, EvalErrors& errors) {
  switch (op) {
    case BinaryOp::kAdd:
      return finite(a + b, errors);
    case BinaryOp::kSub:
      return finite(a - b, errors);
    case BinaryOp::kMul:
      return finite(a * b, errors);
    case BinaryOp::kDiv:
      return finite(a / b, errors);  // by zero: infinite or no number, so null
    default:
      return finite(std::fmod(a, b), errors);
  }
}

Value scaled(const Value& duration, const Value& number, EvalErrors& errors) {
  if (number.kind() == Kind::kDouble) {
    return rounded_duration(static_cast<double>(duration.as_int()) * number.as_double(), errors);
  }
  std::int64_t us = 0;
  return exact(BinaryOp::kMul, duration.as_int(), number.as_int(), us) ? Value::duration(Micros(us)) : failed(errors);
}

Value divided(const Value& duration, const Value& number, EvalErrors& errors) {
  const std::int64_t us = duration.as_int();
  if (number.kind() == Kind::kDouble) return rounded_duration(static_cast<double>(us) / number.as_double(), errors);
  const std::int64_t by = number.as_int();
  if (by == 0 || (by == -1 && us == kMinInt)) return failed(errors);
  return Value::duration(Micros(divide_rounded(us, by)));
}

/// At least one operand is a timestamp or a duration.
Value times(BinaryOp op, const Value& a, const Value& b, EvalErrors& errors) {
  const bool plus_minus = op == BinaryOp::kAdd || op == BinaryOp::kSub;
  const Kind left = a.kind(), right = b.kind();
  std::int64_t us = 0;
  if (plus_minus && left == Kind::kTimestamp && right == Kind::kDuration) {
    return exact(op, a.as_int(), b.as_int(), us) ? Value::timestamp(event_time_us(us)) : failed(errors);
  }
  if (op == BinaryOp::kAdd && left == Kind::kDuration && right == Kind::kTimestamp) {
    return exact(op, a.as_int(), b.as_int(), us) ? Value::timestamp(event_time_us(us)) : failed(errors);
  }
  if ((op == BinaryOp::kSub && left == Kind::kTimestamp && right == Kind::kTimestamp) ||
      (plus_minus && left == Kind::kDuration && right == Kind::kDuration)) {
    return exact(op, a.as_int(), b.as_int(), us) ? Value::duration(Micros(us)) : failed(errors);
  }
  if (op == BinaryOp::kMul && left == Kind::kDuration && b.is_number()) return scaled(a, b, errors);
  if (op == BinaryOp::kMul && a.is_number() && right == Kind::kDuration) return scaled(b, a, errors);
  if (op == BinaryOp::kDiv && left == Kind::kDuration) {
    if (b.is_number()) return divided(a, b, errors);
    if (right == Kind::kDuration) {
      return doubles(op, static_cast<double>(a.as_int()), static_cast<double>(b.as_int()), errors);
    }
  }
  return failed(errors);
}

}  // namespace

Value rounded_duration(double us, EvalErrors& errors) {
  const double whole = std::round(us);
  if (!(whole >= -0x1p63 && whole < 0x1p63)) return failed(errors);  // also a NaN
  return Value::duration(Micros(static_cast<std::int64_t>(whole)));
}

std::int64_t divide_rounded(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  // Magnitudes are unsigned so that the smallest value has one too.
  const auto magnitude = [](std::int64_t i) {
    const auto u = static_cast<std::uint64_t>(i);
    return i < 0 ? 0 - u : u;
  };
  const std::uint64_t rest = magnitude(a % b);
  if (rest < magnitude(b) - rest) return quotient;
  return (a < 0) == (b < 0) ? quotient + 1 : quotient - 1;
}

Value arithmetic(BinaryOp op, const Value& a, const Value& b, EvalErrors& errors) {
  if (a.kind() == Kind::kInt && b.kind() == Kind::kInt) return ints(op, a.as_int(), b.as_int(), errors);
  if (a.is_number() && b.is_number()) return doubles(op, a.number(), b.number(), errors);
  if (a.is_null() || b.is_null()) return Value::null();
  return times(op, a, b, errors);
}

Value negate(const Value& a, EvalErrors& errors) {
  switch (a.kind()) {
    case Kind::kNull:
      return a;
    case Kind::kDouble:
      return Value::real(-a.as_double());
    case Kind::kInt:
    case Kind::kDuration:
      if (a.as_int() == kMinInt) return failed(errors);
      return a.kind() == Kind::kInt ? Value::integer(-a.as_int()) : Value::duration(Micros(-a.as_int()));
    default:
      return failed(errors);
  }
}

}  // namespace cepd::nfa
