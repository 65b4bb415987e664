#pragma once
/// Rule text -> syntax tree. The grammar itself (Boost.Spirit X3) is in grammar.cc, the only unit that includes it.

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "dsl/ast.h"

namespace cepd::dsl {

/// Longest rule file and deepest nesting that are read; beyond is an error in the file.
inline constexpr std::size_t kMaxFileBytes = 1 << 20;
inline constexpr unsigned kMaxNesting = 100;

struct Parsed {
  ast::File file;
  Diagnostics diagnostics;  ///< all errors of the file, in order; after one, parsing goes on at the next statement
};

/// Parses one rule file. `name` is used in messages and names a bare-pattern rule (its last path component without
/// `.rules`). Never throws; any bytes are accepted and give diagnostics. Cost is linear in the text but for nesting,
/// which is bounded.
Parsed parse(std::string name, std::string text);

/// Stands for a file that could not be read: what it declares may be anything.
ast::File unreadable(std::string name);

/// Keywords of the language, upper-case: for suggestions, `cepd fmt` and editor support.
const std::vector<std::string>& keywords();
/// True when `word` (any case) must be put in back quotes to be an event type, element or rule name.
bool is_reserved(std::string_view word);

}  // namespace cepd::dsl
