#pragma once
/// Mistakes that are made often, and what to write instead (language-details.md section 1). Internal to dsl/.

#include <string_view>

#include "dsl/grammar.h"

namespace cepd::dsl::syntax {

/// Looks at the tokens around the furthest place of `progress`. False when they are no known mistake.
bool report_known_mistake(const Progress& progress, std::string_view text, Problems& problems);

}  // namespace cepd::dsl::syntax
