#pragma once
/// Which rules feed a rule and which it feeds, for people.

#include <string>

#include "nfa/network.h"

namespace cepd::nfa {

/// Lines of explain: the rule's level, and where there are any, the rules whose events it reads and the rules that read
/// its own.
std::string chain_text(const Network& network, std::size_t rule);

}  // namespace cepd::nfa
