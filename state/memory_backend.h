#pragma once
#include <memory>

#include "state/backend.h"

namespace cepd::state {

/// Keeps everything in memory and nothing after the process: for tests, replays and daemons that may forget.
std::unique_ptr<StateBackend> memory_backend();

}  // namespace cepd::state
