#pragma once
/// The words of the language for editors, from the tables that parser and checks read.

#include <string>
#include <vector>

#include "base/action_schema.h"

namespace cepd::dsl {

/// Keywords (with what they begin and where they need back quotes), functions with the numbers of their arguments,
/// aggregates, field types, units and `actions` as JSON.
std::string language_json(const std::vector<ActionSchema>& actions);

/// A TextMate grammar (JSON) for *.rules files: what VS Code and many other editors colour by.
std::string textmate_grammar(const std::vector<ActionSchema>& actions);

}  // namespace cepd::dsl
