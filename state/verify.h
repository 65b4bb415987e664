#pragma once
/// Recomputes what was stored about each checkpoint from what is there. Only reads; nobody may write meanwhile.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "state/backend.h"
#include "state/checkpoint_records.h"

namespace cepd::state {

struct Verification {
  struct Checkpoint {
    CheckpointInfo info;
    bool good = false;  ///< going back to it gives exactly the records that it had
  };
  std::vector<Checkpoint> checkpoints;  ///< oldest first
  std::vector<std::string> problems;    ///< whatever does not read back or fit, in words
  std::uint64_t records = 0;            ///< of state, undo and journal that were looked at
  bool good() const { return problems.empty(); }
};

/// Every record of the state, its undo records and the journal. Any single changed byte of a key or value makes it not
/// good. Errors: those of the backend; what is damaged is no error but a problem.
Result<Verification> verify_state(StateBackend& backend);

}  // namespace cepd::state
