#pragma once
/// Types that come from a source although rules make them (EMIT … INTO): allowed, with a warning. No rule file says
/// what comes from sources, so this shows with the first such event.

#include <optional>
#include <set>
#include <string>

#include "nfa/network.h"

namespace cepd::app {

class MadeTypes {
 public:
  /// The warning when an event of `type` has come from a source, once for each type.
  std::optional<std::string> from_source(const nfa::Network& network, TypeId type);

 private:
  std::set<std::string> noted_;
};

}  // namespace cepd::app
