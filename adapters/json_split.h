#pragma once
/// Several events in one text, without reading what is in them: that is the decoder's.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cepd::adapters {

/// The texts of the items of a JSON array, without white space around them. An item with a mistake inside is an item
/// still, as long as brackets and strings are closed.
Result<std::vector<std::string>> split_json_array(std::string_view text);

/// True when the whole of it is one JSON text that parses.
bool is_one_json_text(std::string_view text);

/// Without white space of JSON at both ends.
std::string_view trim_json(std::string_view text);

}  // namespace cepd::adapters
