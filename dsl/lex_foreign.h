#pragma once
/// Signs of other languages and of word processors. Internal to dsl/.

#include <string_view>

#include "dsl/token.h"

namespace cepd::dsl::syntax {

/// What others write, and what it is here. `kind`: kSymbol or kWord for the sign or keyword that was meant, kEnd to go
/// on as if nothing stood there, kBad where nothing is sure.
struct ForeignSign {
  std::string_view text;
  TokenKind kind;
  Symbol symbol;
  Keyword keyword;
  std::string_view message, suggestion;
};

/// The one that `text` begins with; null when there is none.
const ForeignSign* find_foreign_sign(std::string_view text);

}  // namespace cepd::dsl::syntax
