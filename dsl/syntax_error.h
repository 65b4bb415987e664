#pragma once
/// Why a statement could not be read, in the user's words. Internal to dsl/.

#include <string_view>

#include "dsl/grammar.h"

namespace cepd::dsl::syntax {

/// Reports the furthest place that `progress` came to, unless the lexer has already reported that token. Mistakes that
/// people make often are recognised by the tokens around it and get a message with the right form.
void report_syntax_error(const Progress& progress, std::string_view text, Problems& problems);

}  // namespace cepd::dsl::syntax
