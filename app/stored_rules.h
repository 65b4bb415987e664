#pragma once
/// The rule files as of the last checkpoint, so that a replay of the journal has the rules of its time.

#include <string>
#include <vector>

#include "base/result.h"
#include "state/backend.h"
#include "state/journal.h"

namespace cepd::app {

/// In the order of their names.
Result<std::vector<state::RuleText>> read_stored_rules(state::StateBackend& backend);

/// `files` take the place of what is stored.
void put_rules(state::WriteBatch& batch, std::vector<state::RuleText> files);

}  // namespace cepd::app
