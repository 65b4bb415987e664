#include "state/checkpoint_slices.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/check.h"

namespace cepd::state {
namespace {

/// The least key that is greater.
std::string behind(std::string_view key) { return std::string(key) + '\0'; }

}  // namespace

/// One slice in the making.
class CheckpointSlices::Slice {
 public:
  explicit Slice(CheckpointSlices& owner) : owner_(owner) {}

  /// A key that has `before` and is to have `after`. Each key comes once in a checkpoint.
  void look_at(std::string_view key, const std::optional<std::string>& before, const std::optional<std::string>& after);
  bool full() const { return looked_at_ >= owner_.most_changes_ || bytes_ >= owner_.most_bytes_; }
  std::size_t room() const { return owner_.most_changes_ - looked_at_; }
  WriteBatch take() { return std::move(batch_); }

 private:
  CheckpointSlices& owner_;
  WriteBatch batch_;
  std::size_t looked_at_ = 0, bytes_ = 0;
};

void CheckpointSlices::Slice::look_at(std::string_view key, const std::optional<std::string>& before,
                                      const std::optional<std::string>& after) {
  ++looked_at_;
  const std::size_t old_bytes = before ? before->size() : 0;
  const std::size_t new_bytes = after ? after->size() : 0;
  bytes_ += key.size() + old_bytes + new_bytes;
  if (before == after) return;
  const Space space = kCheckpointSpaces[owner_.next_.at];
  Written& written = owner_.next_.written;
  ++written.changes;
  written.bytes += key.size() + new_bytes;
  if (before) written.sum.remove(space, key, *before);
  if (after) written.sum.add(space, key, *after);
  put_undo(batch_, owner_.number_, space, key, before);
  written.undo_bytes += batch_.changes().back().key.size() + batch_.changes().back().value.size();
  if (after) {
    batch_.put(space, std::string(key), *after);
  } else {
    batch_.erase(space, std::string(key));
  }
}

CheckpointSlices::CheckpointSlices(StateBackend& backend, std::uint64_t number, const StateSum& before,
                                   std::size_t most_changes, std::size_t most_bytes)
    : backend_(backend), number_(number), most_changes_(most_changes), most_bytes_(most_bytes) {
  now_.written.sum = before;
}

void CheckpointSlices::take_in(WriteBatch::Change change) {
  CEPD_CHECK(is_checkpoint_space(change.space));
  const auto* const at = std::find(std::begin(kCheckpointSpaces), std::end(kCheckpointSpaces), change.space);
  SpaceChanges& space = spaces_[static_cast<std::size_t>(at - std::begin(kCheckpointSpaces))];
  switch (change.kind) {
    case WriteBatch::Change::Kind::kPut:
      space.changes.insert_or_assign(std::move(change.key), std::move(change.value));
      break;
    case WriteBatch::Change::Kind::kErase:
      space.changes.insert_or_assign(std::move(change.key), std::nullopt);
      break;
    case WriteBatch::Change::Kind::kClear:
      space.changes.clear();
      space.cleared = true;
      break;
  }
}

Result<WriteBatch> CheckpointSlices::next() {
  next_ = now_;
  Slice slice(*this);
  while (next_.at < spaces_.size() && !slice.full())
    CEPD_TRY(spaces_[next_.at].cleared ? next_of_cleared(slice) : next_of_changed(slice));
  return slice.take();
}

void CheckpointSlices::next_space() {
  ++next_.at;
  next_.from.clear();
}

Status CheckpointSlices::next_of_changed(Slice& slice) {
  const Changes& changes = spaces_[next_.at].changes;
  for (auto it = changes.lower_bound(next_.from); it != changes.end(); ++it) {
    if (slice.full()) {
      next_.from = it->first;
      return {};
    }
    auto before = backend_.get(kCheckpointSpaces[next_.at], it->first);
    if (!before) return std::move(before).error();
    slice.look_at(it->first, *before, it->second);
  }
  next_space();
  return {};
}

/// Walks over what is stored and what changes together.
Status CheckpointSlices::next_of_cleared(Slice& slice) {
  std::vector<std::pair<std::string, std::string>> stored;
  bool all = true;
  std::size_t bytes = 0;
  CEPD_TRY(backend_.scan_from(kCheckpointSpaces[next_.at], next_.from,
                              [&](std::string_view key, std::string_view value) -> Result<bool> {
                                if (stored.size() >= slice.room() || bytes >= most_bytes_) {
                                  all = false;
                                  return false;
                                }
                                bytes += key.size() + value.size();
                                stored.emplace_back(key, value);
                                return true;
                              }));
  const Changes& changes = spaces_[next_.at].changes;
  auto change = changes.lower_bound(next_.from);
  auto record = stored.begin();
  while (!slice.full()) {
    const bool more_stored = record != stored.end();
    // What changes behind the last record that was read may be stored, too.
    if (!more_stored && !all) return {};
    const bool more_changes = change != changes.end();
    if (!more_stored && !more_changes) {
      next_space();
      return {};
    }
    const bool here = more_stored && (!more_changes || record->first <= change->first);
    const bool changed = more_changes && (!more_stored || change->first <= record->first);
    next_.from = behind(here ? record->first : change->first);
    slice.look_at(here ? record->first : change->first, here ? std::optional(record->second) : std::nullopt,
                  changed ? change->second : std::nullopt);
    if (here) ++record;
    if (changed) ++change;
  }
  return {};
}

void CheckpointSlices::durable() {
  const std::size_t was_at = std::exchange(now_, next_).at;
  for (std::size_t at = was_at; at < now_.at; ++at) spaces_[at].changes.clear();
  if (done()) return;
  Changes& changes = spaces_[now_.at].changes;
  changes.erase(changes.begin(), changes.lower_bound(now_.from));
}

}  // namespace cepd::state
