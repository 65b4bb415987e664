#pragma once
/// Candidate -> Match: id, key, emitted items and the arguments of its actions.

#include <memory>

#include "base/match.h"
#include "engine/run.h"

namespace cepd::engine {

/// The id of language-details.md section 5: XXH3-128 over kind, rule name, key and, per element, its events' positions.
MatchId match_id(MatchKind kind, const dsl::plan::Rule& rule, const std::string& key_id,
                 const std::vector<Bound>& bound);

/// A match that is suppressed (over its LIMIT) or of a SHADOW rule has no action calls.
/// `errors` counts unknowns of the expressions.
MatchPtr make_match(MatchKind kind, const nfa::Network& network, const dsl::plan::Rule& rule, const KeyState& state,
                    const std::vector<Bound>& bound, EventTime time, bool suppressed, nfa::EvalErrors& errors);

/// HAVING on a complete match.
bool having_holds(const nfa::Network& network, const dsl::plan::Rule& rule, const KeyState& state,
                  const std::vector<Bound>& bound, Arena& scratch, nfa::EvalErrors& errors);

}  // namespace cepd::engine
