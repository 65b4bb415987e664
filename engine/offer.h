#pragma once

#include <cstdint>

#include "base/event.h"
#include "nfa/automaton.h"

namespace cepd::engine {

struct PrefixState;

/// One event as one key of one rule meets it.
struct Offer {
  const EventPtr* shown = nullptr;  ///< outlives the offer
  nfa::ElementSet elements = 0;     ///< elements (NOTs too) of its type that take this key from it
  std::uint64_t unless = 0;         ///< UNLESS clauses, likewise
  bool input = false;               ///< it is part of the rule's input
  bool starts = false;              ///< and a first element may accept it
  bool start_accepted = false;      ///< it does: there is one, and it was asked
  PrefixState* from = nullptr;      ///< and it may take this prefix's partial matches further; outlives the offer
  bool from_accepted = false;       ///< it does: there is one element ahead, which was asked
  bool joins_prefix = false;        ///< and it may come to wait in the rule's prefixes afterwards

  const EventPtr& event() const { return *shown; }
};

}  // namespace cepd::engine
