#include "nfa/look_back.h"

#include <algorithm>

#include "dsl/plan_walk.h"

namespace cepd::nfa {
namespace {

namespace plan = dsl::plan;
using AtState = LookBack::AtState;

void add_field(const plan::FieldRef& ref, AtState& out) {
  switch (ref.subject) {
    case plan::Subject::kTested:
      break;
    case plan::Subject::kPrevious:
      out.last = true;
      break;
    case plan::Subject::kFirst:
    case plan::Subject::kLast:
    case plan::Subject::kIndex:
      out.elements |= element_bit(ref.element);
      break;
  }
}

void add_condition(const plan::Expr& condition, AtState& out) {
  dsl::walk(condition, [&](const plan::Expr& each) {
    if (const auto* field = std::get_if<plan::FieldRef>(&each.node)) add_field(*field, out);
    if (const auto* aggregate = std::get_if<plan::Aggregate>(&each.node)) {
      out.elements |= element_bit(aggregate->element);
    }
  });
}

void add_test(const plan::EventTest& test, AtState& out) {
  for (const plan::ExprPtr& condition : test.conditions) add_condition(*condition, out);
}

/// Of the conditions that the next event may meet in `state`, and of the bounds that hold for it.
AtState directly(const plan::Rule& rule, const Automaton& automaton, const State& state) {
  AtState out;
  ElementSet tested = state.guards;
  const auto until = [&](const State& at) {
    if (at.until) tested |= element_bit(*at.until);
  };
  until(state);
  if (state.max > 1) {
    tested |= state.elements;
    out.at_next |= state.again == plan::Contiguity::kStrict;
  }
  for (const Edge& edge : state.edges) {
    tested |= edge.elements;
    until(automaton.states[static_cast<std::size_t>(edge.to)]);
    out.at_next |= edge.link.contiguity == plan::Contiguity::kStrict;
    out.last |= edge.link.within || edge.link.after.count() > 0;
  }
  for (const Branch& branch : state.branches) {
    out.at_next |= branch.accept && branch.accept->completes == Completes::kNextEvent;
  }
  out.at_next |= (state.guards & automaton.next_guards) != 0;
  out.last |= out.at_next;
  out.moved_by = tested;
  for (ElementSet rest = tested; rest != 0; rest &= rest - 1) {
    const auto element = static_cast<std::size_t>(__builtin_ctzll(rest));
    out.last |= automaton.guard_within[element].has_value();
    add_test(rule.elements[element].test, out);
    for (const plan::JointCondition& joint : rule.elements[element].joint) add_condition(*joint.condition, out);
  }
  for (const plan::EventTest& unless : rule.unless) add_test(unless, out);
  if (!out.at_next) out.equal = equal_look_back_of(rule, tested);
  if (!out.at_next && !out.equal) out.range = range_look_back_of(rule, tested);
  return out;
}

bool has_deadlines(const State& state) {
  return std::any_of(state.branches.begin(), state.branches.end(), [](const Branch& branch) {
    return branch.accept &&
           (branch.accept->completes == Completes::kDeadline || branch.accept->completes == Completes::kRepeatEnd);
  });
}

bool is_strict(const State& state) {
  if (state.last()) return true;
  if (state.branches.size() != 1 || (state.later | state.counted | state.waiting) != 0) return false;
  if (state.joins() || (state.max > 1 && state.again != plan::Contiguity::kStrict)) return false;
  return std::all_of(state.edges.begin(), state.edges.end(), [&](const Edge& edge) {
    return edge.link.contiguity == plan::Contiguity::kStrict && !edge.link.within && edge.link.after.count() == 0;
  });
}

bool is_strict(const plan::Rule& rule, const Automaton& automaton) {
  if (!rule.unless.empty() || !automaton.groups.empty()) return false;
  return std::all_of(automaton.states.begin(), automaton.states.end(),
                     [&](const State& state) { return state.guards == 0 && !state.until && is_strict(state); });
}

}  // namespace

LookBack look_back_of(const plan::Rule& rule, const Automaton& automaton) {
  LookBack out;
  out.sets = !automaton.ambiguous && !rule.on_timeout &&
             std::none_of(automaton.states.begin(), automaton.states.end(), has_deadlines);
  out.strict = out.sets && is_strict(rule, automaton);
  for (const State& state : automaton.states) out.states.push_back(directly(rule, automaton, state));
  // What is read further on is read from here on.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < automaton.states.size(); ++i) {
      for (const Edge& edge : automaton.states[i].edges) {
        const ElementSet before = out.states[i].elements;
        out.states[i].elements |= out.states[static_cast<std::size_t>(edge.to)].elements;
        changed |= out.states[i].elements != before;
      }
    }
  }
  return out;
}

}  // namespace cepd::nfa
