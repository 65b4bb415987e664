#pragma once
/// Canonical JSON text of parsed values.

#include <string>

namespace simdjson::dom {
class element;
}

namespace cepd::adapters {

/// Appends the form that adapters/decoder.h describes. Requires a document whose numbers are all finite.
void append_canonical_json(std::string& out, const simdjson::dom::element& element);

}  // namespace cepd::adapters
