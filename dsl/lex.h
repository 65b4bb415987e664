#pragma once
/// Text -> tokens. Internal to dsl/.

#include <string_view>

#include "dsl/problems.h"
#include "dsl/token.h"

namespace cepd::dsl::syntax {

/// `text` is valid UTF-8 (utf8.h). Mistakes go to `problems`; where what was meant is clear (`==`,
/// `1h 30m`) the token is the one that was meant, so that the rest of the statement is checked too. Brackets and prefix
/// operators nested deeper than kMaxNesting are mistakes: nothing after this step needs to bound its recursion.
Lexed lex(std::string_view text, Problems& problems);

}  // namespace cepd::dsl::syntax
