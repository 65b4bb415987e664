#include "dsl/plan.h"

#include <algorithm>

namespace cepd::dsl::plan {

bool nullable(const Step& step, const std::vector<Slot>& slots) {
  if (const auto* slot = std::get_if<SlotId>(&step.item)) return slots[static_cast<std::size_t>(*slot)].min == 0;
  if (std::holds_alternative<NotStep>(step.item)) return true;
  if (const auto* group = std::get_if<Group>(&step.item)) return group->min == 0 || nullable(group->body, slots);
  const auto& branches = std::get<Alternatives>(step.item).branches;
  return std::any_of(branches.begin(), branches.end(), [&](const Sequence& branch) { return nullable(branch, slots); });
}

bool nullable(const Sequence& sequence, const std::vector<Slot>& slots) {
  return std::all_of(sequence.steps.begin(), sequence.steps.end(),
                     [&](const Step& step) { return nullable(step, slots); });
}

}  // namespace cepd::dsl::plan
