#include "dsl/utf8.h"

namespace cepd::dsl::syntax {

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

ast::Location find_invalid_text(std::string_view text) {
  std::size_t i = 0;
  const auto continued = [&](std::size_t at, unsigned char low, unsigned char high) {
    const auto c = at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    return c >= low && c <= high;
  };
  while (i < text.size()) {
    const auto c = static_cast<unsigned char>(text[i]);
    std::size_t length = 0;
    if (c == 0) {
      length = 0;
    } else if (c < 0x80) {
      length = 1;
    } else if (c >= 0xC2 && c <= 0xDF) {
      length = continued(i + 1, 0x80, 0xBF) ? 2 : 0;
    } else if (c >= 0xE0 && c <= 0xEF) {
      // No overlong forms, no surrogates.
      const bool second = continued(i + 1, c == 0xE0 ? 0xA0 : 0x80, c == 0xED ? 0x9F : 0xBF);
      length = second && continued(i + 2, 0x80, 0xBF) ? 3 : 0;
    } else if (c >= 0xF0 && c <= 0xF4) {
      const bool second = continued(i + 1, c == 0xF0 ? 0x90 : 0x80, c == 0xF4 ? 0x8F : 0xBF);
      length = second && continued(i + 2, 0x80, 0xBF) && continued(i + 3, 0x80, 0xBF) ? 4 : 0;
    }
    if (length == 0) return {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i + 1)};
    i += length;
  }
  return {};
}

}  // namespace cepd::dsl::syntax
