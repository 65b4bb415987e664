#pragma once
#include <vector>

#include "base/match.h"
#include "state/outbox.h"

namespace cepd::app {

/// The outbox records of a match's actions. Keys: the match id, and for the n-th further call of one action `<id>-n` (n
/// from 2).
std::vector<state::OutboxRecord> action_calls(const Match& match);

}  // namespace cepd::app
