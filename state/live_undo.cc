#include "state/live_undo.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/check.h"

namespace cepd::state {
namespace {

using Key = std::pair<Space, std::string>;

/// What a key has at this point of a group.
Result<std::optional<std::string>> value_of(StateBackend& backend,
                                            const std::map<Key, std::optional<std::string>>& changed, const Key& key) {
  if (const auto it = changed.find(key); it != changed.end()) return it->second;
  return backend.get(key.first, key.second);
}

}  // namespace

Result<WriteBatch> LiveUndo::beside(const WriteBatch& group) {
  WriteBatch out;
  next_ = now_;
  std::map<Key, std::optional<std::string>> changed;
  std::set<std::string> kept;  // keys of undo records in `out`
  for (const WriteBatch::Change& change : group.changes()) {
    if (change.space == Space::kMeta && change.key == kBegunKey) {
      auto number = decode_number(kBegunKey, change.value);
      CEPD_CHECK(number.has_value() && *number >= next_.next_checkpoint);
      next_.barrier = Barrier{*number, next_.sum};
      next_.next_checkpoint = *number + 1;
      continue;
    }
    CEPD_CHECK(!is_checkpoint_space(change.space));
    if (!is_live_space(change.space)) continue;
    CEPD_CHECK(change.kind != WriteBatch::Change::Kind::kClear);
    const Key key{change.space, change.key};
    auto before = value_of(backend_, changed, key);
    if (!before) return std::move(before).error();
    std::optional<std::string> after;
    if (change.kind == WriteBatch::Change::Kind::kPut) after = change.value;
    if (*before == after) continue;

    if (*before) next_.sum.remove(change.space, change.key, **before);
    if (after) next_.sum.add(change.space, change.key, *after);
    // The first change on the way to a checkpoint is the one to be undone.
    if (std::string at = undo_key(next_.next_checkpoint, change.space, change.key); !kept.contains(at)) {
      auto stored = backend_.get(Space::kUndo, at);
      if (!stored) return std::move(stored).error();
      if (!*stored) put_undo(out, next_.next_checkpoint, change.space, change.key, *before);
      kept.insert(std::move(at));
    }
    changed[key] = std::move(after);
  }
  if (!changed.empty()) put_sum(out, next_.sum);
  return out;
}

std::optional<Barrier> LiveUndo::durable() {
  now_ = next_;
  return std::exchange(now_.barrier, std::nullopt);
}

}  // namespace cepd::state
