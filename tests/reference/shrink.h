#pragma once
/// Makes a failing trial small: whatever can be left out of rule and input while it still fails is left out.

#include <functional>

#include "tests/reference/trial.h"

namespace cepd::reference {

/// Rules that are a little simpler than this one, simplest first. They need not pass the check.
std::vector<dsl::ast::Rule> simpler_rules(const dsl::ast::Rule& rule);

/// Inputs that are a little simpler, simplest first.
std::vector<Trial> simpler_inputs(const Trial& trial);

/// Files that are a little simpler: without one of the statements, or with a simpler rule.
std::vector<std::vector<dsl::ast::Statement>> simpler_files(const std::vector<dsl::ast::Statement>& statements);

/// The trial of these statements and the input of another trial.
Trial with_rules(const Trial& trial, const std::vector<dsl::ast::Statement>& statements);

/// Leaves out until nothing more can be. `fails` is asked about trials whose rules pass the check.
Trial shrunk(Trial trial, const std::function<bool(const Trial&)>& fails);

}  // namespace cepd::reference
