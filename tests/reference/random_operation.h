#pragma once
#include "tests/reference/random.h"
#include "tests/reference/trial.h"

namespace cepd::reference {

/// What the language does not speak of: reloads at any place of the input, a small cap on partial matches, a state TTL.
/// At least one of them.
void add_random_operation(Trial& trial, Random& random);

}  // namespace cepd::reference
