#pragma once
/// The copies of one state in a mirror: adds one, drops those that are not wanted any more, and makes a state of one.
///
/// A copy has what changed since the one before it, so that one costs what its checkpoint did. Now and then one has
/// all, and takes the place of what is older than those that are kept.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "state/mirror_format.h"
#include "state/mirror_store.h"

namespace cepd::state {

/// For one thread.
class MirrorCopies {
 public:
  /// `identity`: the state's. `keep`: so many can be restored; at least 1. They outlive it.
  MirrorCopies(StateBackend& backend, MirrorStore& store, std::string identity, std::size_t keep);

  struct Added {
    std::uint64_t changes = 0, bytes = 0;  ///< of keys and values
    std::uint64_t stored_bytes = 0;
    bool full = false;
  };
  /// Copies a kept checkpoint while others go on writing to the state. Errors: kNotFound: it is not kept any more;
  /// kInvalidArgument: the mirror holds what is no copy of this state; those of the store and of the backend.
  Result<Added> add(std::uint64_t number);

 private:
  Result<std::uint64_t> find_previous(std::uint64_t number, const std::vector<CheckpointInfo>& kept) const;
  Status read_manifests();
  Status trim();
  bool wants_full(std::uint64_t previous) const;

  StateBackend& backend_;
  MirrorStore& store_;
  const std::string identity_;
  const std::size_t keep_;
  std::map<std::uint64_t, MirrorManifest> published_;
};

struct RestoredCopy {
  CheckpointInfo checkpoint;
  std::uint64_t records = 0;
  std::vector<std::string> damaged;  ///< newer copies that could not be taken, and why, newest first
};
/// All that can be restored, oldest first; a manifest that does not read back is told in `problems`.
Result<std::vector<MirrorManifest>> list_copies(MirrorStore& store, std::vector<std::string>& problems);

/// Puts the newest copy that is whole, or exactly copy `number`, into an empty state, the format version last: cut off,
/// it is no state. Every chunk and the whole are checked. The journal is empty then, and goes on behind the checkpoint.
/// Errors: kNotFound: there is no copy; kCorrupt: none is whole; those of the store and of the backend.
Result<RestoredCopy> restore_copy(MirrorStore& store, StateBackend& backend, std::optional<std::uint64_t> number);

}  // namespace cepd::state
