#include "dsl/syntax_error.h"

#include <algorithm>

#include "base/diagnostic.h"
#include "dsl/known_mistakes.h"

namespace cepd::dsl::syntax {
namespace {

using Show = Expectation::Show;

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

/// "THEN, NEXT or another clause"; `in_list`: what was found instead would do after a comma.
std::string expected_text(const std::vector<Expectation>& all, bool in_list) {
  std::vector<std::string> always, clauses, hidden;
  for (const Expectation& e : all) {
    const Show show = in_list && e.text == "a comma" ? Show::kAlways : e.show;
    std::vector<std::string>& list = show == Show::kAlways ? always : show == Show::kClause ? clauses : hidden;
    if (std::find(list.begin(), list.end(), e.text) == list.end()) list.emplace_back(e.text);
  }
  constexpr std::size_t kMost = 3;  // longer lists say less
  if (clauses.size() > kMost) {
    always.insert(always.end(), clauses.begin(), clauses.begin() + 1);
    always.emplace_back("another clause");
  } else {
    always.insert(always.end(), clauses.begin(), clauses.end());
  }
  if (always.empty()) always = hidden;
  // What ends everything is said last.
  std::stable_partition(always.begin(), always.end(),
                        [](const std::string& word) { return !word.starts_with("the end") && word != ")"; });
  return joined(always);
}

/// Without the one that was found.
std::vector<std::string> expected_keywords(const std::vector<Expectation>& all, const Token& found) {
  std::vector<std::string> out;
  for (const Expectation& e : all) {
    if (e.keyword == Keyword::kNone || e.keyword == found.keyword) continue;
    if (std::find(out.begin(), out.end(), e.text) == out.end()) out.emplace_back(e.text);
  }
  for (const KeywordInfo& row : kKeywords) {
    if (found.starts_line && row.statement && row.keyword != found.keyword) out.emplace_back(row.text);
  }
  return out;
}

/// The next clause or statement begins here: what is missing is missing at the end of the one before.
bool ends_clause(const Token& at) {
  const bool begins = info(at.keyword).statement || info(at.keyword).clause > 0;
  return at.kind == TokenKind::kEnd || (at.starts_line && begins);
}

bool expects_name(const std::vector<Expectation>& all) {
  return std::any_of(all.begin(), all.end(), [](const Expectation& e) {
    return e.show == Show::kAlways && (e.text == "an event type" || e.text.find("name") != std::string_view::npos);
  });
}

/// A keyword that was meant, or a name that is one.
std::string suggested_keyword(const Progress& progress) {
  const Token& at = *progress.furthest();
  if (at.kind == TokenKind::kWord) {
    std::string meant = did_you_mean(at.text, expected_keywords(progress.expectations(), at));
    if (!meant.empty()) return meant;
    const bool operator_like = at.keyword == Keyword::kThen || at.keyword == Keyword::kNext ||
                               at.keyword == Keyword::kAnd || at.keyword == Keyword::kOr ||
                               at.keyword == Keyword::kNot || at.keyword == Keyword::kWithin;
    if (info(at.keyword).name && !operator_like && !ends_clause(at) && expects_name(progress.expectations())) {
      return at.text + " is a keyword; as a name it stands in back quotes: `" + at.text + "`";
    }
  }
  // `KEY MATCH a`: a keyword where the grammar wants a field is one.
  if (&at == progress.begin() || at.kind == TokenKind::kSymbol || at.kind == TokenKind::kEnd) return {};
  const Token& before = *(&at - 1);
  if (&before == progress.begin() || info(before.keyword).clause == 0 || (&before)[-1].keyword == Keyword::kNone)
    return {};
  return before.text + " was taken for the name of a field here";
}

/// `THEN WITHNI 5m B`: a slip that was taken for a name.
bool report_slip_before(const Progress& progress, Problems& problems) {
  if (progress.furthest() == progress.begin()) return false;
  const Token& before = *(progress.furthest() - 1);
  if (&before == progress.begin() || before.kind != TokenKind::kWord || before.keyword != Keyword::kNone ||
      before.text.size() < 3) {
    return false;
  }
  std::vector<std::string> words;
  for (const KeywordInfo& row : kKeywords) {
    if (row.name || row.condition) words.emplace_back(row.text);
  }
  const std::string meant = nearest(before.text, words);
  if (meant.empty()) return false;
  problems.add(before.where, before.text + " was taken for a name", "did you mean " + meant + "?");
  return true;
}

/// The form of the clause or statement in which the furthest place stands.
std::string form(const Progress& progress) {
  for (const Token* t = progress.furthest(); t-- != progress.begin();) {
    const KeywordInfo& row = info(t->keyword);
    if (t->kind == TokenKind::kWord && (row.clause > 0 || !row.form.empty())) {
      return row.form.empty() ? "" : "write it like " + std::string(row.form);
    }
  }
  return {};
}

/// What may have been forgotten before a name that nothing else explains.
std::string forgotten(const Progress& progress) {
  const Token& at = *progress.furthest();
  if (&at == progress.begin() || !is_name(at) || info(at.keyword).name || at.starts_line) return {};
  const auto& all = progress.expectations();
  const auto expects = [&](std::string_view text) {
    return std::any_of(all.begin(), all.end(), [&](const Expectation& e) { return e.text == text; });
  };
  const std::string name = at.kind == TokenKind::kQuoted ? "`" + at.text + "`" : at.text;
  if (&at == progress.begin() + 2 && progress.begin()->keyword == Keyword::kRule)
    return "a description stands in quotes";
  if (!expects("AS")) return {};
  if (expects("THEN")) return "write AS " + name + " for a name, or THEN " + name + " for a next element";
  return "write AS " + name + " for a name, or a comma before another item";
}

}  // namespace

void report_syntax_error(const Progress& progress, std::string_view text, Problems& problems) {
  const Token& at = *progress.furthest();
  if (at.kind == TokenKind::kBad || progress.refused()) return;  // reported already
  if (report_known_mistake(progress, text, problems)) return;

  const bool plain_word = at.kind == TokenKind::kWord && at.keyword == Keyword::kNone;
  const bool in_list = plain_word || at.kind == TokenKind::kQuoted || at.kind == TokenKind::kString;
  const Token* const before = &at == progress.begin() ? nullptr : &at - 1;
  std::string suggestion = suggested_keyword(progress);
  if (suggestion.empty() && report_slip_before(progress, problems)) return;
  std::string message = "expected " + expected_text(progress.expectations(), in_list && suggestion.empty());
  if (before == nullptr && !info(at.keyword).statement)
    message = "expected a pattern, or a statement: EVENT, CONST, RULE or TEST";
  if (suggestion.empty()) suggestion = forgotten(progress);
  if (suggestion.empty()) suggestion = form(progress);
  constexpr std::size_t kLongest = 30;
  if (before != nullptr && before->where.end - before->where.begin <= kLongest) {
    message += " after ";
    message += text.substr(before->where.begin, before->where.end - before->where.begin);
  }
  const bool at_end = before != nullptr && ends_clause(at);
  problems.add(at_end ? ast::Location{before->where.end, before->where.end} : at.where, std::move(message),
               std::move(suggestion));
}

}  // namespace cepd::dsl::syntax
