#include "adapters/mqtt_payload.h"

#include <simdjson.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

#include "adapters/record_text.h"
#include "base/value.h"

namespace cepd::adapters {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

/// As JSON. Takes what devices print beside it: a sign in front, no digit before the point.
std::optional<std::string> number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto [at, status] = std::from_chars(text.data(), end, whole); status == std::errc{} && at == end)
    return std::to_string(whole);
  double real = 0;
  const auto [at, status] = std::from_chars(text.data(), end, real);
  if (status != std::errc{} || at != end || !std::isfinite(real)) return std::nullopt;
  std::string out;
  append_json(out, Value::real(real));
  return out;
}

}  // namespace

std::string event_of_payload(const MqttSourceOptions& options, std::string payload, EventTime arrived) {
  using Payload = MqttSourceOptions::Payload;
  if (options.payload != Payload::kJson) {
    std::string made = "{";
    append_json_string(made, options.value_field);
    made += ':';
    if (options.payload == Payload::kText && simdjson::validate_utf8(payload)) {
      append_json_string(made, payload);
    } else if (const auto text = options.payload == Payload::kNumber ? number(trimmed(payload)) : std::nullopt) {
      made += *text;
    } else {
      return payload;
    }
    payload = made + "}";
  }
  if (options.arrival_field.empty()) return payload;
  std::string with;
  const std::string text = format_rfc3339(arrived);
  const bool added = add_members(payload, {{options.arrival_field, text}}, with);
  return added ? with : payload;
}

}  // namespace cepd::adapters
