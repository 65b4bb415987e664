#pragma once
/// A checked rule as text: for its fingerprint, for tests and for explain.

#include <string>

#include "dsl/plan.h"

namespace cepd::dsl {

/// `tested.price`, `#1.amount` (last event of element 1), `#1.first.amount`, `#1[0].amount`, `prev.price`, `key0`,
/// `emit0`, `count(#1)`; `@time` and `@type` are the event's own. Constants are filled in; parentheses are complete.
std::string print(const plan::Expr& expr);

/// `a | b`, in the order of names, which is the same in every set of rules; `*` first.
std::string print(const plan::Types& types, const FieldPlan& fields);

/// What decides which matches the rule has, one part a line.
std::string print_pattern(const plan::Rule& rule, const FieldPlan& fields);

/// Every field that any part of the rule reads, `type.path`, sorted, one a line; `*.path` for fields of any type.
std::string print_reads(const plan::Rule& rule, const FieldPlan& fields);

/// Equal in two sets exactly when partial matches of the one may go on under the other: name, input, key, pattern,
/// bounds, policy, and every field that is read. What is only done with a match (HAVING, EMIT, LIMIT, DO texts) is not
/// part of it.
std::string meaning(const plan::Rule& rule, const FieldPlan& fields);

}  // namespace cepd::dsl
