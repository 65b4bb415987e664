#pragma once
/// The daemon's mirror: what a start takes up from it, and what is told of the copies.

#include <cstdint>
#include <memory>

#include "app/settings.h"
#include "state/mirror.h"

namespace cepd::app {

/// Where the configuration names a mirror that is to be restored from, and the state directory holds nothing: puts the
/// newest whole copy there. Errors: the mirror does not answer, or holds copies none of which is whole.
Status restore_from_mirror(const Settings& settings);

/// Begins to copy; null: the configuration names no mirror. `last`: the last finished checkpoint.
/// Before anything is written. Errors: those of the backend.
Result<std::unique_ptr<state::Mirror>> start_mirror(const Settings& settings, state::StateBackend& backend,
                                                    std::uint64_t last);

}  // namespace cepd::app
