#pragma once
/// What a kept checkpoint consists of, read from a state that others go on writing to: by what is there now and by what
/// later checkpoints and group commits have kept of what they overwrote (undo records, checkpoints.h).

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "state/backend.h"

namespace cepd::state {

/// May use the backend.
using ChangeVisitor = std::function<Status(WriteBatch::Change change)>;

/// Calls `visit` with puts and erasures that make all checkpoint and live spaces, empty before, what they were at
/// checkpoint `number`. One key may come several times: the last one counts. Any thread; memory: a page of records.
/// Errors: kNotFound: the checkpoint is not kept, or was dropped meanwhile; those of `visit` and of the backend.
Status visit_checkpoint(StateBackend& backend, std::uint64_t number, const ChangeVisitor& visit);

/// The same from what they were at checkpoint `from`, an earlier one that is kept, too.
Status visit_changes(StateBackend& backend, std::uint64_t from, std::uint64_t number, const ChangeVisitor& visit);

}  // namespace cepd::state
