#include "state/backend.h"

#include <set>
#include <utility>

namespace cepd::state {

std::string_view space_name(Space space) {
  switch (space) {
    case Space::kMeta:
      return "meta";
    case Space::kEngine:
      return "engine";
    case Space::kPartial:
      return "partial";
    case Space::kPending:
      return "pending";
    case Space::kPositions:
      return "positions";
    case Space::kOutbox:
      return "outbox";
    case Space::kJournal:
      return "journal";
    case Space::kUndo:
      return "undo";
    case Space::kCheckpoints:
      return "checkpoints";
    case Space::kRules:
      return "rules";
    case Space::kDelivered:
      return "delivered";
  }
  return "?";
}

void WriteBatch::drop_overwritten() {
  std::set<std::pair<Space, std::string_view>> later;
  std::set<Space> cleared;
  std::vector<bool> stays(changes_.size());
  for (std::size_t i = changes_.size(); i-- > 0;) {
    const Change& change = changes_[i];
    if (cleared.contains(change.space)) continue;
    stays[i] = change.kind == Change::Kind::kClear ? cleared.insert(change.space).second
                                                   : later.emplace(change.space, change.key).second;
  }
  std::vector<Change> kept;
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    if (stays[i]) kept.push_back(std::move(changes_[i]));
  }
  changes_ = std::move(kept);
}

std::size_t WriteBatch::bytes() const {
  std::size_t sum = 0;
  for (const Change& change : changes_) sum += change.key.size() + change.value.size();
  return sum;
}

bool key_fits(Space space, std::string_view key) {
  return !key.empty() && key.size() <= kLongestKey + (space == Space::kUndo ? kUndoPrefix : 0);
}

}  // namespace cepd::state
