#include "nfa/text_functions.h"

#include <utf8proc.h>

#include <array>
#include <string>

#include "base/check.h"
#include "nfa/arithmetic.h"

namespace cepd::nfa {
namespace {

using dsl::plan::Function;

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::int64_t code_points(std::string_view text) {
  std::int64_t n = 0;
  for (const char c : text) n += continues(c) ? 0 : 1;
  return n;
}

/// `text` without its first `n` code points.
std::string_view after_code_points(std::string_view text, std::int64_t n) {
  std::size_t at = 0;
  while (n > 0 && at < text.size()) {
    ++at;
    while (at < text.size() && continues(text[at])) ++at;
    --n;
  }
  return text.substr(at);
}

template <class Map>
Value mapped(std::string_view text, const Map& map, Arena& scratch) {
  std::string out;
  out.reserve(text.size());
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  std::size_t at = 0;
  while (at < text.size()) {
    utf8proc_int32_t code_point = 0;
    const auto size = utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(text.size() - at), &code_point);
    if (size <= 0) {
      out += text[at++];
      continue;
    }
    std::array<utf8proc_uint8_t, 4> encoded{};
    const auto encoded_size = utf8proc_encode_char(map(code_point), encoded.data());
    out.append(reinterpret_cast<const char*>(encoded.data()), static_cast<std::size_t>(encoded_size));
    at += static_cast<std::size_t>(size);
  }
  return Value::string(scratch.copy(out));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  const auto begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

/// substr(s, from) or substr(s, from, n).
Value substr(std::string_view text, std::span<const Value> arguments, EvalErrors& errors) {
  for (const Value& v : arguments.subspan(1)) {
    if (v.kind() != Kind::kInt) return failed(errors);
  }
  if (arguments[1].as_int() < 1) return failed(errors);
  const std::string_view rest = after_code_points(text, arguments[1].as_int() - 1);
  if (arguments.size() < 3) return Value::string(rest);
  if (arguments[2].as_int() < 0) return failed(errors);
  return Value::string(rest.substr(0, rest.size() - after_code_points(rest, arguments[2].as_int()).size()));
}

/// Part `n` of `text` between separators; null when there are fewer. An empty separator does not split.
Value split_part(std::string_view text, const Value& separator, const Value& n, EvalErrors& errors) {
  if (separator.kind() != Kind::kString || n.kind() != Kind::kInt || n.as_int() < 1) return failed(errors);
  std::int64_t left = n.as_int();
  while (true) {
    const auto end = separator.text().empty() ? std::string_view::npos : text.find(separator.text());
    if (--left == 0) return Value::string(text.substr(0, end));
    if (end == std::string_view::npos) return Value::null();
    text.remove_prefix(end + separator.text().size());
  }
}

/// contains, starts_with, ends_with.
Value found(Function function, std::string_view text, const Value& part, EvalErrors& errors) {
  if (part.kind() != Kind::kString) return failed(errors);
  switch (function) {
    case Function::kStartsWith:
      return Value::boolean(text.starts_with(part.text()));
    case Function::kEndsWith:
      return Value::boolean(text.ends_with(part.text()));
    default:
      return Value::boolean(text.find(part.text()) != std::string_view::npos);
  }
}

}  // namespace

Value concat(std::span<const Value> arguments, Arena& scratch) {
  std::string out;
  for (const Value& v : arguments) {
    if (!v.is_null()) append_text(out, v);
  }
  return Value::string(scratch.copy(out));
}

Value text_function(Function function, std::span<const Value> arguments, Arena& scratch, EvalErrors& errors) {
  if (arguments[0].kind() != Kind::kString) return failed(errors);
  const std::string_view text = arguments[0].text();
  switch (function) {
    case Function::kLower:
      return mapped(text, utf8proc_tolower, scratch);
    case Function::kUpper:
      return mapped(text, utf8proc_toupper, scratch);
    case Function::kTrim:
      return Value::string(trimmed(text));
    case Function::kLength:
      return Value::integer(code_points(text));
    case Function::kSubstr:
      return substr(text, arguments, errors);
    case Function::kContains:
    case Function::kStartsWith:
    case Function::kEndsWith:
      return found(function, text, arguments[1], errors);
    case Function::kSplitPart:
      return split_part(text, arguments[1], arguments[2], errors);
    default:
      CEPD_CHECK(false && "a function on strings");
      return Value::null();
  }
}

}  // namespace cepd::nfa
