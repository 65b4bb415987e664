#pragma once
/// Parts of arrays and objects that are kept as JSON text.

#include <span>
#include <string_view>

#include "base/arena.h"
#include "base/path.h"
#include "base/value.h"

namespace cepd::engine {

/// What stands at `steps` in `json`, the canonical text of an array or object; null where that leads nowhere. Its text
/// is put into `arena`.
Value json_part(std::string_view json, std::span<const FieldPath::Step> steps, Arena& arena);

}  // namespace cepd::engine
