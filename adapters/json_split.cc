#include "adapters/json_split.h"

#include <simdjson.h>

#include <algorithm>

namespace cepd::adapters {
namespace {

using namespace simdjson;

Error no_array(error_code code) {
  return error(Errc::kInvalidArgument, std::string("the array is no JSON: ") + error_message(code));
}

/// The text of one item, which is consumed.
error_code raw(ondemand::value item, std::string_view& out) {
  ondemand::json_type type;
  if (const auto code = item.type().get(type)) return code;
  if (type == ondemand::json_type::object) {
    ondemand::object object;
    if (const auto code = item.get_object().get(object)) return code;
    return object.raw_json().get(out);
  }
  if (type == ondemand::json_type::array) {
    ondemand::array array;
    if (const auto code = item.get_array().get(array)) return code;
    return array.raw_json().get(out);
  }
  out = item.raw_json_token();
  return SUCCESS;
}

}  // namespace

std::string_view trim_json(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

Result<std::vector<std::string>> split_json_array(std::string_view text) {
  const padded_string padded(trim_json(text));
  ondemand::parser parser;
  ondemand::document document;
  ondemand::array array;
  if (const auto code = parser.iterate(padded).get(document)) return no_array(code);
  if (const auto code = document.get_array().get(array)) return no_array(code);
  std::string_view whole;
  if (const auto code = array.raw_json().get(whole)) return no_array(code);
  if (trim_json(whole).size() != padded.size()) return no_array(TRAILING_CONTENT);

  document.rewind();
  if (const auto code = document.get_array().get(array)) return no_array(code);
  std::vector<std::string> items;
  for (auto found : array) {
    ondemand::value item;
    if (const auto code = std::move(found).get(item)) return no_array(code);
    std::string_view item_text;
    if (const auto code = raw(item, item_text)) return no_array(code);
    items.emplace_back(trim_json(item_text));
  }
  return items;
}

bool is_one_json_text(std::string_view text) {
  dom::parser parser;
  return parser.parse(text.data(), text.size()).error() == SUCCESS;
}

}  // namespace cepd::adapters
