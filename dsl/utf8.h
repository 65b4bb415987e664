#pragma once
/// Internal to dsl/.

#include <cstdint>
#include <string>
#include <string_view>

#include "dsl/ast.h"

namespace cepd::dsl::syntax {

/// The first byte that is not part of UTF-8 text, or is NUL; its end is 0 when there is none.
ast::Location find_invalid_text(std::string_view text);

void append_utf8(std::string& out, std::uint32_t code_point);

}  // namespace cepd::dsl::syntax
