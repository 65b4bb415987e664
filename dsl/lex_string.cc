#include "dsl/lex_string.h"

#include <charconv>

#include "dsl/utf8.h"

namespace cepd::dsl::syntax {
namespace {

class StringLexer {
 public:
  StringLexer(std::string_view text, std::size_t& at, Problems& problems) : text_(text), at_(at), problems_(problems) {}

  /// False when the string does not end on its line.
  bool read_string(std::string& out) {
    const std::size_t begin = at_;
    const char quote = text_[at_++];
    while (at_ < text_.size() && peek() != '\n' && peek() != '\r') {
      const char c = peek();
      if (c == quote) {
        ++at_;
        return true;
      }
      if (c == '\\') {
        read_escape(out);
      } else {
        out += c;
        ++at_;
      }
    }
    problems_.add(since(begin), "this string does not end on its line",
                  std::string("put a ") + quote + " after it; a new line in a string is written \\n");
    return false;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  ast::Location since(std::size_t begin) const {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)};
  }

  void read_escape(std::string& out) {
    const std::size_t begin = at_++;
    const char c = peek();
    if (c == '\0' || c == '\n' || c == '\r') return;  // the string does not end: reported there
    ++at_;
    switch (c) {
      case 'n':
        out += '\n';
        return;
      case 't':
        out += '\t';
        return;
      case '\\':
      case '"':
      case '\'':
        out += c;
        return;
      case 'u':
        if (read_code_point(out)) return;
        problems_.add(since(begin), "\\u needs the number of a character in braces",
                      "write it like \\u{e9} or \\u{1F600}");
        return;
      default:
        break;
    }
    while (at_ < text_.size() && static_cast<unsigned char>(peek()) >= 0x80) ++at_;
    const std::string escape(text_.substr(begin, at_ - begin));
    out += escape;
    problems_.add(since(begin), "unknown escape " + escape + ": known are \\n \\t \\\\ \\\" \\' \\u{...}",
                  "for a backslash write \\" + escape);
  }

  bool read_code_point(std::string& out) {
    if (peek() != '{') return false;
    const std::size_t end = text_.find_first_not_of("0123456789abcdefABCDEF", at_ + 1);
    if (end == std::string_view::npos || text_[end] != '}') return false;
    std::uint32_t value = 0;
    const char* last = text_.data() + end;
    const auto [stop, status] = std::from_chars(text_.data() + at_ + 1, last, value, 16);
    at_ = end + 1;
    if (status != std::errc{} || stop != last || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return false;
    append_utf8(out, value);
    return true;
  }

  std::string_view text_;
  std::size_t& at_;
  Problems& problems_;
};

}  // namespace

bool lex_string(std::string_view text, std::size_t& at, std::string& out, Problems& problems) {
  return StringLexer(text, at, problems).read_string(out);
}

}  // namespace cepd::dsl::syntax
