#include "config/option_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/check.h"

namespace cepd::config {
namespace {

struct ByteUnit {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array<ByteUnit, 4> kByteUnits = {{{"TiB", std::int64_t{1} << 40},
                                                 {"GiB", std::int64_t{1} << 30},
                                                 {"MiB", std::int64_t{1} << 20},
                                                 {"KiB", std::int64_t{1} << 10}}};

/// The number in front and what follows it.
std::optional<std::pair<std::int64_t, std::string_view>> leading_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{}) return std::nullopt;
  return std::pair(number, text.substr(static_cast<std::size_t>(end - text.data())));
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const auto number = leading_number(text);
  if (!number || !number->second.empty()) return std::nullopt;
  return number->first;
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  const auto number = leading_number(text);
  if (!number || text.front() == '-') return std::nullopt;
  if (number->second.empty()) return number->first;
  const auto* unit = std::ranges::find(kByteUnits, number->second, &ByteUnit::name);
  std::int64_t bytes = 0;
  if (unit == kByteUnits.end() || __builtin_mul_overflow(number->first, unit->bytes, &bytes)) return std::nullopt;
  return bytes;
}

/// "64MiB" for 64M, 64mb and the like.
std::string suggest_bytes(std::string_view text) {
  const auto number = leading_number(text);
  if (!number) return {};
  std::string_view unit = number->second;
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit.empty()) return {};
  for (const ByteUnit& known : kByteUnits) {
    if ((unit.front() | 0x20) == (known.name.front() | 0x20))
      return "write it like " + std::to_string(number->first) + std::string(known.name);
  }
  return {};
}

/// An absolute http or https URL with a host; the rest is the server's business.
bool is_url(std::string_view text) {
  if (text.starts_with("http://")) {
    text.remove_prefix(7);
  } else if (text.starts_with("https://")) {
    text.remove_prefix(8);
  } else {
    return false;
  }
  const std::string_view host = text.substr(0, text.find_first_of("/?#"));
  return !host.empty() && host.back() != '@' && host.front() != ':' &&
         std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7F; });
}

std::string choices_text(const OptionRow& row) {
  std::string text;
  for (const std::string& choice : row.choices) text += (text.empty() ? "" : ", ") + choice;
  return text;
}

bool in_range(const OptionRow& row, std::int64_t number, ValueProblem& problem) {
  if (number >= row.min && number <= row.max) return true;
  problem = {"is out of range, expected " + format_range(row), {}};
  return false;
}

}  // namespace

std::optional<OptionValue> parse_value(const OptionRow& row, std::string_view text, ValueProblem& problem) {
  switch (row.type) {
    case OptionType::kBool:
      if (text == "true" || text == "false") return text == "true";
      problem = {"expects true or false", {}};
      break;
    case OptionType::kInteger:
      if (const auto number = parse_integer(text)) {
        if (in_range(row, *number, problem)) return *number;
      } else {
        problem = {"expects a whole number", {}};
      }
      break;
    case OptionType::kBytes:
      if (const auto bytes = parse_bytes(text)) {
        if (in_range(row, *bytes, problem)) return *bytes;
      } else {
        problem = {"expects a number of bytes, like 4096, 64KiB or 1GiB", suggest_bytes(text)};
      }
      break;
    case OptionType::kDuration:
      if (const auto duration = parse_duration(text)) {
        if (in_range(row, duration->count(), problem)) return *duration;
      } else {
        const bool no_unit = parse_integer(text).has_value() && text.front() != '-';
        problem = {"expects a duration, like 10s or 1h30m (units: us ms s m h d)",
                   no_unit ? "the unit is missing" : ""};
      }
      break;
    case OptionType::kUrl:
      if (is_url(text)) return std::string(text);
      problem = {"expects a URL that begins with http:// or https:// and has a host", {}};
      break;
    case OptionType::kChoice:
      if (std::ranges::find(row.choices, text) != row.choices.end()) return std::string(text);
      problem = {"expects one of " + choices_text(row), did_you_mean(text, row.choices)};
      break;
    case OptionType::kString:
    case OptionType::kPath:
      return std::string(text);
    case OptionType::kStringList:
      return std::vector<std::string>{std::string(text)};
  }
  return std::nullopt;
}

OptionValue default_value(const OptionRow& row) {
  if (!row.default_text.empty()) {
    ValueProblem problem;
    auto parsed = parse_value(row, row.default_text, problem);
    CEPD_CHECK(parsed.has_value());  // a row's default keeps to the row
    return *std::move(parsed);
  }
  switch (row.type) {
    case OptionType::kBool:
      return false;
    case OptionType::kInteger:
    case OptionType::kBytes:
      return std::int64_t{0};
    case OptionType::kDuration:
      return Micros(0);
    case OptionType::kStringList:
      return std::vector<std::string>{};
    default:
      return std::string();
  }
}

std::string format_bytes(std::int64_t bytes) {
  for (const ByteUnit& unit : kByteUnits) {
    if (bytes != 0 && bytes % unit.bytes == 0) return std::to_string(bytes / unit.bytes) + std::string(unit.name);
  }
  return std::to_string(bytes);
}

std::string type_name(OptionType type) {
  switch (type) {
    case OptionType::kBool:
      return "true or false";
    case OptionType::kInteger:
      return "integer";
    case OptionType::kBytes:
      return "bytes";
    case OptionType::kDuration:
      return "duration";
    case OptionType::kString:
      return "string";
    case OptionType::kPath:
      return "path";
    case OptionType::kUrl:
      return "URL";
    case OptionType::kChoice:
      return "choice";
    case OptionType::kStringList:
      return "list of strings";
  }
  return {};
}

std::string format_range(const OptionRow& row) {
  const auto print = [&](std::int64_t number) {
    if (row.type == OptionType::kBytes) return format_bytes(number);
    if (row.type == OptionType::kDuration) return format_duration(Micros(number));
    return std::to_string(number);
  };
  switch (row.type) {
    case OptionType::kInteger:
    case OptionType::kBytes:
    case OptionType::kDuration:
      break;
    default:
      return {};
  }
  // 0 is the least of bytes and durations anyway.
  const bool any_least = row.type == OptionType::kInteger ? row.min == INT64_MIN : row.min <= 0;
  if (row.max == INT64_MAX) return any_least ? std::string() : "at least " + print(row.min);
  if (row.min == INT64_MIN) return "at most " + print(row.max);
  return print(row.min) + " to " + print(row.max);
}

}  // namespace cepd::config
