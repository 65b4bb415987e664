#include "dsl/lex_number.h"

#include <boost/algorithm/string/case_conv.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace cepd::dsl::syntax {
namespace {

constexpr std::uint64_t kLargest = std::uint64_t{1} << 63;  // of an int after a minus sign
constexpr std::size_t kSureDigits = 18;                     // always fit 63 bits
constexpr const char* kUnits = "units are us ms s m h d, larger first: 5m, 1h30m";

/// What people write for units, as a duration of one.
std::optional<std::string_view> unit_meant(std::string word) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"us", "1us"}, {"usec", "1us"}, {"micros", "1us"}, {"ms", "1ms"},     {"msec", "1ms"},   {"millis", "1ms"},
      {"s", "1s"},   {"sec", "1s"},   {"secs", "1s"},    {"second", "1s"},  {"seconds", "1s"}, {"m", "1m"},
      {"min", "1m"}, {"mins", "1m"},  {"minute", "1m"},  {"minutes", "1m"}, {"h", "1h"},       {"hr", "1h"},
      {"hrs", "1h"}, {"hour", "1h"},  {"hours", "1h"},   {"d", "1d"},       {"day", "1d"},     {"days", "1d"},
      {"w", "7d"},   {"week", "7d"},  {"weeks", "7d"}};
  boost::algorithm::to_lower(word);
  for (const auto& [written, unit] : kWords) {
    if (written == word) return unit;
  }
  return std::nullopt;
}

/// `0x1F`
std::optional<std::uint64_t> hexadecimal(std::string_view written) {
  if (!written.starts_with("0x") && !written.starts_with("0X")) return std::nullopt;
  std::uint64_t value = 0;
  const char* const end = written.data() + written.size();
  const auto [stop, status] = std::from_chars(written.data() + 2, end, value, 16);
  if (status != std::errc{} || stop != end || value > kLargest) return std::nullopt;
  return value;
}

void read_duration(std::string_view written, ast::Location where, Token& token, Problems& problems) {
  token.kind = TokenKind::kDuration;
  token.value = Micros(1);
  if (const auto exact = parse_duration(written)) {
    token.value = *exact;
    return;
  }
  const std::string shown(written.substr(0, 40));
  if (const auto meant = duration_meant(written)) {
    const bool fraction = written.find('.') != std::string_view::npos;
    if (meant->count() > 0) token.value = *meant;
    problems.add(where,
                 fraction ? "a duration has no fraction: " + shown
                          : "a duration is written with the units d h m s ms us, larger first and each once: " + shown,
                 "write " + format_duration(*meant));
    return;
  }
  const bool only_units = written.find_first_not_of("0123456789dhmsu") == std::string_view::npos;
  problems.add(
      where,
      (only_units ? "this duration is no sum of units or too long: " : "neither a number nor a duration: ") + shown,
      kUnits);
}

}  // namespace

std::optional<Micros> duration_meant(std::string_view text) {
  double total = 0;
  while (!text.empty()) {
    double count = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), count, std::chars_format::fixed);
    if (status != std::errc{} || end == text.data()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const auto letters = text.substr(0, std::min(text.find_first_of("0123456789."), text.size()));
    const auto unit = unit_meant(std::string(letters));
    if (!unit) return std::nullopt;
    text.remove_prefix(letters.size());
    total += count * static_cast<double>(parse_duration(*unit)->count());
  }
  if (total > 1e15) return std::nullopt;  // beyond thirty years nobody writes fractions
  return Micros(std::llround(total));
}

std::size_t lex_number(std::string_view text, std::size_t begin, Token& token, Problems& problems) {
  const auto at = [&](std::size_t i) { return i < text.size() ? text[i] : '\0'; };
  const auto where = [&](std::size_t end) {
    return ast::Location{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
  };
  std::size_t end = begin;
  while (is_digit(at(end))) ++end;
  const std::size_t digits_end = end;
  bool real = false;
  if (at(end) == '.' && is_digit(at(end + 1))) {
    real = true;
    ++end;
    while (is_digit(at(end))) ++end;
  } else if (at(end) == '.' && !is_name_start(at(end + 1)) && at(end + 1) != '`' && at(end + 1) != '.') {
    ++end;
    problems.add(where(end), "a number has digits after its point",
                 "write " + std::string(text.substr(begin, end - begin)) + "0");
    real = true;
  }
  if ((at(end) == 'e' || at(end) == 'E') &&
      (is_digit(at(end + 1)) || ((at(end + 1) == '+' || at(end + 1) == '-') && is_digit(at(end + 2))))) {
    real = true;
    end += 2;
    while (is_digit(at(end))) ++end;
  }
  if (is_name_part(at(end))) {
    // `5m`, but also `1.5h`, `1h1.5m`, `5min`, `1_000`.
    std::size_t word_end = end;
    while (is_name_part(at(word_end)) || (at(word_end) == '.' && is_digit(at(word_end + 1)))) ++word_end;
    const std::string_view written = text.substr(begin, word_end - begin);
    if (written.find_first_not_of("0123456789_") == std::string_view::npos) {
      std::string plain;
      for (const char c : written) {
        if (c != '_') plain += c;
      }
      problems.add(where(word_end), "a number has no _ in it", plain.size() <= kSureDigits ? "write " + plain : "");
      token.kind = TokenKind::kInt;
      std::uint64_t value = 1;
      if (plain.size() <= kSureDigits) std::from_chars(plain.data(), plain.data() + plain.size(), value);
      token.value = value;
    } else if (const auto value = hexadecimal(written)) {
      problems.add(where(word_end), "a number is written in decimal", "write " + std::to_string(*value));
      token.kind = TokenKind::kInt;
      token.value = *value;
    } else {
      read_duration(written, where(word_end), token, problems);
    }
    return word_end;
  }

  if (!real) {
    token.kind = TokenKind::kInt;
    std::uint64_t value = 0;
    const auto [unused, status] = std::from_chars(text.data() + begin, text.data() + digits_end, value);
    if (status != std::errc{} || value > kLargest) {
      problems.add(where(digits_end), "this number does not fit 64 bits", "write it with a point for a double");
      value = 1;
    }
    token.value = value;
    return end;
  }
  token.kind = TokenKind::kDouble;
  double value = 0;
  const auto [unused, status] = std::from_chars(text.data() + begin, text.data() + end, value);
  // Too small a number is 0 to from_chars and an error; it is near enough to 0 to be read so.
  if (status == std::errc::result_out_of_range) {
    const std::string_view written = text.substr(begin, end - begin);
    const std::size_t exponent = written.find_first_of("eE");
    const bool tiny = (exponent != std::string_view::npos && written[exponent + 1] == '-') || written.front() == '0';
    value = 0;
    if (!tiny) problems.add(where(end), "this number is too large for a double");
  }
  token.value = value;
  return end;
}

}  // namespace cepd::dsl::syntax
