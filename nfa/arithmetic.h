#pragma once
/// + - * / % and unary minus (language-details.md section 4, Numbers).
///
/// Null in, null out. Null and counted: overflow, division by zero, a result that is not finite, and kinds that do not
/// go together.

#include "base/value.h"
#include "dsl/plan.h"
#include "nfa/eval.h"

namespace cepd::nfa {

/// Requires: `op` is one of kAdd kSub kMul kDiv kMod.
Value arithmetic(dsl::plan::BinaryOp op, const Value& a, const Value& b, EvalErrors& errors);

Value negate(const Value& a, EvalErrors& errors);

/// Null, counted: the result of an operation on values it is not made for.
inline Value failed(EvalErrors& errors) {
  ++errors.count;
  return Value::null();
}

/// The double, or null and counted when it is not finite.
inline Value finite(double d, EvalErrors& errors) {
  const Value v = Value::real(d);
  return v.is_null() ? failed(errors) : v;
}

/// A duration of `us` microseconds rounded half away from zero; null and counted when 64 bits do not hold it.
Value rounded_duration(double us, EvalErrors& errors);

/// a / b rounded half away from zero. Requires b != 0, and not INT64_MIN / -1.
std::int64_t divide_rounded(std::int64_t a, std::int64_t b);

}  // namespace cepd::nfa
