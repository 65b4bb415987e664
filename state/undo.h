#pragma once
/// Going back to an earlier state by what was kept of it. Nobody else may use the state meanwhile.

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "state/backend.h"

namespace cepd::state {

/// Takes back what checkpoint `number`, which was not finished, has written. What group commits wrote stays.
Status undo_unfinished(StateBackend& backend, std::uint64_t number);

/// Makes everything (but the journal, which leads on from there) as it was at checkpoint `number`; later checkpoints
/// are gone. Cut off, it is ended by finish_rollback(). Errors: kNotFound: it is not kept; kCorrupt; those of the
/// backend.
Status roll_back(StateBackend& backend, std::uint64_t number);
/// Ends a rollback that was cut off, where there is one.
Status finish_rollback(StateBackend& backend);

/// Puts into `batch` the removal of undo records of checkpoint `through` and older ones, at most `most`. True when
/// there may be more.
Result<bool> drop_undo(StateBackend& backend, WriteBatch& batch, std::uint64_t through, std::size_t most);

}  // namespace cepd::state
