#pragma once
/// What rules became, for people.

#include <string>

#include "nfa/network.h"

namespace cepd::nfa {

/// What rules have in common: keys that are looked up once for several, and prefixes (nfa/prefixes.h) whose partial
/// matches are kept once for several, with the rules. Empty when they have nothing.
std::string explain_sharing(const Network& network);

/// The rule's input, key, bound, policy, states and links in text, one screen for a usual rule. The rule itself stands
/// above where the set was loaded with CheckOptions::texts.
std::string explain(const Network& network, std::size_t rule);

/// The same states and links as a Graphviz digraph.
std::string explain_dot(const Network& network, std::size_t rule);

}  // namespace cepd::nfa
