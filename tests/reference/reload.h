#pragma once
/// New sets of rules while the engine is at work: the trial's own with one change.

#include <string>

#include "tests/reference/trial.h"

namespace cepd::reference {

/// The text of the rules that are in place after `reload`: the trial's own with this one change, or just the trial's
/// own where the check refuses them with it.
std::string rules_after(const Trial& trial, const Reload& reload);

/// For people: `copy of r`.
std::string text_of(const Trial& trial, const Reload& reload);

}  // namespace cepd::reference
