#include "dsl/known_mistakes.h"

#include <algorithm>
#include <initializer_list>

#include "dsl/clause_order.h"
#include "dsl/foreign_words.h"
#include "dsl/known_forms.h"
#include "dsl/known_values.h"
#include "dsl/mistake_place.h"

namespace cepd::dsl::syntax {
namespace {

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

// ---- signs ----

/// `-- a comment`, which may have been read as `- -a`.
bool report_comment(const Place& place) {
  const auto minus = [](const Token& t) { return t.symbol == Symbol::kMinus; };
  for (const Token* t = place.at;; --t) {
    if (minus(t[0]) && minus(t[1]) && t[1].glued) {
      return place.report({t[0].where.begin, t[1].where.end}, "a comment begins with #", "write # instead of --");
    }
    if (t == place.progress.begin() || t->starts_line) return false;
  }
}

/// `a THEN b)`
bool report_unopened(const Place& place) {
  const Symbol close = place.at->symbol;
  const Symbol open = close == Symbol::kCloseParen     ? Symbol::kOpenParen
                      : close == Symbol::kCloseBracket ? Symbol::kOpenBracket
                      : close == Symbol::kCloseBrace   ? Symbol::kOpenBrace
                                                       : Symbol::kNone;
  if (open == Symbol::kNone) return false;
  int depth = 0;
  for (const Token* t = place.progress.begin(); t != place.at; ++t) {
    depth += t->symbol == open ? 1 : t->symbol == close ? -1 : 0;
  }
  return depth <= 0 && place.report("this " + place.written(*place.at) + " closes nothing", "leave it out");
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

}  // namespace

bool report_known_mistake(const Progress& progress, std::string_view text, Problems& problems) {
  const Place place(progress, text, problems);
  return report_comment(place) || report_unsupported(place) || report_keyword_as_type(place) ||
         report_bound_in_the_middle(place) || report_after_as(place) || report_order_in_element(place) ||
         report_unopened(place) || report_foreign_word(place) || report_known_form(place) ||
         report_value_mistake(place) || report_bare_name(place) || report_clause_order(progress, problems);
}

}  // namespace cepd::dsl::syntax
