#include "dsl/parse.h"

#include "dsl/bounds.h"
#include "dsl/grammar.h"
#include "dsl/lex.h"
#include "dsl/syntax_error.h"
#include "dsl/utf8.h"

namespace cepd::dsl {
namespace {

using syntax::is_name;
using syntax::Keyword;
using syntax::Problems;
using syntax::Progress;
using syntax::Token;
using syntax::TokenKind;

const ast::Unread kNothingKnown = {{}, {}, {}, true, true, true};

bool begins_statement(const Token& token) {
  return token.kind == TokenKind::kWord && syntax::info(token.keyword).statement;
}

/// `rules/cart_add.rules` -> `cart_add`
std::string stem(std::string_view file) {
  file = file.substr(file.find_last_of('/') + 1);
  constexpr std::string_view kEnding = ".rules";
  if (file.ends_with(kEnding) && file.size() > kEnding.size()) file.remove_suffix(kEnding.size());
  return std::string(file);
}

class FileParser {
 public:
  FileParser(ast::File& file, Problems& problems) : file_(file), problems_(problems) {}

  void run() {
    const syntax::Tokens tokens = syntax::lex(file_.text, problems_).tokens;
    at_ = tokens.data();
    end_ = at_ + tokens.size() - 1;
    if (at_ == end_) return;
    if (begins_statement(*at_) || is_slip_of_statement(*at_)) {
      while (at_ != end_ && !problems_.full()) read_statement();
    } else {
      read_bare_pattern();
    }
  }

 private:
  /// `RUEL cart_rescue ...`: two words in a row are no pattern.
  bool is_slip_of_statement(const Token& first) const {
    const Token& second = *(&first + 1);
    return first.kind == TokenKind::kWord && is_name(second) && !syntax::info(second.keyword).name &&
           !nearest_statement(first).empty();
  }

  static std::string nearest_statement(const Token& token) {
    static const std::vector<std::string> kWords = {"EVENT", "CONST", "RULE", "STREAM", "TABLE", "TEST"};
    return token.kind == TokenKind::kWord ? nearest(token.text, kWords) : std::string{};
  }

  void read_statement() {
    const Token* const begin = at_;
    if (!begins_statement(*begin)) {
      if (begin->kind != TokenKind::kBad) {
        const std::string meant = nearest_statement(*begin);
        problems_.add(begin->where, "expected a statement: EVENT, CONST, RULE or TEST",
                      meant.empty() ? "" : "did you mean " + meant + "?");
      }
      skip_statement(begin);
      return;
    }
    Progress progress(begin, problems_);
    ast::Statement statement;
    const bool read = syntax::parse_statement(at_, end_, progress, statement);
    // A part that may be left out but was begun ends a statement early; then the place in it is further on.
    const bool complete =
        read && (at_ == end_ || begins_statement(*at_) || (begins_line(*at_, *begin) && !goes_on(*begin)));
    if (complete && syntax::within_bounds(statement, problems_)) {
      file_.statements.push_back(std::move(statement));
      return;
    }
    if (complete) return skip_statement(begin);
    if (read) progress.expected(at_, {"the next statement", Keyword::kNone, syntax::Expectation::Show::kClause});
    syntax::report_syntax_error(progress, file_.text, problems_);
    skip_statement(begin);
  }

  void read_bare_pattern() {
    const Token* const begin = at_;
    Progress progress(begin, problems_);
    ast::Rule rule;
    if (syntax::parse_bare_pattern(at_, end_, progress, rule) && at_ == end_) {
      rule.bare = true;
      rule.name = {stem(file_.name), {}};
      file_.statements.emplace_back(std::move(rule));
      return;
    }
    if (at_ != begin) progress.expected(at_, {"the end of the file"});
    syntax::report_syntax_error(progress, file_.text, problems_);
    file_.unread.rules.insert(stem(file_.name));
    at_ = next_statement(begin);
    while (at_ != end_ && !problems_.full()) read_statement();
  }

  /// Goes on after a statement that could not be read, and notes what it declares.
  void skip_statement(const Token* begin) {
    at_ = next_statement(begin);
    const auto note = [&](std::set<std::string, std::less<>>& names, bool& more) {
      if (is_name(begin[1])) {
        names.insert(begin[1].text);
      } else {
        more = true;
      }
    };
    ast::Unread& unread = file_.unread;
    const bool slip = is_name(begin[1]) && is_slip_of_statement(*begin);
    switch (slip ? syntax::find_keyword(nearest_statement(*begin)) : begin->keyword) {
      case Keyword::kEvent:
      case Keyword::kStream:
      case Keyword::kTable:
        note(unread.types, unread.more_types);
        break;
      case Keyword::kConst:
        note(unread.constants, unread.more_constants);
        break;
      case Keyword::kRule:
        note(unread.rules, unread.more_rules);
        break;
      case Keyword::kTest:
        break;
      default:
        unread.more_types = unread.more_constants = unread.more_rules = true;
    }
    for (const Token* t = begin; t != at_; ++t) {
      if (t->keyword == Keyword::kInto && is_name(t[1])) unread.types.insert(t[1].text);
    }
  }

  /// The next line that begins with a statement's keyword, or what was meant for one, and is not indented more than the
  /// statement that is left.
  const Token* next_statement(const Token* begin) const {
    for (const Token* t = begin + 1; t < end_; ++t) {
      if (begins_line(*t, *begin) && (is_slip_of_statement(*t) || (begins_statement(*t) && is_name(t[1])))) return t;
    }
    return end_;
  }

  /// Whether what stands at the next line's beginning may be meant for a part of the statement that begins at `begin`.
  bool goes_on(const Token& begin) const {
    return (begin.keyword == Keyword::kRule || begin.keyword == Keyword::kTest) && !is_slip_of_statement(*at_);
  }

  /// Not indented more than the statement that begins at `begin`.
  static bool begins_line(const Token& token, const Token& begin) {
    return token.starts_line && token.column <= begin.column;
  }

  ast::File& file_;
  Problems& problems_;
  const Token* at_ = nullptr;
  const Token* end_ = nullptr;
};

}  // namespace

Parsed parse(std::string name, std::string text) {
  Parsed out;
  out.file.name = std::move(name);
  out.file.text = std::move(text);
  Problems problems;
  if (out.file.text.size() > kMaxFileBytes) {
    problems.add({}, "this file is too large: a rule file has at most " + std::to_string(kMaxFileBytes) + " bytes");
    out.file.unread = kNothingKnown;
  } else if (const ast::Location bad = syntax::find_invalid_text(out.file.text); bad.end != 0) {
    const bool nul = out.file.text[bad.begin] == '\0';
    problems.add(bad, nul ? "a NUL character: this is no text file" : "this is not UTF-8 text",
                 nul ? "" : "save the file as UTF-8");
    out.file.unread = kNothingKnown;
  } else {
    FileParser(out.file, problems).run();
  }
  if (problems.full()) {
    // More mistakes than are told: what the checks found in the rest would stand beside "what follows is not shown".
    out.file.statements.clear();
    out.file.unread = kNothingKnown;
  }
  out.diagnostics = problems.diagnostics(out.file.name, out.file.text);
  return out;
}

ast::File unreadable(std::string name) {
  ast::File out;
  out.name = std::move(name);
  out.unread = kNothingKnown;
  return out;
}

}  // namespace cepd::dsl
