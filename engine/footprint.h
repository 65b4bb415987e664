#pragma once
/// What partial matches take in memory.

#include <cstddef>

#include "engine/key_state.h"

namespace cepd::engine {

/// Of one rule and key, with the events that its partial matches hold: an event that several rules hold counts for each
/// of them. Not the key itself, which they share. Cost: O(cells).
std::size_t bytes_of(const KeyState& state);
/// Of one prefix and key, likewise: of all its rules together.
std::size_t bytes_of(const PrefixState& state);

}  // namespace cepd::engine
