#pragma once
/// Rules that read what other rules make (EMIT … INTO): their levels, and cycles, which are errors. Internal to
/// dsl/check*.cc.

#include <cstdint>
#include <vector>

#include "dsl/ast.h"
#include "dsl/check_report.h"

namespace cepd::dsl::checking {

struct ChainRule {
  const ast::Rule* rule = nullptr;
  Reporter* report = nullptr;
  std::uint32_t file = 0;  ///< its number
};

/// The types that `rule` makes, where they are written: of EMIT, of ON TIMEOUT.
std::vector<const ast::Name*> made_types(const ast::Rule& rule);

/// Levels in the order of `rules`: 1 for a rule that reads no type that one of `rules` makes, else one more than the
/// highest of their makers (language-details.md section 2). 0: the rule is in a cycle or reads from one.
std::vector<std::uint32_t> chain_levels(const std::vector<ChainRule>& rules);

/// Reports each cycle at its first member's INTO, the others named with their places.
void report_cycles(const std::vector<ChainRule>& rules);

}  // namespace cepd::dsl::checking
