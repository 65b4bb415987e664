#pragma once
/// Numbers and durations of the lexer. Internal to dsl/.

#include <cstddef>
#include <optional>
#include <string_view>

#include "dsl/problems.h"
#include "dsl/token.h"

namespace cepd::dsl::syntax {

/// Reads the number or duration that begins with the digit at `begin` into `token` and returns where it ends. A form
/// that is none is reported and read as what was meant: `1.5h` as 1h30m, `5.` as 5.
std::size_t lex_number(std::string_view text, std::size_t begin, Token& token, Problems& problems);

/// What `5minutes`, `1.5h` or `30m1h` mean: any order, fractions, and units as people write them. Nothing for other
/// text.
std::optional<Micros> duration_meant(std::string_view text);

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_name_start(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
inline bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

}  // namespace cepd::dsl::syntax
