#pragma once
/// Random rules and sets of rules over the whole language of sections 2 to 5, small enough for their matches to be
/// enumerated.

#include <functional>
#include <optional>
#include <string>
#include <vector>

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

/// What a rule finds around it and is wanted for.
struct Surroundings {
  std::string name = "r";
  std::vector<std::string> made = {};             ///< types that other rules make, for it to read
  std::optional<std::string> into = {};           ///< what it makes of its matches
  std::optional<std::string> into_late = {};      ///< what it makes of its time-outs, if it reports any
  std::optional<std::string> few = {}, gap = {};  ///< constants, a number and a duration
};
dsl::ast::Rule random_rule(Random& random, const Constructs& constructs, const Surroundings& around = {});

/// Often several rules, of which later ones read what earlier ones make; some constants. Each rule is made anew until
/// `passes` says yes to the file with it.
using Statements = std::vector<dsl::ast::Statement>;
Statements random_rules(Random& random, const Constructs& constructs,
                        const std::function<bool(const Statements&)>& passes);

}  // namespace cepd::reference
