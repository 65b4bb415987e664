#pragma once
/// Rule text -> the same text in its one form, comments kept: `cepd fmt`.

#include <string>

#include "base/diagnostic.h"

namespace cepd::dsl {

struct Formatted {
  std::string text;         ///< empty when the file has mistakes
  Diagnostics diagnostics;  ///< of the parser; a file with mistakes is not formatted
};

/// Statements as print() prints them. A comment on a line of its own stays before the part (clause, element, condition,
/// item) that follows it, one at the end of a line stays with what it follows; lines of one clause are broken where
/// comments need it. Between statements blank lines are kept, several become one. The result has the same tree and
/// comments, and formatting it again changes nothing.
Formatted format_rules(std::string name, std::string text);

}  // namespace cepd::dsl
