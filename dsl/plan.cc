#include "dsl/plan.h"

#include <algorithm>
#include <bit>

namespace cepd::dsl::plan {

bool Constant::operator==(const Constant& other) const {
  const auto bits = [](const Value& value) {
    return value.kind() == Kind::kDouble ? std::bit_cast<std::int64_t>(value.as_double()) : value.as_int();
  };
  return kind == other.kind && text == other.text && scalar.kind() == other.scalar.kind() &&
         bits(scalar) == bits(other.scalar);
}

bool Sequence::operator==(const Sequence&) const = default;

bool nullable(const Step& step, std::span<const Slot> slots) {
  if (const auto* slot = std::get_if<SlotId>(&step.item)) return slots[static_cast<std::size_t>(*slot)].min == 0;
  if (std::holds_alternative<NotStep>(step.item)) return true;
  if (const auto* group = std::get_if<Group>(&step.item)) return group->min == 0 || nullable(group->body, slots);
  const auto& branches = std::get<Alternatives>(step.item).branches;
  return std::any_of(branches.begin(), branches.end(), [&](const Sequence& branch) { return nullable(branch, slots); });
}

bool nullable(const Sequence& sequence, std::span<const Slot> slots) {
  return std::all_of(sequence.steps.begin(), sequence.steps.end(),
                     [&](const Step& step) { return nullable(step, slots); });
}

}  // namespace cepd::dsl::plan
