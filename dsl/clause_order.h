#pragma once
/// Clauses that stand in the wrong place. Internal to dsl/.

#include "dsl/grammar.h"

namespace cepd::dsl::syntax {

/// A clause could stand at the furthest place of `progress`: nothing else is missing there.
bool between_clauses(const Progress& progress);

/// Reports a clause of a rule that comes too late, twice, or not at all before the furthest place of `progress`. False
/// when no clause begins there.
bool report_clause_order(const Progress& progress, Problems& problems);

}  // namespace cepd::dsl::syntax
