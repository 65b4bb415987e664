#pragma once
/// EMIT … INTO: the type that is made, against its EVENT declaration. Internal to dsl/check*.cc.

#include <optional>

#include "dsl/check_action.h"

namespace cepd::dsl::checking {

/// The type that `emit` makes, none without INTO. Notes in SetContext::made which fields its events have. Requires that
/// the type is registered there.
std::optional<TypeId> build_into(RuleScope& scope, const ast::Emit* emit, const Items& items);

/// Warns of types that only SHADOW rules make in a rule that is none: it gets none of their events.
void warn_shadow_input(const ast::Rule& rule, const SetContext& set, Reporter& report);

}  // namespace cepd::dsl::checking
