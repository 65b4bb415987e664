#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace cepd {

/// Where a field stands in an event: `payload.device.id`, `tags[0]`. A step is a name or an array index (0 is the
/// first).
struct FieldPath {
  using Step = std::variant<std::string, std::int64_t>;
  std::vector<Step> steps;

  static FieldPath of(std::string name) { return FieldPath{{Step(std::move(name))}}; }
  bool empty() const { return steps.empty(); }
  auto operator<=>(const FieldPath&) const = default;
  bool operator==(const FieldPath&) const = default;
};

/// As it is written in a rule; names that need back quotes get them.
std::string to_string(const FieldPath& path);

/// `name`, or `name` in back quotes when it is no plain name. (After a dot keywords need none.)
std::string quoted_if_needed(std::string_view name);

}  // namespace cepd
