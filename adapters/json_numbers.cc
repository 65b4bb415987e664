#include "adapters/json_numbers.h"

#include <charconv>
#include <cstdint>
#include <system_error>

namespace cepd::adapters {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool number_part(char c) { return digit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'; }

bool ends_number(char c) {
  return c == ',' || c == '}' || c == ']' || c == ':' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && digit(text[at])) ++at;
  return at;
}

struct Number {
  bool well_formed = false;
  bool integer = false;  // no point, no exponent
  std::size_t digits = 0;
};

/// -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
Number judge(std::string_view token) {
  Number number;
  std::size_t at = token.front() == '-' ? 1 : 0;
  const std::size_t whole = at;
  at = skip_digits(token, at);
  number.digits = at - whole;
  if (number.digits == 0 || (token[whole] == '0' && number.digits > 1)) return number;
  number.integer = at == token.size();
  if (at < token.size() && token[at] == '.') {
    const std::size_t fraction = ++at;
    at = skip_digits(token, at);
    if (at == fraction) return number;
    number.digits += at - fraction;
  }
  if (at < token.size() && (token[at] == 'e' || token[at] == 'E')) {
    ++at;
    if (at < token.size() && (token[at] == '+' || token[at] == '-')) ++at;
    const std::size_t exponent = at;
    at = skip_digits(token, at);
    if (at == exponent) return number;
  }
  number.well_formed = at == token.size();
  return number;
}

bool fits_64_bits(std::string_view integer) {
  std::uint64_t magnitude = 0;
  const bool negative = integer.front() == '-';
  const char* const begin = integer.data() + (negative ? 1 : 0);
  if (std::from_chars(begin, integer.data() + integer.size(), magnitude).ec != std::errc{}) return false;
  return !negative || magnitude <= std::uint64_t{1} << 63;
}

/// Position after the string whose opening quote is at `at`.
std::size_t skip_string(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return at + 1;
}

}  // namespace

NumberScan scan_numbers(std::string_view json) {
  NumberScan scan;
  std::size_t copied = 0;
  std::size_t at = 0;
  while (at < json.size()) {
    if (json[at] == '"') {
      at = skip_string(json, at);
      continue;
    }
    if (json[at] != '-' && !digit(json[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < json.size() && number_part(json[at])) ++at;
    const auto token = json.substr(begin, at - begin);
    const Number number = judge(token);
    if (!number.well_formed || (at < json.size() && !ends_number(json[at]))) scan.malformed = true;
    if (number.digits > kMaxDigits) scan.overlong = true;
    if (number.well_formed && number.integer && !fits_64_bits(token)) {
      scan.text.append(json, copied, at - copied).append("e0");
      copied = at;
      scan.changed = true;
    }
  }
  if (scan.changed) scan.text.append(json, copied);
  return scan;
}

bool has_overlong_number(std::string_view json) {
  // kMaxDigits + 1 digits and at most one point in a row: a step of that many bytes cannot pass over them.
  constexpr std::size_t kStep = kMaxDigits + 1;
  const auto run_part = [](char c) { return digit(c) || c == '.'; };
  for (std::size_t at = kStep - 1; at < json.size(); at += kStep) {
    if (!run_part(json[at])) continue;
    std::size_t begin = at, end = at;
    while (begin > 0 && run_part(json[begin - 1])) --begin;
    while (end < json.size() && run_part(json[end])) ++end;
    // It may stand in a string or be an exponent.
    if (end - begin > kMaxDigits) return scan_numbers(json).overlong;
  }
  return false;
}

}  // namespace cepd::adapters
