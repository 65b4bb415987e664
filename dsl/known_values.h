#pragma once
/// Mistakes in durations, numbers and conditions. Internal to dsl/.

namespace cepd::dsl::syntax {

class Place;

bool report_value_mistake(const Place& place);

}  // namespace cepd::dsl::syntax
