#include "engine/json_part.h"

#include <simdjson.h>

#include <string>

namespace cepd::engine {
namespace {

namespace ondemand = simdjson::ondemand;

/// A name is compared as it stands in the text, escapes and all; canonical text has one form for each name.
std::string as_written(std::string_view name) {
  std::string out;
  append_json_string(out, name);
  return out.substr(1, out.size() - 2);
}

/// Canonical text: what fits an int is one, and every other number is a double.
Value number(ondemand::value& value) {
  std::int64_t integer = 0;
  if (value.is_integer() && value.get_int64().get(integer) == simdjson::SUCCESS) return Value::integer(integer);
  double real = 0;
  return value.get_double().get(real) == simdjson::SUCCESS ? Value::real(real) : Value::null();
}

Value read(ondemand::value value, Arena& arena) {
  std::string_view text;
  switch (value.type()) {
    case ondemand::json_type::array:
      return ondemand::array(value).raw_json().get(text) == simdjson::SUCCESS ? Value::json(arena.copy(text)) : Value();
    case ondemand::json_type::object:
      return ondemand::object(value).raw_json().get(text) == simdjson::SUCCESS ? Value::json(arena.copy(text))
                                                                               : Value();
    case ondemand::json_type::string:
      return value.get_string().get(text) == simdjson::SUCCESS ? Value::string(arena.copy(text)) : Value();
    case ondemand::json_type::boolean:
      return Value::boolean(bool(value));
    case ondemand::json_type::number:
      return number(value);
    default:
      return {};
  }
}

}  // namespace

Value json_part(std::string_view json, std::span<const FieldPath::Step> steps, Arena& arena) {
  ondemand::parser parser;
  const simdjson::padded_string padded(json);
  try {
    ondemand::document document = parser.iterate(padded);
    ondemand::value value = document;
    for (const FieldPath::Step& step : steps) {
      const auto* name = std::get_if<std::string>(&step);
      const bool array = value.type() == ondemand::json_type::array;
      if (name != nullptr ? value.type() != ondemand::json_type::object : !array) return {};
      ondemand::value part;
      const auto found = name != nullptr ? value.find_field(as_written(*name)).get(part)
                                         : value.at(static_cast<std::size_t>(std::get<std::int64_t>(step))).get(part);
      if (found != simdjson::SUCCESS) return {};
      value = part;
    }
    return read(value, arena);
  } catch (const simdjson::simdjson_error&) {
    return {};
  }
}

}  // namespace cepd::engine
