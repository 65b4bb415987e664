#pragma once
/// A whole state, with its checkpoints and journal, as one file that any machine reads.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "state/backend.h"

namespace cepd::state {

struct Transferred {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;  ///< of keys and values
};

/// Writes all records to `file`, which appears when it is whole and synced. Nobody may write to the state meanwhile.
/// Errors: kInvalidArgument: the file exists; kIo, kNoSpace; those of the backend.
Result<Transferred> export_state(StateBackend& backend, const std::string& file);

/// Puts the records of such a file into an empty state, the format version last: cut off, it is no state. The whole
/// file is checked before anything is written. Errors: kNotFound; kCorrupt: it is damaged or something else; kVersion;
/// kIo, kNoSpace; those of the backend.
Result<Transferred> import_state(StateBackend& backend, const std::string& file);

}  // namespace cepd::state
