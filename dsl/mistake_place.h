#pragma once
/// What the tables and functions of known mistakes share. Internal to dsl/.

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "dsl/clause_order.h"

namespace cepd::dsl::syntax {

inline bool is_one_of(Symbol symbol, std::initializer_list<Symbol> list) {
  return std::find(list.begin(), list.end(), symbol) != list.end();
}
inline bool is_one_of(Keyword keyword, std::initializer_list<Keyword> list) {
  return std::find(list.begin(), list.end(), keyword) != list.end();
}

inline bool is_duration(const Token& token) {
  return token.kind == TokenKind::kDuration || token.kind == TokenKind::kConstant;
}
inline bool begins_quantifier(const Token& token) {
  return is_one_of(token.symbol, {Symbol::kQuestion, Symbol::kPlus, Symbol::kStar, Symbol::kOpenBrace});
}
inline bool ends_quantifier(const Token& token) {
  return is_one_of(token.symbol, {Symbol::kQuestion, Symbol::kPlus, Symbol::kStar, Symbol::kCloseBrace}) ||
         is_one_of(token.keyword, {Keyword::kGreedy, Keyword::kConsecutive, Keyword::kCombinations});
}
inline bool is_modifier(const Token& token) {
  return is_one_of(token.keyword, {Keyword::kGreedy, Keyword::kConsecutive, Keyword::kCombinations, Keyword::kUntil});
}
inline bool is_comparison(const Token& token) {
  return is_one_of(token.symbol, {Symbol::kEq, Symbol::kNe, Symbol::kLt, Symbol::kLe, Symbol::kGt, Symbol::kGe}) ||
         is_one_of(token.keyword, {Keyword::kIn, Keyword::kBetween, Keyword::kMatches, Keyword::kIs});
}

/// The places around the furthest token, and what could have stood there.
class Place {
 public:
  Place(const Progress& read, std::string_view text, Problems& problems)
      : at(read.furthest()), progress(read), text_(text), problems_(problems) {}

  /// The token `count` before; an end token, which is like nothing, before the statement.
  const Token& before(std::size_t count = 1) const {
    static const Token kNothing;
    return static_cast<std::size_t>(at - progress.begin()) >= count ? *(at - count) : kNothing;
  }

  bool expects(std::string_view what) const {
    const auto& all = progress.expectations();
    return std::any_of(all.begin(), all.end(), [&](const Expectation& e) { return e.text == what; });
  }
  /// A value is complete here and could go on with an operator.
  bool after_value() const { return expects("%"); }
  /// An element is complete here and could go on with a link.
  bool after_element() const { return expects("THEN"); }
  /// A clause could stand here: nothing else is missing.
  bool between_clauses() const { return syntax::between_clauses(progress); }

  std::string written(ast::Location where) const {
    return std::string(text_.substr(where.begin, where.end - where.begin));
  }
  std::string written(const Token& token) const { return written(token.where); }
  /// From `first` to its closing brace where it opens one.
  std::string quantifier(const Token& first) const {
    const Token* last = &first;
    if (first.symbol == Symbol::kOpenBrace) {
      while (last->kind != TokenKind::kEnd && last->symbol != Symbol::kCloseBrace) ++last;
    }
    return written({first.where.begin, last->where.end});
  }

  bool report(std::string message, std::string suggestion = {}) const {
    return report(at->where, std::move(message), std::move(suggestion));
  }
  bool report(ast::Location where, std::string message, std::string suggestion = {}) const {
    problems_.add(where, std::move(message), std::move(suggestion));
    return true;
  }

  const Token* const at;
  const Progress& progress;

 private:
  std::string_view text_;
  Problems& problems_;
};

}  // namespace cepd::dsl::syntax
