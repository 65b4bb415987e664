#include "dsl/known_values.h"

#include "dsl/lex_number.h"
#include "dsl/mistake_place.h"
#include "dsl/plan.h"

namespace cepd::dsl::syntax {
namespace {

bool report_duration(const Place& place) {
  const Token& at = *place.at;
  if (place.expects("a time such as @2m") && at.kind == TokenKind::kDuration) {
    return place.report("a time in a test begins with @", "write @" + place.written(at));
  }
  if (!place.expects("a duration such as 5m")) return false;
  if (at.kind == TokenKind::kInt || at.kind == TokenKind::kDouble) {
    const std::string number = place.written(at);
    const Token& next = (&at)[1];
    const auto meant = next.kind == TokenKind::kWord ? duration_meant(number + next.text) : std::nullopt;
    if (meant && *meant > Micros(0)) {
      return place.report({at.where.begin, next.where.end}, "a duration has no spaces in it",
                          "write " + format_duration(*meant));
    }
    const bool whole = at.kind == TokenKind::kInt && number.front() != '0';
    return place.report(
        "a duration needs a unit",
        whole ? "write it like " + number + "s, " + number + "m or " + number + "h" : "write it like 90s, 5m or 1h30m");
  }
  if (at.kind == TokenKind::kString && parse_duration(at.text)) {
    return place.report("a duration has no quotes", "write " + at.text);
  }
  if (at.symbol == Symbol::kMinus) return place.report("a duration cannot be negative");
  if (is_name(at) && at.keyword == Keyword::kNone) {
    return place.report("expected a duration such as 5m after " + place.written(place.before()),
                        "if " + at.text + " is a CONST, write $" + at.text);
  }
  return false;
}

/// `1,000`, and conditions with commas.
bool report_comma(const Place& place) {
  const Token& at = *place.at;
  if (at.symbol != Symbol::kComma || !place.after_value()) return false;
  const Token* last = place.at;
  while (last->symbol == Symbol::kComma && last->glued && last[1].glued && last[1].kind == TokenKind::kInt &&
         last[1].where.end - last[1].where.begin == 3) {
    last += 2;
  }
  const Token& first = place.before();
  if (last != place.at && first.kind == TokenKind::kInt) {
    const ast::Location where{first.where.begin, last[-1].where.end};
    std::string number = place.written(where);
    number.erase(std::remove(number.begin(), number.end(), ','), number.end());
    return place.report(where, "a number has no commas in it", "write " + number);
  }
  return place.report("conditions are joined by AND or OR, not by a comma", "write AND");
}

bool report_condition(const Place& place) {
  const Token& at = *place.at;
  if (place.after_value() && is_comparison(at)) {
    return place.report("comparisons do not chain", "write them apart: a < b AND b < c");
  }
  if (place.expects("a value") && at.keyword == Keyword::kNot) {
    return place.report("NOT binds less tightly than what stands before it", "put it in parentheses: (NOT a)");
  }
  return false;
}

/// `length cart.item`
bool report_function(const Place& place) {
  const Token& name = place.before();
  if (!place.after_value() || name.kind != TokenKind::kWord || place.before(2).symbol == Symbol::kDot) return false;
  if (!is_name(*place.at) || info(place.at->keyword).condition || place.at->starts_line) return false;
  const auto& known = plan::functions();
  if (std::none_of(known.begin(), known.end(), [&](const auto& f) { return f.name == name.text; })) return false;
  return place.report("what a function is of stands in parentheses", "write " + name.text + "( ... )");
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

bool report_value_mistake(const Place& place) {
  return report_duration(place) || report_condition(place) || report_comma(place) || report_function(place) ||
         report_quotes(place);
}

}  // namespace cepd::dsl::syntax
