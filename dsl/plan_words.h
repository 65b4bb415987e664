#pragma once
/// Checked expressions in the words of the rule: for messages about what happened to an event.

#include <string>

#include "dsl/plan.h"

namespace cepd::dsl {

/// As one would write it in the brackets of the element that it is tested on (or in HAVING): fields of the event tested
/// stand bare, those of others as `name.field`. Constants are filled in. Not for the templates of actions.
std::string in_words(const plan::Expr& expr, const plan::Rule& rule);

/// `cart_add`, `warning | error`, `*`
std::string in_words(const plan::Types& types, const FieldPlan& fields);

/// A value as a literal of the language; arrays and objects as JSON.
std::string in_words(const Value& value);

}  // namespace cepd::dsl
