#pragma once
/// What rules make for each other: EMIT … INTO (language.md section 5, language-details.md sections 2 and 5).

#include "tests/reference/reference.h"

namespace cepd::reference {

/// "A rule that reads no derived type has level 1, any other one more than the highest it reads." By index.
std::vector<std::uint32_t> levels_of(const std::vector<Rule>& rules);

/// The emitted items by name; "without EMIT the key fields are emitted".
std::vector<std::pair<std::string, Value>> items_of(const Rule& rule, const Result& result, Arena& arena);

/// The events that a rule's results make, in the order of the results.
std::vector<EventPtr> made_by(const Rule& rule, std::vector<Result>& results);

}  // namespace cepd::reference
