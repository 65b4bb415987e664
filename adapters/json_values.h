#pragma once
/// Canonical JSON text of parsed values. For .cc files of this folder only: it shows simdjson.

#include <simdjson.h>

#include <string>

namespace cepd::adapters {

/// Appends the form that adapters/decoder.h describes. Requires a document whose numbers are all finite.
void append_canonical_json(std::string& out, const simdjson::dom::element& element);

}  // namespace cepd::adapters
