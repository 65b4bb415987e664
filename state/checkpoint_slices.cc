#include "state/checkpoint_slices.h"

#include <map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "state/checkpoint_records.h"

namespace cepd::state {

/// One slice in the making. A key that changes twice in it is written once.
class CheckpointSlices::Slice {
 public:
  Slice(CheckpointSlices& owner) : owner_(owner) {}

  Status change(Space space, const std::string& key, std::optional<std::string> after);
  /// Erases what is in the space from `from` on, as much as fits. Requires empty(): it looks at what is stored.
  /// Returns where to go on; nothing at the end of the space.
  Result<std::optional<std::string>> clear(Space space, const std::string& from);

  bool empty() const { return final_.empty(); }
  bool full() const { return looked_at_ >= owner_.most_changes_ || bytes_ >= owner_.most_bytes_; }
  WriteBatch take();

 private:
  using Key = std::pair<Space, std::string>;

  CheckpointSlices& owner_;
  std::map<Key, std::optional<std::string>> final_;  // what the keys have after the slice
  WriteBatch undo_;
  std::size_t looked_at_ = 0, bytes_ = 0;
};

Status CheckpointSlices::Slice::change(Space space, const std::string& key, std::optional<std::string> after) {
  ++looked_at_;
  const auto [it, first] = final_.try_emplace({space, key});
  if (first) {
    auto stored = owner_.backend_.get(space, key);
    if (!stored) return std::move(stored).error();
    it->second = std::move(*stored);
  }
  std::optional<std::string>& value = it->second;
  if (value == after) {
    if (first) final_.erase(it);
    return {};
  }
  Written& written = owner_.next_.written;
  if (first) {
    // An earlier slice of this checkpoint may have changed it, and kept what it was before.
    auto kept = owner_.backend_.get(Space::kUndo, undo_key(owner_.number_, space, key));
    if (!kept) return std::move(kept).error();
    if (!*kept) put_undo(undo_, owner_.number_, space, key, value);
    ++written.changes;
    written.bytes += key.size();
    bytes_ += key.size();
  }
  if (value) written.sum.remove(space, key, *value);
  if (after) {
    written.sum.add(space, key, *after);
    written.bytes += after->size();
    bytes_ += after->size();
  }
  value = std::move(after);
  return {};
}

Result<std::optional<std::string>> CheckpointSlices::Slice::clear(Space space, const std::string& from) {
  std::vector<std::string> keys;
  std::optional<std::string> rest;
  std::size_t bytes = 0;  // that go into the undo records
  CEPD_TRY(owner_.backend_.scan_from(space, from, [&](std::string_view key, std::string_view value) -> Result<bool> {
    if (keys.size() >= owner_.most_changes_ || bytes >= owner_.most_bytes_) {
      rest = key;
      return false;
    }
    bytes += value.size();
    keys.emplace_back(key);
    return true;
  }));
  for (const std::string& key : keys) CEPD_TRY(change(space, key, std::nullopt));
  return rest;
}

WriteBatch CheckpointSlices::Slice::take() {
  owner_.next_.written.undo_bytes += undo_.bytes();
  WriteBatch batch = std::move(undo_);
  for (auto& [key, value] : final_) {
    if (value) {
      batch.put(key.first, key.second, std::move(*value));
    } else {
      batch.erase(key.first, key.second);
    }
  }
  return batch;
}

CheckpointSlices::CheckpointSlices(StateBackend& backend, std::uint64_t number, const StateSum& before,
                                   std::size_t most_changes, std::size_t most_bytes)
    : backend_(backend), number_(number), most_changes_(most_changes), most_bytes_(most_bytes) {
  now_.written.sum = before;
}

void CheckpointSlices::give(WriteBatch changes) {
  CEPD_CHECK(done());
  changes_ = std::move(changes);
  given_bytes_ = changes_.bytes();
  now_.at = 0;
}

Result<WriteBatch> CheckpointSlices::next() {
  next_ = now_;
  Slice slice(*this);
  while (next_.at < changes_.changes().size() && !slice.full()) {
    const WriteBatch::Change& change = changes_.changes()[next_.at];
    CEPD_CHECK(is_checkpoint_space(change.space));
    if (change.kind == WriteBatch::Change::Kind::kClear) {
      if (!slice.empty()) break;
      auto rest = slice.clear(change.space, next_.clearing.value_or(std::string()));
      if (!rest) return std::move(rest).error();
      next_.clearing = std::move(*rest);
      if (!next_.clearing) ++next_.at;
      break;
    }
    std::optional<std::string> after;
    if (change.kind == WriteBatch::Change::Kind::kPut) after = change.value;
    CEPD_TRY(slice.change(change.space, change.key, std::move(after)));
    ++next_.at;
  }
  return slice.take();
}

}  // namespace cepd::state
