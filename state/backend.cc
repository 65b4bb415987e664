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
  }
  return "?";
}

}  // namespace cepd::state
