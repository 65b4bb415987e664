#pragma once
/// The compiled rules: one automaton a rule and the table that leads an event to the rules that may want it.
/// Immutable; shared between threads through shared_ptr<const Network>. What changes (partial matches) is kept by the
/// engine.

#include <cstdint>
#include <memory>
#include <vector>

#include "dsl/plan.h"
#include "nfa/automaton.h"

namespace cepd::nfa {

/// How one type of event enters one rule.
struct Entry {
  const std::vector<dsl::plan::FieldRef>* key = nullptr;  ///< where the key is read from
  ElementSet elements = 0;   ///< elements (NOT and UNTIL too) that take their key from there
  std::uint64_t unless = 0;  ///< UNLESS clauses, by number, likewise
  bool input = false;        ///< the event is part of the rule's input under this key
};
struct RuleInput {
  std::uint32_t rule = 0;      ///< index into RuleSet::rules
  std::vector<Entry> entries;  ///< one for each way to read the key
  std::vector<const dsl::plan::EventTest*>
      from;  ///< FROM entries of this type; empty without FROM: all events are input
  bool has_from = false;
};

class Network {
 public:
  /// Compiles every rule of `rules`. Cannot fail: what cannot be compiled was refused by the check.
  static std::shared_ptr<const Network> compile(std::shared_ptr<const dsl::RuleSet> rules);

  const dsl::RuleSet& rules() const { return *rules_; }
  const FieldPlan& fields() const { return rules_->fields; }
  const Automaton& automaton(std::size_t rule) const { return automata_[rule]; }
  /// The rules that an event of this type from a source may concern, in the order of their names. Ids newer than the
  /// plan count as kOtherType.
  const std::vector<RuleInput>& inputs(TypeId type) const {
    const auto index = static_cast<std::size_t>(type);
    return inputs_[index < inputs_.size() ? index : 0];
  }
  /// The same for an event that a rule made: only rules that name the type, not those with a `*`. Empty for a type that
  /// no rule makes.
  const std::vector<RuleInput>& derived_inputs(TypeId type) const {
    return derived_inputs_[static_cast<std::size_t>(type)];
  }
  /// The rules that make events of this type, in the order of their names.
  std::vector<std::uint32_t> makers(TypeId type) const;

 private:
  std::shared_ptr<const dsl::RuleSet> rules_;
  std::vector<Automaton> automata_;
  std::vector<std::vector<RuleInput>> inputs_, derived_inputs_;  // by type
};

}  // namespace cepd::nfa
