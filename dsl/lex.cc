#include "dsl/lex.h"

#include <array>
#include <utility>

#include "dsl/lex_number.h"
#include "dsl/lex_string.h"
#include "dsl/parse.h"

namespace cepd::dsl::syntax {
namespace {

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

/// What other languages write, and what it is here. An entry without symbol and keyword is dropped.
struct Foreign {
  std::string_view text;
  Symbol symbol;
  Keyword keyword;
  std::string_view message, suggestion;
};
constexpr std::array<Foreign, 9> kForeign{
    {{"==", Symbol::kEq, Keyword::kNone, "equality is written with one =", "write ="},
     {"<>", Symbol::kNe, Keyword::kNone, "<> is no operator", "write !="},
     {"=>", Symbol::kGe, Keyword::kNone, "=> is no operator", "write >="},
     {"=<", Symbol::kLe, Keyword::kNone, "=< is no operator", "write <="},
     {"&&", Symbol::kNone, Keyword::kAnd, "&& is no operator", "write AND"},
     {"||", Symbol::kNone, Keyword::kOr, "|| is no operator", "write OR (one | joins the types of an element)"},
     {"->", Symbol::kNone, Keyword::kThen, "-> is no operator", "write THEN or NEXT"},
     {"!", Symbol::kNone, Keyword::kNot, "! is no operator", "write NOT"},
     {";", Symbol::kNone, Keyword::kNone, "statements do not end with ;", "leave it out"}}};

class Lexer {
 public:
  Lexer(std::string_view text, Problems& problems) : text_(text), problems_(problems) {}

  Tokens run() {
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
    return std::move(tokens_);
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
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  /// False when there is no token after all.
  bool read(Token& token) {
    const char c = peek();
    if (is_name_start(c)) return read_word(token);
    if (is_digit(c)) return at_ = lex_number(text_, at_, token, problems_), true;
    if (c == '"' || c == '\'') {
      token.kind = TokenKind::kString;
      if (!lex_string(text_, at_, token.text, problems_)) token.kind = TokenKind::kBad;
      return true;
    }
    if (c == '`') return read_quoted(token);
    if (c == '$') return read_constant(token);
    if (c == '@') return read_time(token);
    return read_symbol(token);
  }

  bool read_word(Token& token) {
    const std::size_t begin = at_;
    while (is_name_part(peek())) ++at_;
    if (at_ < text_.size() && !is_ascii(peek())) return read_foreign_word(token, begin);
    token.kind = TokenKind::kWord;
    token.text = text_.substr(begin, at_ - begin);
    token.keyword = find_keyword(token.text);
    return true;
  }

  bool read_foreign_word(Token& token, std::size_t begin) {
    while (at_ < text_.size() && (!is_ascii(peek()) || is_name_part(peek()))) ++at_;
    token.kind = TokenKind::kQuoted;
    token.text = text_.substr(begin, at_ - begin);
    problems_.add(since(begin), "a name with other characters than A-Z a-z 0-9 _ stands in back quotes",
                  "write `" + token.text + "`");
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
    if (token.text.empty()) {
      token.kind = TokenKind::kBad;
      problems_.add(since(begin), "a name in back quotes cannot be empty");
    }
    return true;
  }

  bool read_constant(Token& token) {
    const std::size_t begin = at_++;
    while (is_name_part(peek())) ++at_;
    token.text = text_.substr(begin + 1, at_ - begin - 1);
    token.kind = TokenKind::kConstant;
    if (token.text.empty() || !is_name_start(token.text.front())) {
      token.kind = TokenKind::kBad;
      problems_.add(since(begin), "expected the name of a constant after $",
                    "constants are declared like CONST max_gap = 5m and written $max_gap");
    }
    return true;
  }

  bool read_time(Token& token) {
    const std::size_t begin = at_++;
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
      at_ = std::min(text_.find('\n', at_), text_.size());
      problems_.add({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin + 2)},
                    "a comment begins with #", "write # instead of " + std::string(comment));
      return false;
    }
    if (!rest.starts_with("!=")) {
      for (const Foreign& foreign : kForeign) {
        if (!rest.starts_with(foreign.text)) continue;
        at_ += foreign.text.size();
        problems_.add(since(begin), std::string(foreign.message), std::string(foreign.suggestion));
        token.symbol = foreign.symbol;
        token.keyword = foreign.keyword;
        if (foreign.keyword != Keyword::kNone) {
          token.kind = TokenKind::kWord;
          token.text = info(foreign.keyword).text;
        }
        return token.symbol != Symbol::kNone || foreign.keyword != Keyword::kNone;
      }
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
    if (rest.starts_with("\xC2\xA0")) {
      at_ += 2;
      problems_.add(since(begin), "a no-break space stands here", "write a plain space");
      return false;
    }
    for (const std::string_view quote : {"\u201C", "\u201D", "\u201E", "\u2018", "\u2019", "\u00AB", "\u00BB"}) {
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
  Tokens tokens_;

  std::vector<unsigned> open_;  // per open bracket: itself and the prefix operators just before it
  unsigned run_ = 0;            // prefix operators just before the next token
  unsigned depth_ = 0;          // sum of open_, and run_
  bool too_deep_ = false;
};

}  // namespace

Tokens lex(std::string_view text, Problems& problems) { return Lexer(text, problems).run(); }

}  // namespace cepd::dsl::syntax
