#include "dsl/known_mistakes.h"

#include <algorithm>
#include <initializer_list>

#include "dsl/clause_order.h"

namespace cepd::dsl::syntax {
namespace {

bool is_name(const Token& token) { return token.kind == TokenKind::kWord || token.kind == TokenKind::kQuoted; }
bool is_one_of(Symbol symbol, std::initializer_list<Symbol> list) {
  return std::find(list.begin(), list.end(), symbol) != list.end();
}
bool is_one_of(Keyword keyword, std::initializer_list<Keyword> list) {
  return std::find(list.begin(), list.end(), keyword) != list.end();
}

bool is_duration(const Token& token) {
  return token.kind == TokenKind::kDuration || token.kind == TokenKind::kConstant;
}
bool begins_quantifier(const Token& token) {
  return is_one_of(token.symbol, {Symbol::kQuestion, Symbol::kPlus, Symbol::kStar, Symbol::kOpenBrace});
}
bool ends_quantifier(const Token& token) {
  return is_one_of(token.symbol, {Symbol::kQuestion, Symbol::kPlus, Symbol::kStar, Symbol::kCloseBrace}) ||
         is_one_of(token.keyword, {Keyword::kGreedy, Keyword::kConsecutive, Keyword::kCombinations});
}
bool is_modifier(const Token& token) {
  return is_one_of(token.keyword, {Keyword::kGreedy, Keyword::kConsecutive, Keyword::kCombinations, Keyword::kUntil});
}
bool is_comparison(const Token& token) {
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

// ---- what is not there yet (language.md section 6) ----

bool report_past(const Place& place) {
  const bool begun = place.before().symbol == Symbol::kOpenBracket || place.at->keyword == Keyword::kBy;
  if (place.at->keyword != Keyword::kPast && !begun) return false;
  // `count(login[user = "x"] PAST 10m)` goes wrong in the brackets already.
  constexpr std::ptrdiff_t kFarthest = 100;  // tokens; longer conditions get the plain message
  int depth = 0;
  for (const Token* t = place.at; t->kind != TokenKind::kEnd && depth > -2 && t - place.at < kFarthest; ++t) {
    if (is_one_of(t->symbol, {Symbol::kOpenParen, Symbol::kOpenBracket})) ++depth;
    if (is_one_of(t->symbol, {Symbol::kCloseParen, Symbol::kCloseBracket})) --depth;
    if (t->keyword == Keyword::kPast && t[-1].symbol != Symbol::kDot && (t == place.at || is_duration(t[1]))) {
      return place.report(t->where, "PAST is not supported yet");
    }
  }
  return false;
}

bool report_unsupported(const Place& place) {
  const Token& at = *place.at;
  if (at.keyword == Keyword::kWindow && !place.expects("an event type")) {
    return place.report("WINDOW is not supported yet");
  }
  if (&at == place.progress.begin() && is_one_of(at.keyword, {Keyword::kStream, Keyword::kTable})) {
    return place.report(std::string(info(at.keyword).text) + " is not supported yet");
  }
  if (report_past(place)) return true;
  if (place.before().symbol == Symbol::kOpenBracket && place.expects("a whole number")) {
    return place.report("expected a whole number between [ and ]; look-ups in tables are not supported yet");
  }
  return false;
}

/// `test THEN b`
bool report_keyword_as_type(const Place& place) {
  const Token& first = *place.progress.begin();
  const Token& at = *place.at;
  if (&at != &first + 1 || !info(first.keyword).statement) return false;
  if (!is_one_of(at.keyword,
                 {Keyword::kThen, Keyword::kNext, Keyword::kAnd, Keyword::kOr, Keyword::kWithin, Keyword::kAs}) &&
      !is_one_of(at.symbol, {Symbol::kPipe, Symbol::kOpenBracket}) && !begins_quantifier(at)) {
    return false;
  }
  return place.report(first.where, first.text + " is a keyword; as an event type it stands in back quotes",
                      "write `" + first.text + "`");
}

// ---- patterns ----

bool report_bound_in_the_middle(const Place& place) {
  const Token& at = *place.at;
  const Token& value = place.before(1);
  const Token& within = place.before(2);
  // A rule reads AFTER as the beginning of AFTER MATCH.
  const Token* const after = at.keyword == Keyword::kAfter               ? &at
                             : place.before().keyword == Keyword::kAfter ? &at - 1
                                                                         : nullptr;
  if (after != nullptr && is_duration(after[1])) {
    return place.report(after->where, "AFTER stands in a link",
                        "write THEN AFTER " + place.written(after[1]) + " and then what must come so much later");
  }
  if (within.keyword != Keyword::kWithin || !is_duration(value)) return false;
  const ast::Location where{within.where.begin, value.where.end};
  if (is_one_of(at.keyword, {Keyword::kThen, Keyword::kNext})) {
    const std::string bound = place.written(where);
    const std::string next = is_name((&at)[1]) && !info((&at)[1].keyword).name ? " " + place.written((&at)[1]) : "";
    const bool repeat = ends_quantifier(place.before(3)) || place.before(3).symbol == Symbol::kCloseParen;
    const std::string link = std::string(info(at.keyword).text) + " " + bound + next;
    return place.report(where, "WITHIN bounds a whole pattern or group, or stands in a link",
                        repeat ? "write " + link + ", or ( ... " + bound + ") to bound the group"
                               : "write " + link + ", or put what it bounds in parentheses: ( ... " + bound + ")");
  }
  if (is_one_of(at.keyword, {Keyword::kAnd, Keyword::kOr, Keyword::kAs}) || begins_quantifier(at)) {
    return place.report(where, "WITHIN goes after the whole pattern, or inside the parentheses of a group",
                        "put what it bounds in parentheses: ( ... " + place.written(where) + ")");
  }
  return false;
}

bool report_after_as(const Place& place) {
  const Token& at = *place.at;
  if (place.before(2).keyword != Keyword::kAs || !place.after_element()) return false;
  const Token& name = place.before(1);
  const Token& type = place.before(3);
  const std::string element = is_name(type) ? place.written(type) : "";
  const std::string as = " AS " + place.written(name);
  if (begins_quantifier(at)) {
    return place.report("the quantifier goes before AS",
                        element.empty() ? "" : "write " + element + place.quantifier(at) + as);
  }
  if (at.symbol == Symbol::kOpenBracket) {
    return place.report("the condition goes before AS", element.empty() ? "" : "write " + element + "[ ... ]" + as);
  }
  if (is_modifier(at) || at.keyword == Keyword::kBy) {
    return place.report(std::string(info(at.keyword).text) + " goes before AS");
  }
  return false;
}

/// `A{2}[c]`
bool report_late_condition(const Place& place) {
  const Token* quantifier = place.at - 1;
  if (quantifier->symbol == Symbol::kCloseBrace) {
    while (quantifier > place.progress.begin() && quantifier->symbol != Symbol::kOpenBrace) --quantifier;
  }
  const Token* close = place.at;
  while (close->kind != TokenKind::kEnd && close->symbol != Symbol::kCloseBracket) ++close;
  constexpr std::uint32_t kLongest = 60;
  const bool plain = quantifier > place.progress.begin() && is_name(quantifier[-1]) && close->kind != TokenKind::kEnd &&
                     close->where.end - place.at->where.begin <= kLongest;
  return place.report("the condition goes before the quantifier",
                      plain
                          ? "write " + place.written(quantifier[-1]) +
                                place.written({place.at->where.begin, close->where.end}) + place.quantifier(*quantifier)
                          : "write it like A[ ... ]{2}");
}

bool report_order_in_element(const Place& place) {
  const Token& at = *place.at;
  const Token& before = place.before();
  if (!place.after_element()) return false;
  if (at.symbol == Symbol::kOpenBracket) {
    if (ends_quantifier(before)) return report_late_condition(place);
    if (before.symbol == Symbol::kCloseParen) return place.report("a condition stands on an event, not on a group");
    if (before.symbol == Symbol::kCloseBracket) return place.report("a second condition", "join the two with AND");
  }
  if (at.keyword == Keyword::kBy) return place.report("BY goes right after the event type, before the condition");
  if (begins_quantifier(at) && ends_quantifier(before)) {
    return place.report("an element has one quantifier", "put the inner one in parentheses: (A+){2}");
  }
  if (is_modifier(at)) {
    const std::string keyword(info(at.keyword).text);
    return place.report(keyword + " follows a quantifier", "write it like A+ " + keyword);
  }
  return false;
}

/// `door/open`, `payment.ok`: as one word it needs back quotes.
bool report_bare_name(const Place& place) {
  const Token& at = *place.at;
  const auto joins = [](const Token& t) {
    return is_one_of(t.symbol, {Symbol::kMinus, Symbol::kSlash, Symbol::kDot, Symbol::kColon});
  };
  if (place.at == place.progress.begin() || place.after_value() || place.expects(":")) return false;
  if (!is_name(place.before()) || !joins(at) || !at.glued) return false;
  const Token* last = place.at;
  while (last[1].glued && (joins(last[1]) || is_name(last[1]) || last[1].kind == TokenKind::kInt)) ++last;
  if (last == place.at) return false;
  const std::string name = place.written({place.before().where.begin, last->where.end});
  return place.report({place.before().where.begin, last->where.end},
                      "a name with other characters than A-Z a-z 0-9 _ stands in back quotes", "write `" + name + "`");
}

// ---- values ----

bool report_duration(const Place& place) {
  const Token& at = *place.at;
  if (place.expects("a time such as @2m") && at.kind == TokenKind::kDuration) {
    return place.report("a time in a test begins with @", "write @" + place.written(at));
  }
  if (!place.expects("a duration such as 5m")) return false;
  if (at.kind == TokenKind::kInt || at.kind == TokenKind::kDouble) {
    const std::string number = place.written(at);
    const Token& next = (&at)[1];
    if (next.kind == TokenKind::kWord && parse_duration(number + next.text)) {
      return place.report({at.where.begin, next.where.end}, "a duration has no spaces in it",
                          "write " + number + next.text);
    }
    return place.report("a duration needs a unit",
                        at.kind == TokenKind::kInt ? "write it like " + number + "s, " + number + "m or " + number + "h"
                                                   : "write it like 90s, 5m or 1h30m");
  }
  if (at.kind == TokenKind::kString && parse_duration(at.text)) {
    return place.report("a duration has no quotes", "write " + at.text);
  }
  if (at.symbol == Symbol::kMinus) return place.report("a duration cannot be negative");
  return false;
}

bool report_condition(const Place& place) {
  const Token& at = *place.at;
  if (place.after_value() && is_comparison(at)) {
    return place.report("comparisons do not chain", "write them apart: a < b AND b < c");
  }
  if (place.after_value() && at.kind == TokenKind::kWord && (at.text == "LIKE" || at.text == "like")) {
    return place.report("LIKE is no operator", "write MATCHES with a regular expression, starts_with or contains");
  }
  if (place.expects("a value") && at.keyword == Keyword::kNot) {
    return place.report("NOT binds less tightly than what stands before it", "put it in parentheses: (NOT a)");
  }
  return false;
}

bool report_quotes(const Place& place) {
  const Token& at = *place.at;
  if (at.kind != TokenKind::kString) return false;
  if (!place.expects("an event type") && !place.expects("a name") && !place.expects("the name of the rule")) {
    return false;
  }
  return place.report("a name is not written as a string", "write it plain or in back quotes: `" + at.text + "`");
}

}  // namespace

bool report_known_mistake(const Progress& progress, std::string_view text, Problems& problems) {
  const Place place(progress, text, problems);
  return report_unsupported(place) || report_keyword_as_type(place) || report_bound_in_the_middle(place) ||
         report_after_as(place) || report_order_in_element(place) || report_duration(place) ||
         report_condition(place) || report_quotes(place) || report_bare_name(place) ||
         report_clause_order(progress, problems);
}

}  // namespace cepd::dsl::syntax
