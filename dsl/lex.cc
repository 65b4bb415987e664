#include "dsl/lex.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "dsl/bounds.h"
#include "dsl/lex_foreign.h"
#include "dsl/lex_number.h"
#include "dsl/lex_string.h"
#include "dsl/parse.h"

namespace cepd::dsl::syntax {
namespace {

/// A byte of UTF-8 that begins no character.
bool is_continuation(char c) { return (c & 0xC0) == 0x80; }
bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

struct Spelling {
  std::string_view text;
  Symbol symbol;
};
// Longer ones first.
constexpr std::array<Spelling, 22> kSymbols{
    {{"!=", Symbol::kNe},        {"<=", Symbol::kLe},         {">=", Symbol::kGe},          {"(", Symbol::kOpenParen},
     {")", Symbol::kCloseParen}, {"[", Symbol::kOpenBracket}, {"]", Symbol::kCloseBracket}, {"{", Symbol::kOpenBrace},
     {"}", Symbol::kCloseBrace}, {",", Symbol::kComma},       {":", Symbol::kColon},        {".", Symbol::kDot},
     {"?", Symbol::kQuestion},   {"+", Symbol::kPlus},        {"*", Symbol::kStar},         {"-", Symbol::kMinus},
     {"/", Symbol::kSlash},      {"%", Symbol::kPercent},     {"|", Symbol::kPipe},         {"=", Symbol::kEq},
     {"<", Symbol::kLt},         {">", Symbol::kGt}}};

constexpr std::string_view kTypographicQuotes[] = {"\u201C", "\u201D", "\u201E", "\u2018",
                                                   "\u2019", "\u00AB", "\u00BB"};

class Lexer {
 public:
  Lexer(std::string_view text, Problems& problems) : text_(text), problems_(problems) {}

  Lexed run() {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
    line_begin_ = at_;
    while (!problems_.full()) {
      const std::size_t before = at_;
      skip_blanks();
      if (at_ >= text_.size()) break;
      Token token;
      token.starts_line = starts_line_;
      token.glued = at_ == before;
      token.column = static_cast<std::uint32_t>(at_ - line_begin_);
      token.where.begin = static_cast<std::uint32_t>(at_);
      starts_line_ = false;
      if (!read(token)) continue;
      token.where.end = static_cast<std::uint32_t>(at_);
      if (!joins_duration(token)) {
        bound_nesting(token);
        tokens_.push_back(std::move(token));
      }
    }
    Token end;
    end.where = {static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(text_.size())};
    end.starts_line = starts_line_;
    tokens_.push_back(std::move(end));
    return {std::move(tokens_), std::move(comments_)};
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  ast::Location since(std::size_t begin) const {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)};
  }

  void skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        starts_line_ = true;
        line_begin_ = at_ + 1;
      } else if (c == '#') {
        read_comment();
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  /// Leaves the last character to skip_blanks().
  void read_comment() {
    Comment comment;
    comment.starts_line = starts_line_;
    comment.column = static_cast<std::uint32_t>(at_ - line_begin_);
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::size_t last = text_.substr(0, end).find_last_not_of(" \t\r");
    comment.where = {static_cast<std::uint32_t>(at_), static_cast<std::uint32_t>(last + 1)};
    comments_.push_back(comment);
    at_ = end - 1;
  }

  /// False when there is no token after all.
  bool read(Token& token) {
    const char c = peek();
    if (is_name_start(c)) return read_word(token);
    if (is_digit(c)) return at_ = lex_number(text_, at_, token, problems_), true;
    if (c == '"' || c == '\'') return read_string(token);
    if (c == '`') return read_quoted(token);
    if (c == '$') return read_constant(token);
    if (c == '@') return read_time(token);
    return read_symbol(token);
  }

  bool read_word(Token& token) {
    const std::size_t begin = at_;
    while (is_name_part(peek())) ++at_;
    if (at_foreign_letter()) return read_foreign_word(token, begin);
    token.kind = TokenKind::kWord;
    token.text = text_.substr(begin, at_ - begin);
    token.keyword = find_keyword(token.text);
    bound_name(token, begin);
    return true;
  }

  /// So that messages, and what is kept by name, stay small.
  bool bound_name(Token& token, std::size_t begin) {
    if (token.text.size() <= kMaxNameBytes) return true;
    token.kind = TokenKind::kBad;
    problems_.add(since(begin), "a name has at most " + std::to_string(kMaxNameBytes) + " bytes");
    return false;
  }

  /// Anything beyond ASCII that is no foreign sign and no quote.
  bool at_foreign_letter() const {
    if (at_ >= text_.size() || is_ascii(peek())) return false;
    const std::string_view rest = text_.substr(at_);
    return find_foreign_sign(rest) == nullptr &&
           std::none_of(std::begin(kTypographicQuotes), std::end(kTypographicQuotes),
                        [&](std::string_view quote) { return rest.starts_with(quote); });
  }

  bool read_foreign_word(Token& token, std::size_t begin) {
    do {
      ++at_;
      while (at_ < text_.size() && is_continuation(peek())) ++at_;
    } while (is_name_part(peek()) || at_foreign_letter());
    token.kind = TokenKind::kQuoted;
    token.text = text_.substr(begin, at_ - begin);
    if (!bound_name(token, begin)) return true;
    problems_.add(since(begin), "a name with other characters than A-Z a-z 0-9 _ stands in back quotes",
                  "write `" + token.text + "`");
    return true;
  }

  bool read_string(Token& token) {
    token.kind = TokenKind::kBad;
    const std::size_t line_end = std::min(text_.find('\n', at_), text_.size());
    // The end of a string that was begun on the line before: reported there.
    if (open_string_ != 0 && open_string_ + 1 == line_begin_ && text_.find(peek(), at_ + 1) >= line_end) {
      ++at_;
    } else if (lex_string(text_, at_, token.text, problems_)) {
      token.kind = TokenKind::kString;
    } else {
      open_string_ = line_end;
    }
    return true;
  }

  bool read_quoted(Token& token) {
    const std::size_t begin = at_;
    const std::size_t end = text_.find_first_of("`\r\n", begin + 1);
    if (end == std::string_view::npos || text_[end] != '`') {
      at_ = std::min(end, text_.size());
      problems_.add(since(begin), "this name in back quotes does not end on its line", "put a ` after it");
      token.kind = TokenKind::kBad;
      return true;
    }
    at_ = end + 1;
    token.kind = TokenKind::kQuoted;
    token.text = text_.substr(begin + 1, end - begin - 1);
    bound_name(token, begin);
    if (token.text.empty()) {
      token.kind = TokenKind::kBad;
      problems_.add(since(begin), "a name in back quotes cannot be empty");
    }
    return true;
  }

  bool read_constant(Token& token) {
    const std::size_t begin = at_++;
    const bool braces = peek() == '{';
    if (braces) ++at_;
    const std::size_t name = at_;
    while (is_name_part(peek())) ++at_;
    token.text = text_.substr(name, at_ - name);
    token.kind = TokenKind::kConstant;
    bound_name(token, begin);
    if (braces && peek() == '}') {
      ++at_;
      problems_.add(since(begin), "a constant has no braces", "write $" + token.text);
    }
    if (token.text.empty() || !is_name_start(token.text.front())) {
      token.kind = TokenKind::kBad;
      problems_.add(since(begin), "expected the name of a constant after $",
                    "constants are declared like CONST max_gap = 5m and written $max_gap");
    }
    return true;
  }

  bool read_time(Token& token) {
    const std::size_t begin = at_++;
    if (is_digit(peek()) && peek(4) == '-') {
      at_ = std::min(text_.find_first_not_of("0123456789-:.TZ", at_), text_.size());
      const std::string date(text_.substr(begin + 1, at_ - begin - 1));
      const auto time = parse_rfc3339(date.size() == 10 ? date + "T00:00:00Z" : date);
      problems_.add(since(begin), "a date stands in quotes after @",
                    "write @\"" + (time ? format_rfc3339(*time) : "2026-01-05T22:00:00Z") + "\"");
      token.kind = TokenKind::kTimestamp;
      token.value = time.value_or(EventTime{});
      return true;
    }
    if (is_digit(peek())) {
      at_ = lex_number(text_, at_, token, problems_);
      if (token.kind != TokenKind::kDuration) {
        const std::string number(text_.substr(begin, at_ - begin));
        problems_.add(since(begin), "a time after @ needs a unit",
                      "write it like " + (number.size() < 12 ? number : "@2") + "s or @\"2026-01-05T22:00:00Z\"");
        token.value = Micros(0);
      }
      token.kind = TokenKind::kOffset;
      return true;
    }
    token.kind = TokenKind::kBad;
    if (peek() == '"' || peek() == '\'') {
      std::string written;
      if (!lex_string(text_, at_, written, problems_)) return true;
      token.kind = TokenKind::kTimestamp;
      token.value = EventTime{};
      if (const auto time = parse_rfc3339(written)) {
        token.value = *time;
      } else {
        problems_.add(since(begin), "this is no time of RFC 3339", "write it like @\"2026-01-05T22:00:00Z\"");
      }
      return true;
    }
    problems_.add(since(begin), "expected a time after @", "write it like @\"2026-01-05T22:00:00Z\", or @2m in a test");
    return true;
  }

  bool read_symbol(Token& token) {
    const std::string_view rest = text_.substr(at_);
    const std::size_t begin = at_;
    token.kind = TokenKind::kSymbol;
    for (const std::string_view comment : {"//", "/*"}) {
      if (!rest.starts_with(comment)) continue;
      // `/*` may go over several lines; one that does not end takes only its own.
      const std::size_t end = comment == "/*" ? text_.find("*/", at_) : std::string_view::npos;
      at_ = end == std::string_view::npos ? std::min(text_.find('\n', at_), text_.size()) : end + 2;
      problems_.add({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin + 2)},
                    "a comment begins with #", "write # instead of " + std::string(comment));
      if (const std::size_t line = text_.substr(begin, at_ - begin).rfind('\n'); line != std::string_view::npos) {
        line_begin_ = begin + line + 1;
        starts_line_ = true;
      }
      return false;
    }
    if (const ForeignSign* const foreign = find_foreign_sign(rest)) {
      at_ += foreign->text.size();
      problems_.add(since(begin), std::string(foreign->message), std::string(foreign->suggestion));
      token.kind = foreign->kind;
      token.symbol = foreign->symbol;
      token.keyword = foreign->keyword;
      if (foreign->kind == TokenKind::kWord) token.text = info(foreign->keyword).text;
      return foreign->kind != TokenKind::kEnd;
    }
    if (rest.size() > 1 && rest[0] == '.' && is_digit(rest[1]) && !after_operand()) {
      ++at_;
      at_ = lex_number(text_, at_, token, problems_);
      problems_.add(since(begin), "a number begins with a digit",
                    "write 0" + std::string(text_.substr(begin, std::min<std::size_t>(at_ - begin, 30))));
      if (token.kind == TokenKind::kInt) token.kind = TokenKind::kDouble, token.value = 0.5;
      return true;
    }
    for (const Spelling& symbol : kSymbols) {
      if (!rest.starts_with(symbol.text)) continue;
      at_ += symbol.text.size();
      token.symbol = symbol.symbol;
      return true;
    }
    return read_unknown(token);
  }

  /// Whether the token before ends just here and could be a path.
  bool after_operand() const {
    if (tokens_.empty() || tokens_.back().where.end != at_) return false;
    const Token& before = tokens_.back();
    return before.kind == TokenKind::kWord || before.kind == TokenKind::kQuoted ||
           before.symbol == Symbol::kCloseBracket;
  }

  bool read_unknown(Token& token) {
    const std::size_t begin = at_;
    const std::string_view rest = text_.substr(at_);
    token.kind = TokenKind::kBad;
    if (is_ascii(peek())) {
      ++at_;
      const auto code = static_cast<unsigned char>(text_[begin]);
      problems_.add(since(begin), code < 0x20 || code == 0x7F ? "unexpected control character"
                                                              : std::string("unexpected character ") + text_[begin]);
      return true;
    }
    for (const std::string_view quote : kTypographicQuotes) {
      if (!rest.starts_with(quote)) continue;
      at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
      problems_.add({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin + quote.size())},
                    "strings stand in straight quotes", "write \" or '");
      return true;
    }
    return read_foreign_word(token, begin);
  }

  /// `1h 30m` is nothing else anywhere: it is one duration with a mistake.
  bool joins_duration(const Token& token) {
    if (token.kind != TokenKind::kDuration || token.starts_line || tokens_.empty()) return false;
    Token& before = tokens_.back();
    if (before.kind != TokenKind::kDuration && before.kind != TokenKind::kOffset) return false;
    std::int64_t sum = 0;
    if (__builtin_add_overflow(std::get<Micros>(before.value).count(), std::get<Micros>(token.value).count(), &sum)) {
      return false;
    }
    before.value = Micros(sum);
    before.where.end = token.where.end;
    problems_.add(before.where, "a duration has no spaces in it",
                  (before.kind == TokenKind::kOffset ? "write @" : "write ") + format_duration(Micros(sum)));
    return true;
  }

  /// Whether a minus sign here subtracts.
  bool follows_operand() const {
    if (tokens_.empty()) return false;
    const Token& before = tokens_.back();
    switch (before.kind) {
      case TokenKind::kWord:
        return !info(before.keyword).condition;
      case TokenKind::kSymbol:
        return before.symbol == Symbol::kCloseParen || before.symbol == Symbol::kCloseBracket;
      default:
        return true;
    }
  }

  /// Counts brackets and prefix operators that enclose `token`.
  void bound_nesting(Token& token) {
    if (token.starts_line && token.column == 0 && info(token.keyword).statement) {
      open_.clear();
      depth_ = run_ = 0;
    }
    const Symbol s = token.symbol;
    if (token.keyword == Keyword::kNot || (s == Symbol::kMinus && !follows_operand())) {
      ++depth_, ++run_;
    } else if (s == Symbol::kOpenParen || s == Symbol::kOpenBracket || s == Symbol::kOpenBrace) {
      open_.push_back(run_ + 1);
      ++depth_;
      run_ = 0;
    } else {
      depth_ -= std::exchange(run_, 0);
      if ((s == Symbol::kCloseParen || s == Symbol::kCloseBracket || s == Symbol::kCloseBrace) && !open_.empty()) {
        depth_ -= open_.back();
        open_.pop_back();
      }
    }
    if (depth_ <= kMaxNesting) return;
    token.kind = TokenKind::kBad;
    token.keyword = Keyword::kNone;
    token.symbol = Symbol::kNone;
    if (std::exchange(too_deep_, true)) return;
    problems_.add(token.where, "nested more than " + std::to_string(kMaxNesting) + " deep");
  }

  std::string_view text_;
  Problems& problems_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  bool starts_line_ = true;
  std::size_t open_string_ = 0;  // the end of the line on which a string did not end; 0: none
  Tokens tokens_;
  std::vector<Comment> comments_;

  std::vector<unsigned> open_;  // per open bracket: itself and the prefix operators just before it
  unsigned run_ = 0;            // prefix operators just before the next token
  unsigned depth_ = 0;          // sum of open_, and run_
  bool too_deep_ = false;
};

}  // namespace

Lexed lex(std::string_view text, Problems& problems) { return Lexer(text, problems).run(); }

}  // namespace cepd::dsl::syntax
