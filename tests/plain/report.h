#pragma once
/// Candidate -> Match: id, key, emitted items and the arguments of its actions.

#include "base/match.h"
#include "tests/plain/run.h"

namespace cepd::plain {

/// A match that is suppressed (over its LIMIT) or of a SHADOW rule has no action calls.
MatchPtr make_match(MatchKind kind, const nfa::Network& network, const dsl::plan::Rule& rule,
                    const std::vector<Bound>& bound, EventTime time, bool suppressed);

/// HAVING on a complete match.
bool having_holds(const nfa::Network& network, const dsl::plan::Rule& rule, const KeyState& state,
                  const std::vector<Bound>& bound);

}  // namespace cepd::plain
