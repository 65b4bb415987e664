#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "state/backend.h"
#include "state/directory_lock.h"

namespace cepd::state {

struct LmdbOptions {
  std::string directory;
  /// Size of the memory map, and apparent (sparse) size of data.mdb, of a new environment; doubled when full.
  std::size_t first_map_size_bytes = std::size_t{16} << 20;
  /// A commit that would need more fails with kNoSpace, unless it only erases. An environment that is larger already
  /// still opens.
  std::size_t largest_map_size_bytes = std::size_t{4} << 30;
};

/// One LMDB environment (data.mdb, lock.mdb) with one named database a Space. Each commit is one write transaction,
/// synced to disk. Keeps `lock` until it is destroyed: LMDB does not bear the same environment opened twice.
/// Errors: kCorrupt data.mdb is no environment, or cut off, or of another program; kIo; kNoSpace.
Result<std::unique_ptr<StateBackend>> open_lmdb(const LmdbOptions& options, DirectoryLock lock);

}  // namespace cepd::state
