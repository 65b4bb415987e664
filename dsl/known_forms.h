#pragma once
/// Mistakes that two or three tokens in a row show. Internal to dsl/.

namespace cepd::dsl::syntax {

class Place;

/// False when the furthest place and what stands before it are no known form.
bool report_known_form(const Place& place);

}  // namespace cepd::dsl::syntax
