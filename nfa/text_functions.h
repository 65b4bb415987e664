#pragma once
/// Functions on strings. Positions and lengths count code points, from 1.

#include <span>

#include "nfa/eval.h"

namespace cepd::nfa {

/// Arguments rendered as in a template and put together; null is empty.
Value concat(std::span<const Value> arguments, Arena& scratch);

/// All others. Case follows Unicode's simple mappings, one code point to one; bytes that are no UTF-8 stay as they are.
/// Requires: no argument is null.
Value text_function(dsl::plan::Function function, std::span<const Value> arguments, Arena& scratch, EvalErrors& errors);

}  // namespace cepd::nfa
