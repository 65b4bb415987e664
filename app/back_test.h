#pragma once
/// `cepd replay --rules NEW --against OLD`: what two sets of rules make of the same events.

#include "app/commands.h"

namespace cepd::app {

/// Prints the matches that only one of the two sets has, and a table of both to standard error.
int back_test(const ReplayArguments& arguments, const InputOptions& options);

}  // namespace cepd::app
