#include "state/changes_since.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "state/checkpoint_records.h"
#include "state/layout.h"

namespace cepd::state {
namespace {

using Change = WriteBatch::Change;

/// Of records read in one go: the backend must not be used meanwhile.
constexpr std::size_t kPageBytes = std::size_t{1} << 20;

Change change_to(Space space, std::string key, std::optional<std::string> value) {
  if (!value) return {Change::Kind::kErase, space, std::move(key), {}};
  return {Change::Kind::kPut, space, std::move(key), std::move(*value)};
}

Status visit_space(StateBackend& backend, Space space, const ChangeVisitor& visit) {
  std::string from;
  while (true) {
    std::vector<Change> page;
    std::size_t bytes = 0;
    CEPD_TRY(backend.scan_from(space, from, [&](std::string_view key, std::string_view value) -> Result<bool> {
      bytes += key.size() + value.size();
      page.push_back({Change::Kind::kPut, space, std::string(key), std::string(value)});
      return bytes < kPageBytes;
    }));
    if (page.empty()) return {};
    from = page.back().key + '\0';  // the next key there can be
    for (Change& change : page) CEPD_TRY(visit(std::move(change)));
  }
}

/// What was there before the changes that were kept under `number`.
template <class Visit>
Status each_undo(StateBackend& backend, std::uint64_t number, const Visit& visit) {
  const std::string prefix = ordered_key(number);
  std::optional<UndoRecord> last;
  while (true) {
    auto page = read_undo(backend, prefix, kPageBytes, last ? &*last : nullptr);
    if (!page) return std::move(page).error();
    if (page->empty()) return {};
    last = UndoRecord{number, page->back().space, page->back().key, std::nullopt};
    for (UndoRecord& undo : *page) CEPD_TRY(visit(std::move(undo)));
  }
}

/// What was read is as of now. What has changed since `number` is put right by the value that was overwritten first:
/// the latest come first, as the last one counts. Whatever was changed before it was read here is among them, as undo
/// records are committed with the change.
Status visit_corrections(StateBackend& backend, std::uint64_t number, const ChangeVisitor& visit) {
  const auto last = backend.last_key(Space::kUndo);
  if (!last) return last.error();
  if (!*last || (*last)->size() <= kUndoPrefix) return {};
  for (std::uint64_t later = read_ordered(**last); later > number; --later) {
    CEPD_TRY(each_undo(backend, later, [&](UndoRecord undo) {
      return visit(change_to(undo.space, std::move(undo.key), std::move(undo.before)));
    }));
  }
  return {};
}

/// Undo records behind `number` are dropped only after a checkpoint before or at it is not listed any more.
Status must_be_kept(StateBackend& backend, std::uint64_t number) {
  const auto kept = list_checkpoints(backend);
  if (!kept) return kept.error();
  const bool found =
      std::any_of(kept->begin(), kept->end(), [number](const CheckpointInfo& info) { return info.number == number; });
  return found ? Status{} : error(Errc::kNotFound, "checkpoint " + std::to_string(number) + " is not kept any more");
}

}  // namespace

Status visit_checkpoint(StateBackend& backend, std::uint64_t number, const ChangeVisitor& visit) {
  for (const Space space : kCheckpointSpaces) CEPD_TRY(visit_space(backend, space, visit));
  for (const Space space : kLiveSpaces) CEPD_TRY(visit_space(backend, space, visit));
  CEPD_TRY(visit_corrections(backend, number, visit));
  return must_be_kept(backend, number);
}

Status visit_changes(StateBackend& backend, std::uint64_t from, std::uint64_t number, const ChangeVisitor& visit) {
  for (std::uint64_t each = from + 1; each <= number; ++each) {
    CEPD_TRY(each_undo(backend, each, [&](UndoRecord undo) -> Status {
      auto now = backend.get(undo.space, undo.key);
      if (!now) return std::move(now).error();
      return visit(change_to(undo.space, std::move(undo.key), std::move(*now)));
    }));
  }
  CEPD_TRY(visit_corrections(backend, number, visit));
  CEPD_TRY(must_be_kept(backend, number));
  return must_be_kept(backend, from);
}

}  // namespace cepd::state
