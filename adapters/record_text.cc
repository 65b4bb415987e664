#include "adapters/record_text.h"

#include <charconv>
#include <cmath>
#include <cstdint>

#include "adapters/numeric_time.h"
#include "base/value.h"

namespace cepd::adapters {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string_view event_text(const Message& message, std::string_view bytes, std::string_view key_field,
                            std::string& scratch) {
  if (!message.parts) return bytes;
  const RecordParts& parts = *message.parts;
  const bool with_key = !key_field.empty() && parts.key;
  if (!with_key && !parts.no_value) return bytes;
  const std::size_t open = bytes.find_first_not_of(kBlank);
  // What is no object is left for the decoder to refuse.
  if (!parts.no_value && (open == std::string_view::npos || bytes[open] != '{')) return bytes;
  scratch.assign(1, '{');
  if (with_key) {
    append_json_string(scratch, key_field);
    scratch += ':';
    append_json_string(scratch, *parts.key);
  }
  if (parts.no_value) return scratch += with_key ? R"(,"__deleted":true})" : R"("__deleted":true})";
  const std::string_view rest = bytes.substr(open + 1);
  const std::size_t first = rest.find_first_not_of(kBlank);
  if (first != std::string_view::npos && rest[first] != '}') scratch += ',';
  return scratch += rest;
}

bool add_members(std::string_view bytes, const TextMembers& members, std::string& out) {
  const std::size_t close = bytes.find_last_not_of(kBlank);
  if (close == std::string_view::npos || bytes[close] != '}') return false;
  const std::string_view before = bytes.substr(0, close);
  const std::size_t last = before.find_last_not_of(kBlank);
  if (last == std::string_view::npos) return false;
  bool first = before[last] == '{';
  out.assign(before);
  for (const auto& [name, text] : members) {
    if (!first) out += ',';
    first = false;
    append_json_string(out, name);
    out += ':';
    append_json_string(out, text);
  }
  out += '}';
  return true;
}

std::optional<EventTime> record_time(const Message& message, TimeUnit unit) {
  if (!message.parts) return std::nullopt;
  if (!message.parts->time) return message.parts->when;
  const std::string_view text = *message.parts->time;
  std::optional<std::int64_t> us;
  if (const auto integer = whole_number<std::int64_t>(text)) {
    us = micros_of(*integer, unit);
  } else if (const auto real = whole_number<double>(text); real && std::isfinite(*real)) {
    us = micros_of(*real, unit);
  } else {
    return parse_rfc3339(text);
  }
  return us ? std::optional(event_time_us(*us)) : std::nullopt;
}

}  // namespace cepd::adapters
