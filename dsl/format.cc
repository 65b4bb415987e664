#include "dsl/format.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "dsl/lex.h"
#include "dsl/parse.h"
#include "dsl/print_layout.h"

namespace cepd::dsl {
namespace {

using printing::Clause;
using printing::Layout;
using printing::Line;
using printing::PartComments;
using syntax::Comment;
using syntax::Keyword;
using syntax::Token;

ast::Location where_of(const ast::Statement& statement) {
  return std::visit([](const auto& s) { return s.where; }, statement);
}

/// The comments inside one statement, by the parts of its layout.
class StatementComments {
 public:
  StatementComments(const ast::File& file, const syntax::Tokens& tokens, const Layout& layout)
      : file_(file), tokens_(tokens) {
    for (std::size_t clause = 0; clause < layout.size(); ++clause) {
      comments_.emplace_back(layout[clause].parts.size());
      for (std::size_t part = 0; part < layout[clause].parts.size(); ++part) {
        places_.push_back({layout[clause].parts[part].where, clause, part});
      }
    }
    // As written, which is not always the order of the print: KEY may stand before FROM.
    std::sort(places_.begin(), places_.end(),
              [](const Place& a, const Place& b) { return a.where.begin < b.where.begin; });
  }

  void add(const Comment& comment) {
    std::string text = file_.text.substr(comment.where.begin, comment.where.end - comment.where.begin);
    const auto next = std::upper_bound(tokens_.begin(), tokens_.end(), comment.where.begin,
                                       [](std::uint32_t at, const Token& t) { return at < t.where.begin; });
    if (comment.starts_line) {
      at(place_of(*next)).before.push_back(std::move(text));
      return;
    }
    auto token = next - 1;
    // `a AND  # of a`: a link or operator at the end of a line says nothing of what follows it.
    while (token != tokens_.begin() && leads_on(*token)) --token;
    PartComments& place = at(place_of(*token));
    // One line ends in one comment; what stood within the part goes above it.
    if (!place.after.empty()) place.before.push_back(std::move(place.after));
    place.after = std::move(text);
  }

  const std::vector<PartComments>& of(std::size_t clause) const { return comments_[clause]; }

 private:
  struct Place {
    ast::Location where;
    std::size_t clause, part;
  };

  static bool leads_on(const Token& token) {
    return token.keyword == Keyword::kAnd || token.keyword == Keyword::kOr || token.keyword == Keyword::kThen ||
           token.keyword == Keyword::kNext || token.keyword == Keyword::kAny;
  }

  PartComments& at(const Place& place) { return comments_[place.clause][place.part]; }

  /// The part that `token` was printed in. What lies between the parts belongs to the one before it, but for the
  /// keyword of a clause.
  const Place& place_of(const Token& token) const {
    auto after = std::upper_bound(places_.begin(), places_.end(), token.where.begin,
                                  [](std::uint32_t at, const Place& p) { return at < p.where.begin; });
    const bool begins_clause = syntax::info(token.keyword).clause > 0 || token.keyword == Keyword::kGiven ||
                               token.keyword == Keyword::kExpect || token.keyword == Keyword::kInto || leads_on(token);
    if (after == places_.begin()) return *after;
    const Place& before = *(after - 1);
    if (token.where.begin < before.where.end || !begins_clause || after == places_.end()) return before;
    return *after;
  }

  const ast::File& file_;
  const syntax::Tokens& tokens_;
  std::vector<Place> places_;
  std::vector<std::vector<PartComments>> comments_;
};

class Formatter {
 public:
  Formatter(const ast::File& file, const syntax::Lexed& lexed) : file_(file), lexed_(lexed) {}

  std::string format() {
    auto comment = lexed_.comments.begin();
    auto end = before(0);  // of those before the next statement
    for (std::size_t i = 0; i < file_.statements.size(); ++i) {
      const ast::Location where = where_of(file_.statements[i]);
      for (; comment != end; ++comment) own_line(*comment);
      end = before(i + 1);
      separate(i);
      const Layout layout = printing::layout(file_.statements[i]);
      StatementComments inside(file_, lexed_.tokens, layout);
      for (; comment != end && (comment->where.begin < where.end || !comment->starts_line); ++comment) {
        inside.add(*comment);
      }
      for (std::size_t clause = 0; clause < layout.size(); ++clause) {
        printing::append_lines(layout[clause], inside.of(clause), lines_);
      }
      // Clauses that were turned into comments at its end.
      for (; comment != end && comment->column > 0 && !blank_above(comment->where.begin); ++comment) {
        lines_.push_back({"  " + text_of(*comment)});
      }
      after_statement_ = true;
    }
    for (; comment != lexed_.comments.end(); ++comment) own_line(*comment);
    return text();
  }

 private:
  /// The first comment that does not stand before statement `i`.
  std::vector<Comment>::const_iterator before(std::size_t i) const {
    if (i == file_.statements.size()) return lexed_.comments.end();
    const std::uint32_t begin = where_of(file_.statements[i]).begin;
    return std::partition_point(lexed_.comments.begin(), lexed_.comments.end(),
                                [&](const Comment& comment) { return comment.where.begin < begin; });
  }

  std::string text_of(const Comment& comment) const {
    return file_.text.substr(comment.where.begin, comment.where.end - comment.where.begin);
  }

  /// Whether nothing stands on the line above that of `at`.
  bool blank_above(std::size_t at) const {
    const std::size_t line = at == 0 ? std::string::npos : file_.text.rfind('\n', at - 1);
    if (line == std::string::npos || line == 0) return false;
    const std::size_t before = file_.text.find_last_not_of(" \t\r", line - 1);
    return before == std::string::npos || file_.text[before] == '\n';
  }

  /// Between statements. After a RULE or TEST something that is not part of it stands apart.
  void own_line(const Comment& comment) {
    const bool apart = after_statement_ && needs_blank_after_last_;
    if (!lines_.empty() && (blank_above(comment.where.begin) || apart)) lines_.push_back({});
    lines_.push_back({text_of(comment)});
    after_statement_ = false;
  }

  void separate(std::size_t i) {
    const ast::Statement& statement = file_.statements[i];
    const bool together =
        i > 0 && printing::one_line(statement) && statement.index() == file_.statements[i - 1].index();
    const bool apart = after_statement_ && !together;
    if (!lines_.empty() && (blank_above(where_of(statement).begin) || apart)) lines_.push_back({});
    needs_blank_after_last_ = !printing::one_line(statement);
    after_statement_ = false;
  }

  /// Comments at the ends of lines that follow each other stand below each other.
  std::string text() const {
    std::string out;
    for (auto line = lines_.begin(); line != lines_.end();) {
      auto run_end = line;
      std::size_t width = 0;
      for (; run_end != lines_.end() && !run_end->comment.empty(); ++run_end)
        width = std::max(width, columns(*run_end));
      if (run_end == line) {
        out += line->text + "\n";
        ++line;
        continue;
      }
      for (; line != run_end; ++line) {
        out += line->text + std::string(width - columns(*line) + 2, ' ') + line->comment + "\n";
      }
    }
    return out;
  }

  static std::size_t columns(const Line& line) {
    return static_cast<std::size_t>(
        std::count_if(line.text.begin(), line.text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  }

  const ast::File& file_;
  const syntax::Lexed& lexed_;
  std::vector<Line> lines_;
  bool after_statement_ = false;         // the last line is a statement's
  bool needs_blank_after_last_ = false;  // and that was a RULE or TEST
};

}  // namespace

Formatted format_rules(std::string name, std::string text) {
  Parsed parsed = parse(std::move(name), std::move(text));
  Formatted out;
  out.diagnostics = std::move(parsed.diagnostics);
  if (has_errors(out.diagnostics)) return out;
  syntax::Problems none;
  out.text = Formatter(parsed.file, syntax::lex(parsed.file.text, none)).format();
  return out;
}

}  // namespace cepd::dsl
