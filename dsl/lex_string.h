#pragma once
/// Strings of the lexer. Internal to dsl/.

#include <cstddef>
#include <string>
#include <string_view>

#include "dsl/problems.h"

namespace cepd::dsl::syntax {

/// Reads the string whose quote stands at `at` into `out`, escapes resolved, and moves `at` past it. False, and
/// reported, when it does not end on its line; other mistakes are only reported.
bool lex_string(std::string_view text, std::size_t& at, std::string& out, Problems& problems);

}  // namespace cepd::dsl::syntax
