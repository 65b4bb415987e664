#include "dsl/foreign_words.h"

#include <boost/algorithm/string/predicate.hpp>

#include "dsl/mistake_place.h"

namespace cepd::dsl::syntax {
namespace {

/// Where a word means something elsewhere.
enum class Where : std::uint8_t {
  kFirst,       ///< begins a file that is no bare pattern after all
  kType,        ///< was taken for an event type
  kLink,        ///< follows an element
  kHead,        ///< between the name of a rule and its MATCH
  kClause,      ///< where a clause could begin
  kField,       ///< was taken for a field
  kAfterValue,  ///< where an operator could stand
};

struct ForeignWord {
  Where where;
  std::string_view word, message, suggestion;
};

constexpr const char* kForm = "a rule is written RULE name, KEY field, MATCH pattern, WHERE condition, EMIT items";
constexpr const char* kOneSet = "all rule files of a directory are one set: no file names another";

constexpr ForeignWord kWords[] = {
    {Where::kFirst, "SELECT", "a rule file holds no SELECT", kForm},
    {Where::kFirst, "CREATE", "a rule file holds no CREATE", kForm},
    {Where::kFirst, "INSERT", "a rule file holds no INSERT", kForm},
    {Where::kFirst, "IMPORT", kOneSet, "leave it out"},
    {Where::kFirst, "INCLUDE", kOneSet, "leave it out"},

    {Where::kType, "EVERY", "every first event starts a match of its own; EVERY is not needed", "leave it out"},
    {Where::kType, "SEQ", "a sequence is written with THEN", "write it like a THEN b"},
    {Where::kType, "SEQUENCE", "a sequence is written with THEN", "write it like a THEN b"},
    {Where::kType, "PATTERN", "a sequence is written with THEN", "write it like a THEN b"},
    {Where::kType, "WITHOUT", "WITHOUT is no keyword", "write NOT"},
    {Where::kType, "NO", "NO is no keyword of a pattern", "write NOT"},

    {Where::kLink, "FOLLOWED", "FOLLOWED BY is no link", "write THEN"},
    {Where::kLink, "FOLLOWEDBY", "FOLLOWEDBY is no link", "write THEN"},
    {Where::kLink, "WITHOUT", "WITHOUT is no link", "write THEN NOT"},
    {Where::kLink, "IN", "a bound is written with WITHIN", "write it like WITHIN 5m"},
    {Where::kLink, "FOR", "a bound is written with WITHIN", "write it like WITHIN 5m"},

    {Where::kClause, "SELECT", "SELECT is no clause of a rule", "write EMIT, after the conditions"},
    {Where::kClause, "RETURN", "RETURN is no clause of a rule", "write EMIT, after the conditions"},
    {Where::kClause, "MEASURES", "MEASURES is no clause of a rule", "write EMIT, after the conditions"},
    {Where::kClause, "GROUP", "GROUP BY is no clause of a rule", "write KEY before MATCH to keep groups apart"},
    {Where::kClause, "PARTITION", "PARTITION BY is no clause of a rule", "write KEY before MATCH to keep groups apart"},
    {Where::kClause, "ORDER", "ORDER BY is no clause of a rule", "matches come in the order in which they complete"},
    {Where::kClause, "DEFINE", "DEFINE is no clause of a rule",
     "write conditions in [ ] after the event type, or in WHERE"},
    {Where::kClause, "FILTER", "FILTER is no clause of a rule", "write WHERE"},
    {Where::kHead, "IF", "the pattern of a rule begins with MATCH", "write MATCH instead of IF"},
    {Where::kHead, "WHEN", "the pattern of a rule begins with MATCH", "write MATCH instead of WHEN"},
    {Where::kHead, "PATTERN", "the pattern of a rule begins with MATCH", "write MATCH instead of PATTERN"},
    {Where::kClause, "ACTION", "ACTION is no clause of a rule", "write DO"},
    {Where::kClause, "END", "a rule ends where the next statement begins", "leave END out"},
    {Where::kClause, "ROW", "AFTER MATCH speaks of events, not of rows", "leave ROW out"},
    {Where::kClause, "IMPORT", kOneSet, "leave it out"},
    {Where::kClause, "INCLUDE", kOneSet, "leave it out"},

    {Where::kField, "CASE", "CASE is no part of conditions", "write if(condition, a, b)"},
    {Where::kField, "EXISTS", "EXISTS is no operator", "write IS NOT NULL after the field"},

    {Where::kAfterValue, "LIKE", "LIKE is no operator",
     "write MATCHES with a regular expression, starts_with or contains"},
    {Where::kAfterValue, "ILIKE", "ILIKE is no operator",
     "write MATCHES with a regular expression that begins with (?i)"},
    {Where::kAfterValue, "REGEXP", "REGEXP is no operator", "write MATCHES"},
    {Where::kAfterValue, "RLIKE", "RLIKE is no operator", "write MATCHES"},
    {Where::kAfterValue, "CONTAINS", "CONTAINS is no operator", "write contains(a, b)"},
    {Where::kAfterValue, "STARTS", "STARTS WITH is no operator", "write starts_with(a, b)"},
    {Where::kAfterValue, "EQUALS", "EQUALS is no operator", "write ="},
    {Where::kAfterValue, "MOD", "MOD is no operator", "write %"},
    {Where::kAfterValue, "DIV", "DIV is no operator", "write floor(a / b)"},
};

/// The token that a row for `where` speaks of; null when the furthest place is no such place.
const Token* token_of(Where where, const Place& place) {
  const Token* const begin = place.progress.begin();
  const Token* const taken = place.at == begin ? nullptr : place.at - 1;
  const bool in_statement = info(begin->keyword).statement;
  switch (where) {
    case Where::kFirst:
      return in_statement || taken == nullptr ? nullptr : begin;
    case Where::kType: {
      const bool type = place.after_element() && !is_one_of(place.before(2).keyword, {Keyword::kAs, Keyword::kBy});
      return type && (is_name(*place.at) || place.at->symbol == Symbol::kOpenParen) ? taken : nullptr;
    }
    case Where::kLink:
      return place.after_element() ? place.at : nullptr;
    case Where::kHead:
      return place.expects("MATCH") ? place.at : nullptr;
    case Where::kClause:
      return in_statement && place.between_clauses() ? place.at : nullptr;
    case Where::kField:
      return place.after_value() ? taken : nullptr;
    case Where::kAfterValue:
      return place.after_value() ? place.at : nullptr;
  }
  return nullptr;
}

}  // namespace

bool report_foreign_word(const Place& place) {
  for (const ForeignWord& row : kWords) {
    const Token* const token = token_of(row.where, place);
    if (token == nullptr || token->kind != TokenKind::kWord || !boost::algorithm::iequals(token->text, row.word)) {
      continue;
    }
    return place.report(token->where, std::string(row.message), std::string(row.suggestion));
  }
  return false;
}

}  // namespace cepd::dsl::syntax
