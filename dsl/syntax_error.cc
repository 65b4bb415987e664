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

/// "THEN, NEXT or another clause"
std::string expected_text(const std::vector<Expectation>& all) {
  std::vector<std::string> always, clauses, hidden;
  for (const Expectation& e : all) {
    std::vector<std::string>& list = e.show == Show::kAlways ? always : e.show == Show::kClause ? clauses : hidden;
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
  return joined(always);
}

std::vector<std::string> expected_keywords(const std::vector<Expectation>& all, bool statements) {
  std::vector<std::string> out;
  for (const Expectation& e : all) {
    if (e.keyword == Keyword::kNone) continue;
    if (std::find(out.begin(), out.end(), e.text) == out.end()) out.emplace_back(e.text);
  }
  for (const KeywordInfo& row : kKeywords) {
    if (statements && row.statement) out.emplace_back(row.text);
  }
  return out;
}

}  // namespace

void report_syntax_error(const Progress& progress, std::string_view text, Problems& problems) {
  const Token& at = *progress.furthest();
  if (at.kind == TokenKind::kBad || progress.refused()) return;
  if (report_known_mistake(progress, text, problems)) return;

  std::string message = "expected " + expected_text(progress.expectations());
  const Token* const before = &at == progress.begin() ? nullptr : &at - 1;
  constexpr std::size_t kLongest = 30;
  if (before != nullptr && before->where.end - before->where.begin <= kLongest) {
    message += " after ";
    message += text.substr(before->where.begin, before->where.end - before->where.begin);
  }
  std::string suggestion;
  if (at.kind == TokenKind::kWord) {
    suggestion = did_you_mean(at.text, expected_keywords(progress.expectations(), at.starts_line));
    if (suggestion.empty() && info(at.keyword).name) {
      const bool name_expected =
          std::any_of(progress.expectations().begin(), progress.expectations().end(), [](const Expectation& e) {
            return e.keyword == Keyword::kNone && e.show == Show::kAlways &&
                   (e.text == "an event type" || e.text.find("name") != std::string_view::npos);
          });
      if (name_expected) suggestion = at.text + " is a keyword; as a name it stands in back quotes: `" + at.text + "`";
    }
  }
  // `THEN WITHNI 5m B`: the slip was taken for a name.
  if (suggestion.empty() && before != nullptr && before->kind == TokenKind::kWord &&
      before->keyword == Keyword::kNone && before->text.size() > 2) {
    std::vector<std::string> words;
    for (const KeywordInfo& row : kKeywords) {
      if (row.name || row.condition) words.emplace_back(row.text);
    }
    if (const std::string meant = nearest(before->text, words); !meant.empty()) {
      suggestion = "did you mean " + meant + " instead of " + before->text + "?";
    }
  }
  problems.add(at.where, std::move(message), std::move(suggestion));
}

}  // namespace cepd::dsl::syntax
