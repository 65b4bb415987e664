#include "state/undo.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "state/checkpoint_records.h"
#include "state/layout.h"

namespace cepd::state {
namespace {

/// Of undo records in one transaction.
constexpr std::size_t kStepBytes = std::size_t{1} << 20;

/// Applies and removes all undo records whose keys begin with `prefix`.
Status take_back(StateBackend& backend, const std::string& prefix) {
  while (true) {
    auto records = read_undo(backend, prefix, kStepBytes);
    if (!records) return std::move(records).error();
    if (records->empty()) return {};
    WriteBatch batch;
    for (UndoRecord& record : *records) {
      batch.erase(Space::kUndo, undo_key(record.number, record.space, record.key));
      if (record.before) {
        batch.put(record.space, std::move(record.key), std::move(*record.before));
      } else {
        batch.erase(record.space, std::move(record.key));
      }
    }
    CEPD_TRY(backend.commit(batch));
  }
}

}  // namespace

Status undo_unfinished(StateBackend& backend, std::uint64_t number) {
  for (const Space space : kCheckpointSpaces) CEPD_TRY(take_back(backend, undo_key(number, space, {})));
  return {};
}

Status roll_back(StateBackend& backend, std::uint64_t number) {
  auto kept = list_checkpoints(backend);
  if (!kept) return std::move(kept).error();
  if (std::none_of(kept->begin(), kept->end(), [number](const auto& each) { return each.number == number; }))
    return error(Errc::kNotFound, "there is no checkpoint " + std::to_string(number));
  WriteBatch batch;
  put_number(batch, kRollbackKey, number);
  CEPD_TRY(backend.commit(batch));
  return finish_rollback(backend);
}

Status finish_rollback(StateBackend& backend) {
  const auto number = get_number(backend, kRollbackKey);
  if (!number) return number.error();
  if (!*number) return {};
  // The latest first, each step leaving the state as it was before that checkpoint.
  while (true) {
    auto last = backend.last_key(Space::kUndo);
    if (!last) return std::move(last).error();
    if (!*last) break;
    if ((*last)->size() <= kUndoPrefix) return error(Errc::kCorrupt, "a stored undo record does not read back");
    const std::uint64_t undone = read_ordered(**last);
    if (undone <= **number) break;
    CEPD_TRY(take_back(backend, ordered_key(undone)));
  }
  WriteBatch batch;
  auto kept = list_checkpoints(backend);
  if (!kept) return std::move(kept).error();
  for (const CheckpointInfo& info : *kept) {
    if (info.number == **number) put_sum(batch, info.live);
    if (info.number > **number) batch.erase(Space::kCheckpoints, ordered_key(info.number));
  }
  batch.erase(Space::kMeta, std::string(kRollbackKey));
  return backend.commit(batch);
}

Result<bool> drop_undo(StateBackend& backend, WriteBatch& batch, std::uint64_t through, std::size_t most) {
  bool more = false;
  CEPD_TRY(backend.scan_from(Space::kUndo, {}, [&](std::string_view key, std::string_view) -> Result<bool> {
    if (key.size() <= kUndoPrefix) return error(Errc::kCorrupt, "a stored undo record does not read back");
    if (read_ordered(key) > through) return false;
    if (most == 0) {
      more = true;
      return false;
    }
    --most;
    batch.erase(Space::kUndo, std::string(key));
    return true;
  }));
  return more;
}

}  // namespace cepd::state
