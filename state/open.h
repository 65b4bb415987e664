#pragma once
/// Opens the configured state backend and takes the state directory for this process.

#include <memory>

#include "config/options.h"
#include "state/backend.h"
#include "state/lmdb_backend.h"
#include "state/memory_backend.h"

namespace cepd::state {

/// `state:` in the configuration: backend, directory, interval (between checkpoints), keep (how many), map_size (LMDB's
/// largest size).
const config::OptionTable& option_table();

/// Creates the directory where it is missing, locks it, opens the backend and checks its format version.
/// Errors, each in words an operator understands: kIo the directory cannot be made or written; kBusy another cepd has
/// it (the message names its process id); kVersion the state is of another format version; kCorrupt it does not read;
/// kNoSpace the disk is full. The directory stays locked until the backend is destroyed. The memory backend has none.
Result<std::unique_ptr<StateBackend>> open_backend(const config::Options& options);

/// What `cepd state` opens: as open_backend() does, but makes nothing that is not there, and upgrades nothing.
/// Errors, besides: kNotFound: there is no state in the directory.
Result<std::unique_ptr<StateBackend>> open_existing(const LmdbOptions& options);

/// For an import: makes the directory where it is missing, and leaves the format version out. Errors, besides:
/// kInvalidArgument: there is state in the directory.
Result<std::unique_ptr<StateBackend>> open_empty(const LmdbOptions& options);

/// The lmdb backend's options in `state:`.
LmdbOptions lmdb_options(const config::Options& options);

}  // namespace cepd::state
