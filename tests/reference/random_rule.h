#pragma once
/// Random rules over the whole language of sections 2 to 5, small enough for their matches to be enumerated.

#include "dsl/ast.h"
#include "tests/reference/random.h"

namespace cepd::reference {

/// What may occur. A construct that the check refuses everywhere can be turned off.
struct Constructs {
  bool alternatives = true;  ///< OR
  bool both = true;          ///< AND
  bool groups = true;
  bool link_bounds = true;
  bool greedy = true;
  bool until = true;
  bool consecutive = true;
  bool combinations = true;
};

dsl::ast::Rule random_rule(Random& random, const Constructs& constructs);

}  // namespace cepd::reference
