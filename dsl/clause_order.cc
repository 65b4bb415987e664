#include "dsl/clause_order.h"

#include <algorithm>

namespace cepd::dsl::syntax {
namespace {

constexpr const char* kOrder =
    "the order is FROM and KEY, MATCH, WITHIN, UNLESS, WHERE, HAVING, AFTER MATCH, EMIT, LIMIT, LABELS, DO, ON TIMEOUT";

std::string clause_name(Keyword keyword) {
  if (keyword == Keyword::kAfter) return "AFTER MATCH";
  if (keyword == Keyword::kOn) return "ON TIMEOUT";
  return std::string(info(keyword).text);
}

/// What to do with two clauses of one kind.
std::string merge_advice(Keyword keyword) {
  switch (keyword) {
    case Keyword::kWhere:
    case Keyword::kHaving:
      return "join the conditions with AND";
    case Keyword::kMatch:
      return "write a rule for each pattern, or join them with THEN, AND or OR";
    case Keyword::kKey:
    case Keyword::kFrom:
    case Keyword::kUnless:
    case Keyword::kEmit:
    case Keyword::kLabels:
    case Keyword::kDo:
      return "put all into one list, with commas";
    default:
      return "leave one out";
  }
}

bool in_bare_pattern(const Progress& progress) { return !info(progress.begin()->keyword).statement; }

bool report_in_bare_pattern(const Token& at, Problems& problems) {
  problems.add(at.where, "a file that begins with a pattern holds nothing but the pattern and its WITHIN",
               "for more write RULE name, MATCH and the pattern");
  return true;
}

/// At the end of a bare pattern, or where its WITHIN could stand.
bool ends_bare_pattern(const Progress& progress) {
  const auto& all = progress.expectations();
  return between_clauses(progress) ||
         std::any_of(all.begin(), all.end(), [](const Expectation& e) { return e.text == "the end of the file"; });
}

}  // namespace

bool between_clauses(const Progress& progress) {
  const auto& all = progress.expectations();
  return std::any_of(all.begin(), all.end(), [](const Expectation& e) { return e.show == Expectation::Show::kClause; });
}

bool report_clause_order(const Progress& progress, Problems& problems) {
  const Token& at = *progress.furthest();
  if (at.kind != TokenKind::kWord) return false;
  const KeywordInfo& late = info(at.keyword);
  if (in_bare_pattern(progress)) {
    return ends_bare_pattern(progress) && (late.statement || (late.clause > 0 && late.keyword != Keyword::kWithin)) &&
           report_in_bare_pattern(at, problems);
  }
  if (!between_clauses(progress)) return false;
  const std::string name = clause_name(late.keyword);
  const bool rule = progress.begin()->keyword == Keyword::kRule;
  if (rule && (late.keyword == Keyword::kDisabled || late.keyword == Keyword::kShadow)) {
    problems.add(at.where, name + " goes right after the name of the rule");
    return true;
  }
  if (rule && late.keyword == Keyword::kInto) {
    problems.add(at.where, "INTO goes after the items of EMIT", "write it like EMIT user_id, amount INTO big_order");
    return true;
  }
  if (!rule || late.clause == 0) return false;

  // Of ON TIMEOUT the clauses before it do not count.
  std::vector<Keyword> seen;
  for (const Token* clause : progress.clauses()) {
    if (clause >= &at) continue;
    if (clause->keyword == Keyword::kOn) seen.clear();
    seen.push_back(clause->keyword);
  }
  const bool in_timeout = !seen.empty() && seen.front() == Keyword::kOn;
  if (in_timeout && late.keyword != Keyword::kEmit && late.keyword != Keyword::kDo && late.keyword != Keyword::kOn) {
    problems.add(at.where, name + " goes before ON TIMEOUT", kOrder);
    return true;
  }
  if (std::find(seen.begin(), seen.end(), late.keyword) != seen.end()) {
    problems.add(at.where, "a second " + name + ": a rule has one", merge_advice(late.keyword));
    return true;
  }
  if (!in_timeout && std::find(seen.begin(), seen.end(), Keyword::kMatch) == seen.end() &&
      late.clause > info(Keyword::kMatch).clause) {
    problems.add(at.where, "a rule needs MATCH before " + name, kOrder);
    return true;
  }
  for (const Keyword before : seen) {
    if (before == Keyword::kOn || info(before).clause <= late.clause) continue;
    problems.add(at.where,
                 name + " goes " + (late.keyword == Keyword::kWithin ? "right after the pattern, " : "") + "before " +
                     clause_name(before),
                 kOrder);
    return true;
  }
  return false;
}

}  // namespace cepd::dsl::syntax
