#include "dsl/lex_foreign.h"

#include <algorithm>
#include <iterator>

namespace cepd::dsl::syntax {
namespace {

constexpr ForeignSign sign(std::string_view text, Symbol meant, std::string_view message, std::string_view suggestion) {
  return {text, TokenKind::kSymbol, meant, Keyword::kNone, message, suggestion};
}
constexpr ForeignSign word(std::string_view text, Keyword meant, std::string_view message,
                           std::string_view suggestion) {
  return {text, TokenKind::kWord, Symbol::kNone, meant, message, suggestion};
}
constexpr ForeignSign nothing(std::string_view text, std::string_view message, std::string_view suggestion) {
  return {text, TokenKind::kEnd, Symbol::kNone, Keyword::kNone, message, suggestion};
}
constexpr ForeignSign unclear(std::string_view text, std::string_view message, std::string_view suggestion) {
  return {text, TokenKind::kBad, Symbol::kNone, Keyword::kNone, message, suggestion};
}

constexpr const char* kUnseen = "a character that cannot be seen stands here";

/// Longer ones first.
constexpr ForeignSign kSigns[] = {
    sign("===", Symbol::kEq, "equality is written with one =", "write ="),
    sign("==", Symbol::kEq, "equality is written with one =", "write ="),
    sign("<>", Symbol::kNe, "<> is no operator", "write !="),
    sign("=>", Symbol::kGe, "=> is no operator", "write >="),
    sign("=<", Symbol::kLe, "=< is no operator", "write <="),
    word("&&", Keyword::kAnd, "&& is no operator", "write AND"),
    word("||", Keyword::kOr, "|| is no operator", "write OR (one | joins the types of an element)"),
    word("->", Keyword::kThen, "-> is no operator", "write THEN or NEXT"),
    word("!", Keyword::kNot, "! is no operator", "write NOT"),
    word("~", Keyword::kMatches, "~ is no operator", "write MATCHES"),
    word("&", Keyword::kAnd, "& is no operator", "write AND"),
    unclear("^", "^ is no operator", "write pow(a, b)"),
    sign("..", Symbol::kComma, ".. is no operator", "a count from 2 to 3 is written {2,3}"),
    nothing(";", "statements do not end with ;", "leave it out"),
    // What word processors and web pages make of signs.
    nothing("\u00A0", "a no-break space stands here", "write a plain space"),
    nothing("\u200B", kUnseen, "delete it (U+200B)"),
    nothing("\uFEFF", kUnseen, "delete it (U+FEFF)"),
    sign("\u2010", Symbol::kMinus, "this dash is no minus sign", "write -"),
    sign("\u2011", Symbol::kMinus, "this dash is no minus sign", "write -"),
    sign("\u2012", Symbol::kMinus, "this dash is no minus sign", "write -"),
    sign("\u2013", Symbol::kMinus, "this dash is no minus sign", "write -"),
    sign("\u2014", Symbol::kMinus, "this dash is no minus sign", "write -"),
    sign("\u2212", Symbol::kMinus, "this dash is no minus sign", "write -"),
    sign("\u00D7", Symbol::kStar, "this is no multiplication sign", "write *"),
    sign("\u00F7", Symbol::kSlash, "this is no division sign", "write /"),
    sign("\u2260", Symbol::kNe, "this is no operator", "write !="),
    sign("\u2264", Symbol::kLe, "this is no operator", "write <="),
    sign("\u2265", Symbol::kGe, "this is no operator", "write >="),
    word("\u2192", Keyword::kThen, "an arrow is no operator", "write THEN or NEXT"),
    nothing("\u20AC", "a number has no currency", "leave it out"),
    nothing("\u00A3", "a number has no currency", "leave it out"),
};

}  // namespace

const ForeignSign* find_foreign_sign(std::string_view text) {
  // Most signs are the language's own.
  constexpr std::string_view kFirst = "=<&|-!~^.;";
  if (text.empty() ||
      (static_cast<unsigned char>(text.front()) < 0x80 && kFirst.find(text.front()) == std::string_view::npos)) {
    return nullptr;
  }
  if (text.starts_with("!=")) return nullptr;
  const auto* const found = std::find_if(std::begin(kSigns), std::end(kSigns),
                                         [&](const ForeignSign& s) { return text.starts_with(s.text); });
  return found == std::end(kSigns) ? nullptr : found;
}

}  // namespace cepd::dsl::syntax
