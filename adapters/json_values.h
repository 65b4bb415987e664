#pragma once
/// Values of parsed JSON.

#include <optional>
#include <string>

#include "base/field_plan.h"
#include "base/time.h"
#include "base/value.h"

namespace simdjson::dom {
class element;
}

namespace cepd::adapters {

/// The kind is the value's own. Strings are views into the document; arrays and objects become the canonical text of
/// adapters/decoder.h, which is put into `text` in place of what it holds.
Value dynamic_value(const simdjson::dom::element& value, std::string& text);

/// The value in the declared type; null when it does not fit.
Value declared_value(const simdjson::dom::element& value, FieldType type, TimeUnit unit);

/// An RFC 3339 string or a number of the unit; nothing when it is neither or out of range.
std::optional<EventTime> time_of(const simdjson::dom::element& value, TimeUnit unit);

}  // namespace cepd::adapters
