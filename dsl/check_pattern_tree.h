#pragma once
/// The two halves of build_pattern (check_pattern.h). Internal to dsl/check*.cc.

#include "dsl/check_pattern.h"

namespace cepd::dsl::checking {

/// Parentheses, OR and AND of the syntax tree -> slots, groups and alternatives; adds one element to `scope` for each
/// type, NOT and UNTIL (role and place only). Reports constructs that have no meaning.
Pattern build_tree(const ast::Rule& rule, RuleScope& scope);

/// What must hold of the whole: where NOTs and a last GREEDY may stand, that something must be bound, and limits.
/// Requires named elements. Fills in which elements may start, and Pattern::waiting. False after a mistake that would
/// make conditions misread.
bool check_tree(const ast::Rule& rule, Pattern& pattern, RuleScope& scope);

/// The first part that links and groups leave unbounded (check_bound.cc).
std::optional<Waiting> waiting_part(const plan::Sequence& pattern, const std::vector<plan::Slot>& slots);

/// A place in the tree: the sequence and the step in it, and the place of the group or OR that the sequence stands in.
struct StepPlace {
  const plan::Sequence* sequence = nullptr;
  std::size_t index = 0;
  const StepPlace* around = nullptr;
  const plan::Group* group = nullptr;  ///< whose body the sequence is

  const plan::Step& step() const { return sequence->steps[index]; }
  StepPlace next() const { return {sequence, index + 1, around, group}; }
};

}  // namespace cepd::dsl::checking
