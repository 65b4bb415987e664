#pragma once
/// Section 5 over all runs of a rule and key: which complete matches are taken, what they drop, and the time-outs.

#include "tests/reference/reference.h"

namespace cepd::reference {

/// In the order of results; LIMIT not applied yet. `runs`: parents before children.
std::vector<Result> after_match(const Rule& rule, const Key& key, const std::vector<std::unique_ptr<Run>>& runs);

}  // namespace cepd::reference
