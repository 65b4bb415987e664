/// Whether the bounds of links and groups limit the time from the first event to the last.

#include <algorithm>

#include "dsl/check_pattern_tree.h"

namespace cepd::dsl::checking {
namespace {

using What = Waiting::What;

class BoundSearch {
 public:
  explicit BoundSearch(const std::vector<plan::Slot>& slots) : slots_(slots) {}

  /// `first`: no event comes before the sequence; `last`: none after it.
  std::optional<Waiting> in(const plan::Sequence& sequence, bool first, bool last) const {
    for (std::size_t i = 0; i < sequence.steps.size(); ++i) {
      const plan::Step& step = sequence.steps[i];
      if (std::holds_alternative<plan::NotStep>(step.item)) {
        // A NOT between waits for what follows it; a last one by itself.
        const bool ends = last && std::all_of(sequence.steps.begin() + static_cast<std::ptrdiff_t>(i),
                                              sequence.steps.end(), [](const plan::Step& each) {
                                                return std::holds_alternative<plan::NotStep>(each.item);
                                              });
        if (ends && !step.link.within) return Waiting{&step, What::kEvent};
        continue;
      }
      if (!first && !step.link.within) return Waiting{&step, What::kEvent};
      const bool at_end = last && i + 1 == sequence.steps.size();
      if (auto found = inside(step, first, at_end)) return found;
      first = false;
    }
    return std::nullopt;
  }

 private:
  std::optional<Waiting> inside(const plan::Step& step, bool first, bool last) const {
    if (const auto* id = std::get_if<plan::SlotId>(&step.item)) {
      const plan::Slot& slot = slots_[static_cast<std::size_t>(*id)];
      if (slot.max > 1) return Waiting{&step, What::kRepeats};
      if (slot.members.size() > 1) return Waiting{&step, What::kMembers};
      return std::nullopt;
    }
    if (const auto* group = std::get_if<plan::Group>(&step.item)) {
      if (group->max > 1) return Waiting{&step, What::kRepeats};
      return group->within ? entry(group->body, first) : in(group->body, first, last);
    }
    for (const plan::Sequence& branch : std::get<plan::Alternatives>(step.item).branches) {
      if (auto found = in(branch, first, last)) return found;
    }
    return std::nullopt;
  }

  /// Of a sequence that is bounded once it has begun: how its first event is reached, whichever it is.
  std::optional<Waiting> entry(const plan::Sequence& sequence, bool first) const {
    if (first) return std::nullopt;
    for (const plan::Step& step : sequence.steps) {
      if (std::holds_alternative<plan::NotStep>(step.item)) continue;
      if (!step.link.within) return Waiting{&step, What::kEvent};
      if (const auto* group = std::get_if<plan::Group>(&step.item)) {
        if (auto found = entry(group->body, first)) return found;
      } else if (const auto* alternatives = std::get_if<plan::Alternatives>(&step.item)) {
        for (const plan::Sequence& branch : alternatives->branches) {
          if (auto found = entry(branch, first)) return found;
        }
      }
      if (!nullable(step, slots_)) break;
    }
    return std::nullopt;
  }

  const std::vector<plan::Slot>& slots_;
};

}  // namespace

std::optional<Waiting> waiting_part(const plan::Sequence& pattern, const std::vector<plan::Slot>& slots) {
  return BoundSearch(slots).in(pattern, true, true);
}

}  // namespace cepd::dsl::checking
