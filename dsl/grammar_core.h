#pragma once
/// Parsers of single tokens, locations, and the actions that build the tree. Only for grammar.cc.

#include <algorithm>
#include <boost/spirit/home/x3.hpp>
#include <optional>
#include <type_traits>
#include <utility>

#include "dsl/grammar.h"

namespace cepd::dsl::syntax {

namespace x3 = boost::spirit::x3;
using Show = Expectation::Show;

struct ProgressTag;
template <class Context>
Progress& progress_of(const Context& context) {
  return x3::get<ProgressTag>(context);
}

template <class Attribute, class T>
void give(Attribute& attribute, T&& value) {
  if constexpr (!std::is_same_v<std::remove_const_t<Attribute>, x3::unused_type>) attribute = std::forward<T>(value);
}

/// A keyword. As a clause it is also noted, so that a later one can be told where it belongs.
struct WordParser : x3::parser<WordParser> {
  using attribute_type = x3::unused_type;
  static bool const has_attribute = false;

  constexpr WordParser(Keyword k, Show s, bool c) : keyword(k), show(s), clause(c) {}

  template <class Context, class RuleContext, class Attribute>
  bool parse(const Token*& first, const Token* const&, const Context& context, RuleContext&, Attribute&) const {
    if (first->kind == TokenKind::kWord && first->keyword == keyword) {
      if (clause) progress_of(context).clause(first);
      ++first;
      return true;
    }
    progress_of(context).expected(first, {info(keyword).text, keyword, show});
    return false;
  }

  Keyword keyword;
  Show show;
  bool clause;
};
constexpr WordParser word(Keyword keyword, Show show = Show::kAlways) { return {keyword, show, false}; }
constexpr WordParser clause(Keyword keyword) { return {keyword, Show::kClause, true}; }

struct SymbolParser : x3::parser<SymbolParser> {
  using attribute_type = x3::unused_type;
  static bool const has_attribute = false;

  constexpr SymbolParser(Symbol s, std::string_view t, Show h) : symbol(s), text(t), show(h) {}

  template <class Context, class RuleContext, class Attribute>
  bool parse(const Token*& first, const Token* const&, const Context& context, RuleContext&, Attribute&) const {
    if (first->symbol == symbol) {
      ++first;
      return true;
    }
    progress_of(context).expected(first, {text, Keyword::kNone, show});
    return false;
  }

  Symbol symbol;
  std::string_view text;
  Show show;
};
constexpr SymbolParser symbol(Symbol s, std::string_view text, Show show = Show::kAlways) { return {s, text, show}; }

/// One token that `read` makes an attribute of.
template <class T>
struct TokenParser : x3::parser<TokenParser<T>> {
  using attribute_type = T;
  using Reader = std::optional<T> (*)(const Token&, Progress&);
  static bool const has_attribute = true;

  constexpr TokenParser(Reader r, std::string_view t, Show s) : read(r), text(t), show(s) {}

  template <class Context, class RuleContext, class Attribute>
  bool parse(const Token*& first, const Token* const&, const Context& context, RuleContext&,
             Attribute& attribute) const {
    if (std::optional<T> value = read(*first, progress_of(context))) {
      give(attribute, *std::move(value));
      ++first;
      return true;
    }
    progress_of(context).expected(first, {text, Keyword::kNone, show});
    return false;
  }

  Reader read;
  std::string_view text;
  Show show;
};

/// What the subject would begin with goes by one name: "expected a duration".
template <class Subject>
struct NamedParser : x3::unary_parser<Subject, NamedParser<Subject>> {
  using Base = x3::unary_parser<Subject, NamedParser<Subject>>;
  static bool const is_pass_through_unary = true;

  constexpr NamedParser(const Subject& subject_, std::string_view t, Show s) : Base(subject_), text(t), show(s) {}

  template <class Context, class RuleContext, class Attribute>
  bool parse(const Token*& first, const Token* const& last, const Context& context, RuleContext& rule,
             Attribute& attribute) const {
    Progress& progress = progress_of(context);
    const std::size_t mark = progress.mark(first);
    if (this->subject.parse(first, last, context, rule, attribute)) return true;
    progress.replace(first, mark, {text, Keyword::kNone, show});
    return false;
  }

  std::string_view text;
  Show show;
};
template <class Subject>
constexpr auto named(std::string_view text, const Subject& subject, Show show = Show::kAlways) {
  return NamedParser<typename x3::extension::as_parser<Subject>::value_type>(x3::as_parser(subject), text, show);
}

/// Sets a location in the rule's attribute to what the subject takes.
template <class Subject, class Where>
struct LocatedParser : x3::unary_parser<Subject, LocatedParser<Subject, Where>> {
  using Base = x3::unary_parser<Subject, LocatedParser<Subject, Where>>;
  static bool const is_pass_through_unary = true;

  constexpr LocatedParser(const Subject& subject_, Where w) : Base(subject_), where(w) {}

  template <class Context, class RuleContext, class Attribute>
  bool parse(const Token*& first, const Token* const& last, const Context& context, RuleContext& rule,
             Attribute& attribute) const {
    const Token* const begin = first;
    if (!this->subject.parse(first, last, context, rule, attribute)) return false;
    where(rule) = {begin->where.begin, first == begin ? begin->where.begin : first[-1].where.end};
    return true;
  }

  Where where;
};
template <class Subject, class Where>
constexpr auto located_at(Where where, const Subject& subject) {
  return LocatedParser<typename x3::extension::as_parser<Subject>::value_type, Where>(x3::as_parser(subject), where);
}
template <class Subject>
constexpr auto located(const Subject& subject) {
  return located_at([](auto& value) -> ast::Location& { return value.where; }, subject);
}

// ---- semantic actions: what was read becomes a part of the rule's attribute ----

template <auto Member>
constexpr auto set = [](auto& context) { x3::_val(context).*Member = std::move(x3::_attr(context)); };
template <auto Member, auto Value>
constexpr auto put = [](auto& context) { x3::_val(context).*Member = Value; };
template <auto Member>
constexpr auto add = [](auto& context) { (x3::_val(context).*Member).push_back(std::move(x3::_attr(context))); };
constexpr auto take = [](auto& context) { x3::_val(context) = std::move(x3::_attr(context)); };
/// For attributes that are vectors.
constexpr auto append = [](auto& context) { x3::_val(context).push_back(std::move(x3::_attr(context))); };

/// Alternation by a comma.
const auto comma = symbol(Symbol::kComma, "a comma", Show::kHidden);

}  // namespace cepd::dsl::syntax
