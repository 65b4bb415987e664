#pragma once
/// The functions of the rule language on values already computed (language.md section 4, language-details.md
/// section 1).

#include <span>

#include "nfa/eval.h"

namespace cepd::nfa {

/// Null in, null out, except for least, greatest and concat. Null and counted: arguments of a kind the
/// function is not made for, arguments outside its domain (sqrt(-1), a zone that does not exist), a result that is not
/// finite.
/// Requires: as many arguments as plan::functions() says; not `if` and `coalesce`, which eval.cc computes without the
/// arguments they leave out.
Value call_function(dsl::plan::Function function, std::span<const Value> arguments, Arena& scratch, EvalErrors& errors);

}  // namespace cepd::nfa
