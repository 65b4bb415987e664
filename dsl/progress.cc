#include "dsl/grammar.h"

namespace cepd::dsl::syntax {
namespace {

/// The KEY of the rule that begins at `rule`; null when there is none before MATCH.
const Token* find_key(const Token* rule) {
  std::size_t depth = 0;
  for (const Token* t = rule + 1; t->kind != TokenKind::kEnd; ++t) {
    if (t->symbol == Symbol::kOpenBracket) ++depth;
    if (t->symbol == Symbol::kCloseBracket && depth > 0) --depth;
    const bool field = t[-1].keyword == Keyword::kBy || t[-1].symbol == Symbol::kComma || t[-1].symbol == Symbol::kDot;
    if (depth > 0 || field) continue;
    if (t->keyword == Keyword::kKey) return t;
    if (t->keyword == Keyword::kMatch) return nullptr;
  }
  return nullptr;
}

}  // namespace

Progress::Progress(const Token* begin, Problems& problems) : begin_(begin), furthest_(begin), problems_(problems) {
  expectations_.reserve(32);
  // BY in a list of events needs to know how many fields the key has, and FROM may stand before KEY.
  const Token* const key = begin->keyword == Keyword::kRule ? find_key(begin) : nullptr;
  if (key == nullptr) return;
  key_fields_ = 1;
  for (const Token* t = key + 1; t->kind != TokenKind::kEnd; ++t) {
    const bool field = t == key + 1 || t[-1].symbol == Symbol::kComma || t[-1].symbol == Symbol::kDot;
    if (field) continue;
    if (t->symbol == Symbol::kComma) {
      ++key_fields_;
    } else if (t->symbol != Symbol::kDot && t->symbol != Symbol::kOpenBracket && t->symbol != Symbol::kCloseBracket &&
               t->symbol != Symbol::kMinus && t->kind != TokenKind::kInt) {
      return;
    }
  }
}

}  // namespace cepd::dsl::syntax
