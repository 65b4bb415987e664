#include "state/backend.h"

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

std::size_t WriteBatch::bytes() const {
  std::size_t sum = 0;
  for (const Change& change : changes_) sum += change.key.size() + change.value.size();
  return sum;
}

bool key_fits(Space space, std::string_view key) {
  return !key.empty() && key.size() <= kLongestKey + (space == Space::kUndo ? kUndoPrefix : 0);
}

}  // namespace cepd::state
