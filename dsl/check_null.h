#pragma once
/// Whether a condition can hold on an event before which its match has bound nothing. Internal to dsl/check*.cc.

#include <optional>

#include "dsl/plan.h"

namespace cepd::dsl::checking {

/// What is certainly null: `prev` (no event was bound before), and `first`, `last`, index and aggregates other than
/// `count` of the element `own` (it has taken nothing yet).
struct NothingYet {
  bool previous = true;
  plan::ElementId own{};
};

/// False when `condition` cannot be true whatever everything else is.
bool can_be_true(const plan::Expr& condition, const NothingYet& nothing);

}  // namespace cepd::dsl::checking
