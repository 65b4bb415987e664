#include "base/path.h"

#include <algorithm>
#include <string_view>

namespace cepd {
namespace {
bool name_start(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
bool name_part(char c) { return name_start(c) || (c >= '0' && c <= '9'); }
}  // namespace

std::string quoted_if_needed(std::string_view name) {
  if (!name.empty() && name_start(name.front()) && std::all_of(name.begin(), name.end(), name_part))
    return std::string(name);
  return "`" + std::string(name) + "`";
}

std::string to_string(const FieldPath& path) {
  std::string out;
  for (const FieldPath::Step& step : path.steps) {
    if (const auto* index = std::get_if<std::int64_t>(&step)) {
      out += "[" + std::to_string(*index) + "]";
    } else {
      if (!out.empty()) out += '.';
      out += quoted_if_needed(std::get<std::string>(step));
    }
  }
  return out;
}

}  // namespace cepd
