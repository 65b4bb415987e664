#include "dsl/known_forms.h"

#include "dsl/mistake_place.h"

namespace cepd::dsl::syntax {
namespace {

/// One token of a form.
struct Like {
  enum class Kind : std::uint8_t { kAnything, kName, kLiteral, kSymbol, kKeyword, kToken } kind = Kind::kAnything;
  Symbol symbol = Symbol::kNone;
  Keyword keyword = Keyword::kNone;
  TokenKind token = TokenKind::kEnd;

  bool is(const Token& t) const {
    switch (kind) {
      case Kind::kAnything:
        return true;
      case Kind::kName:
        return is_name(t) && !info(t.keyword).name;
      case Kind::kLiteral:
        return t.kind == TokenKind::kInt || t.kind == TokenKind::kDouble || t.kind == TokenKind::kString;
      case Kind::kSymbol:
        return t.symbol == symbol;
      case Kind::kKeyword:
        return t.keyword == keyword;
      case Kind::kToken:
        return t.kind == token;
    }
    return false;
  }
};
constexpr Like kAnything{};
constexpr Like kName{Like::Kind::kName};
constexpr Like kLiteral{Like::Kind::kLiteral};
constexpr Like a(Symbol symbol) { return {Like::Kind::kSymbol, symbol}; }
constexpr Like a(Keyword keyword) { return {Like::Kind::kKeyword, Symbol::kNone, keyword}; }
constexpr Like a(TokenKind kind) { return {Like::Kind::kToken, Symbol::kNone, Keyword::kNone, kind}; }

enum class Mark : std::uint8_t { kAt, kBefore };

/// The furthest token, those around it, and what was expected there. In the texts $at, $next, $before and $before2 are
/// what is written in those places.
struct Form {
  std::string_view expected;  ///< empty: anything
  Like before2, before, at, next;
  Mark mark;
  std::string_view message, suggestion;
};

using K = Keyword;
using S = Symbol;
using T = TokenKind;
constexpr std::string_view kAny;

constexpr Form kForms[] = {
    // ---- patterns ----
    {"THEN", kAnything, kName, a(S::kComma), kAnything, Mark::kAt,
     "elements are joined by THEN, NEXT, AND or OR, not by a comma", "write it like a THEN b, or a|b for either type"},
    {"THEN", kAnything, kName, a(S::kOpenParen), kAnything, Mark::kAt, "a condition stands in square brackets",
     "write $before[ ... ]"},
    {"a whole number", kName, a(S::kOpenBrace), kName, kAnything, Mark::kAt, "a condition stands in square brackets",
     "write $before2[ ... ]"},
    {"THEN", kAnything, kName, a(T::kInt), kAnything, Mark::kAt, "a count stands in braces after the event type",
     "write $before{$at}"},
    {"an event type", kAnything, kAnything, a(T::kInt), kName, Mark::kAt,
     "a count stands in braces after the event type", "write $next{$at}"},
    {"}", a(S::kOpenBrace), a(T::kInt), a(S::kMinus), a(T::kInt), Mark::kAt,
     "a count from $before to $next has a comma", "write {$before,$next}"},
    {"an event type", kAnything, a(K::kNext), a(K::kAny), kAnything, Mark::kAt,
     "ANY stands only after THEN: after NEXT just one event can come", "leave it out, or write THEN ANY"},
    {"an event type", kAnything, kAnything, a(K::kAny), kName, Mark::kAt, "ANY stands only after THEN",
     "leave it out: every event that $next accepts begins a match"},
    {"THEN", kAnything, kAnything, a(K::kAny), kAnything, Mark::kAt, "ANY stands only after THEN", "write THEN ANY"},
    {"an event type", kAnything, a(K::kAnd), a(K::kThen), kAnything, Mark::kBefore,
     "AND joins elements in any order, THEN one after the other", "write one of the two"},
    {"an event type", kAnything, a(K::kOr), a(K::kThen), kAnything, Mark::kBefore,
     "OR joins alternatives, THEN elements one after the other", "write one of the two"},

    // ---- conditions and values ----
    {"a value", kAnything, kAnything, a(S::kPlus), kLiteral, Mark::kAt, "a number has no plus sign", "write $next"},
    {"a value", a(S::kStar), kAnything, a(S::kStar), kAnything, Mark::kAt, "** is no operator", "write pow(a, b)"},
    {"a value", kAnything, a(S::kStar), a(S::kStar), kAnything, Mark::kAt, "** is no operator", "write pow(a, b)"},
    {"a value", kAnything, kAnything, a(T::kOffset), kAnything, Mark::kAt,
     "only times of a test are counted from its start",
     "write a duration without @, or a time like @\"2026-01-05T22:00:00Z\""},
    {"%", kAnything, kAnything, a(S::kQuestion), kAnything, Mark::kAt, "there is no ? with : in conditions",
     "write if(condition, a, b)"},
    {"%", kAnything, kAnything, a(S::kColon), a(S::kEq), Mark::kAt, "equality is written with one =", "write ="},
    {"AND", a(K::kBetween), kAnything, a(S::kComma), kAnything, Mark::kAt, "BETWEEN has AND between its two values",
     "write BETWEEN $before AND $next"},
    {"(", kAnything, a(K::kIn), kAnything, kAnything, Mark::kAt, "the values after IN stand in parentheses",
     "write it like IN (1, 2)"},
    {"NULL", kAnything, a(K::kIs), kLiteral, kAnything, Mark::kBefore, "IS stands only before NULL and NOT NULL",
     "write = $at"},
    {"NULL", kAnything, a(K::kIs), kAnything, kAnything, Mark::kBefore, "IS stands only before NULL and NOT NULL",
     "write = to compare"},
    {"a string, or a constant,", kAnything, a(K::kMatches), kAnything, kAnything, Mark::kAt,
     "MATCHES takes a string or a constant: a regular expression is fixed when the rule is loaded",
     "write contains(a, b) for the text of a field"},
    {"a condition or value", kName, a(S::kOpenParen), a(S::kStar), a(S::kCloseParen), Mark::kAt,
     "$before2 takes an element or a field; there is no *", "write $before2(name)"},
    {kAny, kAnything, a(K::kEmit), a(S::kStar), kAnything, Mark::kAt, "EMIT names each item; there is no *",
     "write them out, like user_id, fail.amount"},

    // ---- lists ----
    {kAny, kAnything, a(S::kComma), a(S::kCloseBrace), kAnything, Mark::kBefore, "a list does not end with a comma",
     "leave it out"},
    {kAny, kAnything, a(S::kComma), a(S::kCloseParen), kAnything, Mark::kBefore, "a list does not end with a comma",
     "leave it out"},
    {kAny, kAnything, a(S::kComma), a(S::kCloseBracket), kAnything, Mark::kBefore, "a list does not end with a comma",
     "leave it out"},
    {"EXPECT", kAnything, kAnything, a(S::kComma), kAnything, Mark::kAt,
     "what comes in a test is listed without commas", "leave it out"},
    {"EXPECT", kAnything, kAnything, a(K::kThen), kAnything, Mark::kAt, "what comes in a test is listed without links",
     "leave it out"},
    {"a comma", kAnything, kAnything, a(K::kAnd), kAnything, Mark::kAt, "a list has commas",
     "write a comma instead of $at"},
    {"a comma", kAnything, kAnything, a(K::kThen), kAnything, Mark::kAt, "a list has commas",
     "write a comma instead of $at"},
    {":", kAnything, kAnything, a(S::kEq), kAnything, Mark::kAt, "a name and its value have a colon between them",
     "write $before: $next"},
    {"a field", kAnything, a(K::kKey), a(S::kOpenParen), kAnything, Mark::kAt,
     "the fields of KEY stand without parentheses", "write it like KEY user_id, device"},
    {"a comma", a(K::kKey), a(K::kBy), kAnything, kAnything, Mark::kBefore, "KEY has no BY", "write KEY $at"},

    // ---- statements ----
    {"MATCH", a(K::kRule), kName, a(S::kColon), kAnything, Mark::kAt,
     "nothing stands between the name of a rule and its clauses", "leave it out"},
    {"MATCH", a(K::kRule), kName, a(S::kOpenBrace), kAnything, Mark::kAt, "a rule has no braces around it",
     "leave them out"},
    {"the name of the rule", kAnything, a(K::kRule), a(K::kMatch), kName, Mark::kAt, "a rule has a name",
     "write it like RULE cart_rescue MATCH $next"},
    {"the name of the constant", kAnything, a(K::kConst), a(T::kConstant), kAnything, Mark::kAt,
     "a constant has its $ where it is used, not where it is declared", "write it like CONST max_gap = 5m"},
    {"a literal", kAnything, a(S::kEq), a(T::kConstant), kAnything, Mark::kAt,
     "a CONST is a literal, not another CONST", "write it like CONST max_gap = 5m"},
    {"a literal", kAnything, a(S::kEq), kName, kAnything, Mark::kAt, "a CONST is a literal",
     "write \"$at\" if it is a text"},
    {"a type: bool, int, double, string, timestamp or duration", kAnything, kName, a(S::kColon), kName, Mark::kAt,
     "a field and its type have no colon between them", "write $before $next"},
    {"(", a(K::kEvent), kName, a(S::kOpenBrace), kAnything, Mark::kAt, "the fields of an event stand in parentheses",
     "write it like EVENT $before (user_id string, price double)"},
    {")", kAnything, kName, a(K::kNot), a(K::kNull), Mark::kAt, "no field is null unless its type ends in ?",
     "leave NOT NULL out"},
    {"FOR", a(K::kTest), a(K::kFor), kName, kAnything, Mark::kBefore, "a test has a name",
     "write it like TEST first_case FOR $at"},
    {"a time such as @2m", kAnything, a(K::kEvery), a(T::kDuration), kAnything, Mark::kBefore, "EVERY follows TIMES",
     "write it like TIMES 5 EVERY $at"},
    {"a value", kAnything, a(S::kColon), kName, kAnything, Mark::kAt, "a text in a test stands in quotes",
     "write \"$at\""},
};

std::string filled(std::string_view text, const Place& place) {
  const auto words = {std::pair<std::string_view, const Token*>{"$before2", &place.before(2)},
                      {"$before", &place.before(1)},
                      {"$at", place.at},
                      {"$next", place.at->kind == TokenKind::kEnd ? place.at : place.at + 1}};
  std::string out;
  while (!text.empty()) {
    const auto word =
        std::find_if(words.begin(), words.end(), [&](const auto& w) { return text.starts_with(w.first); });
    if (word == words.end()) {
      out += text.front();
      text.remove_prefix(1);
    } else {
      out += place.written(*word->second);
      text.remove_prefix(word->first.size());
    }
  }
  return out;
}

bool fits(const Form& form, const Place& place) {
  const Token& next = place.at->kind == TokenKind::kEnd ? *place.at : place.at[1];
  return form.at.is(*place.at) && form.before.is(place.before(1)) && form.before2.is(place.before(2)) &&
         form.next.is(next) && (form.expected.empty() || place.expects(form.expected));
}

}  // namespace

bool report_known_form(const Place& place) {
  const auto* const form =
      std::find_if(std::begin(kForms), std::end(kForms), [&](const Form& f) { return fits(f, place); });
  if (form == std::end(kForms)) return false;
  const Token& marked = form->mark == Mark::kAt ? *place.at : place.before(1);
  return place.report(marked.where, filled(form->message, place), filled(form->suggestion, place));
}

}  // namespace cepd::dsl::syntax
