#pragma once
/// Words of other languages, and what they are here. Internal to dsl/.

namespace cepd::dsl::syntax {

class Place;

/// False when no such word stands at the furthest place, or just before it where it was taken for a name.
bool report_foreign_word(const Place& place);

}  // namespace cepd::dsl::syntax
