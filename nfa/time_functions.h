#pragma once
/// hour, minute, day_of_week and date of an event time in a time zone.

#include <span>

#include "nfa/eval.h"

namespace cepd::nfa {

/// arguments: a timestamp and, if not in UTC, an IANA zone name. Null and counted: other kinds, a zone that the
/// system's zone data does not have, a time outside the years 0 to 9999. Requires: no argument is null.
Value time_function(dsl::plan::Function function, std::span<const Value> arguments, Arena& scratch, EvalErrors& errors);

}  // namespace cepd::nfa
