#include "adapters/json_values.h"

#include <simdjson.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/numeric_time.h"

namespace cepd::adapters {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

/// Arrays and objects in the form that adapters/decoder.h describes.
void append_canonical_json(std::string& out, const element& value);

struct Field {
  std::string_view name;
  std::size_t place;
  element value;
};

void append_object(std::string& out, const simdjson::dom::object& object) {
  // A stack of the fields of all objects that this call is in: no memory is asked for once it is large enough.
  thread_local std::vector<Field> fields;
  const std::size_t begin = fields.size();
  for (const auto& field : object) fields.push_back({field.key, fields.size(), field.value});
  const std::size_t end = fields.size();
  std::sort(fields.begin() + static_cast<std::ptrdiff_t>(begin), fields.end(), [](const Field& a, const Field& b) {
    const int order = a.name.compare(b.name);
    return order != 0 ? order < 0 : a.place < b.place;
  });
  out += '{';
  bool first = true;
  for (std::size_t i = begin; i < end; ++i) {
    // The last of a run of equal names is the last one written.
    if (i + 1 < end && fields[i + 1].name == fields[i].name) continue;
    if (!std::exchange(first, false)) out += ',';
    append_json_string(out, fields[i].name);
    out += ':';
    append_canonical_json(out, element(fields[i].value));  // a copy: the stack may move meanwhile
  }
  fields.resize(begin, Field{});
  out += '}';
}

void append_canonical_json(std::string& out, const element& value) {
  switch (value.type()) {
    case element_type::OBJECT:
      append_object(out, simdjson::dom::object(value));
      return;
    case element_type::ARRAY: {
      out += '[';
      bool first = true;
      for (const auto& item : simdjson::dom::array(value)) {
        if (!std::exchange(first, false)) out += ',';
        append_canonical_json(out, item);
      }
      out += ']';
      return;
    }
    case element_type::INT64:
      append_json(out, Value::integer(std::int64_t(value)));
      return;
    case element_type::UINT64:
      append_json(out, Value::real(static_cast<double>(std::uint64_t(value))));
      return;
    case element_type::DOUBLE:
      append_json(out, Value::real(double(value)));
      return;
    case element_type::STRING:
      append_json_string(out, std::string_view(value));
      return;
    case element_type::BOOL:
      out += bool(value) ? "true" : "false";
      return;
    case element_type::NULL_VALUE:
      out += "null";
      return;
  }
}

/// A number of the time unit in microseconds; nothing when it is none or out of range.
std::optional<std::int64_t> numeric_micros(const element& value, TimeUnit unit) {
  switch (value.type()) {
    case element_type::INT64:
      return micros_of(std::int64_t(value), unit);
    case element_type::UINT64:
      // Above 64 bits with sign, so only nanoseconds can fit.
      if (unit != TimeUnit::kNanos) return std::nullopt;
      return static_cast<std::int64_t>(std::uint64_t(value) / 1000);
    case element_type::DOUBLE:
      return micros_of(double(value), unit);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<EventTime> time_of(const element& value, TimeUnit unit) {
  if (value.is_string()) return parse_rfc3339(std::string_view(value));
  const auto us = numeric_micros(value, unit);
  return us ? std::optional(event_time_us(*us)) : std::nullopt;
}

Value declared_value(const element& value, FieldType type, TimeUnit unit) {
  const element_type got = value.type();
  switch (type) {
    case FieldType::kBool:
      return got == element_type::BOOL ? Value::boolean(bool(value)) : Value::null();
    case FieldType::kInt:
      return got == element_type::INT64 ? Value::integer(std::int64_t(value)) : Value::null();
    case FieldType::kDouble:
      if (got == element_type::INT64) return Value::real(static_cast<double>(std::int64_t(value)));
      if (got == element_type::UINT64) return Value::real(static_cast<double>(std::uint64_t(value)));
      return got == element_type::DOUBLE ? Value::real(double(value)) : Value::null();
    case FieldType::kString:
      return got == element_type::STRING ? Value::string(std::string_view(value)) : Value::null();
    case FieldType::kTimestamp: {
      const auto time = time_of(value, unit);
      return time ? Value::timestamp(*time) : Value::null();
    }
    case FieldType::kDuration: {
      if (got == element_type::STRING) {
        const auto duration = parse_duration(std::string_view(value));
        return duration ? Value::duration(*duration) : Value::null();
      }
      const auto us = numeric_micros(value, unit);
      return us ? Value::duration(Micros(*us)) : Value::null();
    }
  }
  return Value::null();
}

Value dynamic_value(const element& value, std::string& text) {
  switch (value.type()) {
    case element_type::ARRAY:
    case element_type::OBJECT:
      text.clear();
      append_canonical_json(text, value);
      return Value::json(text);
    case element_type::INT64:
      return Value::integer(std::int64_t(value));
    case element_type::UINT64:
      return Value::real(static_cast<double>(std::uint64_t(value)));
    case element_type::DOUBLE:
      return Value::real(double(value));
    case element_type::STRING:
      return Value::string(std::string_view(value));
    case element_type::BOOL:
      return Value::boolean(bool(value));
    case element_type::NULL_VALUE:
      return Value::null();
  }
  return Value::null();
}

}  // namespace cepd::adapters
