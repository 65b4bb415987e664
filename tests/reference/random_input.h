#pragma once
#include "tests/reference/random.h"
#include "tests/reference/trial.h"

namespace cepd::reference {

/// Random events for the rules of `trial`: few types, small fields, equal times, several keys, gaps around the rules'
/// durations; sometimes several sources and partitions, late and out of order.
void add_random_input(Trial& trial, Random& random);

}  // namespace cepd::reference
