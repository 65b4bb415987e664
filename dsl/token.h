#pragma once
/// Words of the rule language. Internal to dsl/.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "dsl/ast.h"
#include "dsl/keyword.h"

namespace cepd::dsl::syntax {

enum class TokenKind : std::uint8_t {
  kWord,    ///< a name or keyword: which one, the grammar says
  kQuoted,  ///< a name in back quotes
  kString,
  kInt,        ///< value: std::uint64_t, at most 2^63
  kDouble,     ///< value: double
  kDuration,   ///< value: Micros
  kTimestamp,  ///< `@"2026-01-05T22:00:00Z"`; value: EventTime
  kOffset,     ///< `@2m`; value: Micros
  kConstant,   ///< `$name`
  kSymbol,
  kBad,  ///< already reported; no rule of the grammar takes it
  kEnd,  ///< of the file
};

enum class Symbol : std::uint8_t {
  kNone,
  kOpenParen,
  kCloseParen,
  kOpenBracket,
  kCloseBracket,
  kOpenBrace,
  kCloseBrace,
  kComma,
  kColon,
  kDot,
  kQuestion,
  kPlus,
  kStar,
  kMinus,
  kSlash,
  kPercent,
  kPipe,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Keyword keyword = Keyword::kNone;  ///< of a word that is one
  Symbol symbol = Symbol::kNone;
  bool starts_line = false;  ///< nothing but blanks before it
  bool glued = false;        ///< nothing at all between it and the token before
  std::uint32_t column = 0;  ///< bytes from the start of its line
  ast::Location where;
  std::string text;  ///< of words, names (without back quotes), strings (escapes read), constants (without `$`)
  std::variant<std::monostate, std::uint64_t, double, Micros, EventTime> value;
};

/// A name or keyword.
inline bool is_name(const Token& token) { return token.kind == TokenKind::kWord || token.kind == TokenKind::kQuoted; }

/// The last one is kEnd.
using Tokens = std::vector<Token>;

/// `# ...` to the end of its line, without blanks at its end.
struct Comment {
  ast::Location where;
  bool starts_line = false;  ///< nothing but blanks before it
  std::uint32_t column = 0;  ///< bytes from the start of its line
};

struct Lexed {
  Tokens tokens;
  std::vector<Comment> comments;
};

}  // namespace cepd::dsl::syntax
