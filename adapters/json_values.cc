#include "adapters/json_values.h"

#include <simdjson.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/value.h"

namespace cepd::adapters {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

void append_object(std::string& out, const simdjson::dom::object& object) {
  std::vector<std::pair<std::string_view, element>> fields;
  fields.reserve(object.size());
  for (const auto& field : object) fields.emplace_back(field.key, field.value);
  std::ranges::stable_sort(fields, {}, &std::pair<std::string_view, element>::first);
  out += '{';
  bool first = true;
  for (auto it = fields.begin(); it != fields.end(); ++it) {
    // The sort is stable, so the last of a run of equal names is the last one written.
    if (std::next(it) != fields.end() && std::next(it)->first == it->first) continue;
    if (!std::exchange(first, false)) out += ',';
    append_json_string(out, it->first);
    out += ':';
    append_canonical_json(out, it->second);
  }
  out += '}';
}

}  // namespace

void append_canonical_json(std::string& out, const element& element) {
  switch (element.type()) {
    case element_type::OBJECT:
      append_object(out, simdjson::dom::object(element));
      return;
    case element_type::ARRAY: {
      out += '[';
      bool first = true;
      for (const auto& item : simdjson::dom::array(element)) {
        if (!std::exchange(first, false)) out += ',';
        append_canonical_json(out, item);
      }
      out += ']';
      return;
    }
    case element_type::INT64:
      append_json(out, Value::integer(std::int64_t(element)));
      return;
    case element_type::UINT64:
      append_json(out, Value::real(static_cast<double>(std::uint64_t(element))));
      return;
    case element_type::DOUBLE:
      append_json(out, Value::real(double(element)));
      return;
    case element_type::STRING:
      append_json_string(out, std::string_view(element));
      return;
    case element_type::BOOL:
      out += bool(element) ? "true" : "false";
      return;
    case element_type::NULL_VALUE:
      out += "null";
      return;
  }
}

}  // namespace cepd::adapters
