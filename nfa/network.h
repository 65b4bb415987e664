#pragma once
/// The compiled rules: one automaton a rule and the table that leads an event to the rules that may want it.
/// Immutable; shared between threads through shared_ptr<const Network>. What changes (partial matches) is kept by the
/// engine.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

#include "dsl/plan.h"
#include "nfa/automaton.h"
#include "nfa/element_tests.h"
#include "nfa/look_back.h"

namespace cepd::nfa {

/// How one type of event enters one rule.
struct Entry {
  List<dsl::plan::FieldRef> key;  ///< where the key is read from
  ElementSet elements = 0;        ///< elements (NOT and UNTIL too) that take their key from there
  std::uint64_t unless = 0;       ///< UNLESS clauses, by number, likewise
  bool input = false;             ///< the event is part of the rule's input under this key
  bool of_from = false;           ///< only FROM entries read the key like this: one of those must accept the event
  bool operator==(const Entry&) const = default;
};
struct RuleInput {
  std::uint32_t rule = 0;  ///< index into RuleSet::rules
  bool has_from = false;
  List<Entry> entries;  ///< one for each way to read the key
  /// FROM entries of this type; empty without FROM: all events are input.
  List<const dsl::plan::EventTest*> from;
};

/// Whether the key is read from the same fields.
bool same_fields(const List<dsl::plan::FieldRef>& a, const List<dsl::plan::FieldRef>& b);

/// The inputs that rules have for one type: of those that name it, and of those with a `*` that do not. A range over
/// both, in the order of the rules' names.
class Inputs {
 public:
  class Iterator {
   public:
    using value_type = RuleInput;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(std::span<const RuleInput> named, std::span<const RuleInput> any) : named_(named), any_(any) {}
    const RuleInput& operator*() const { return named_first() ? named_.front() : any_.front(); }
    const RuleInput* operator->() const { return &**this; }
    Iterator& operator++() {
      const std::uint32_t rule = (**this).rule;
      if (!named_.empty() && named_.front().rule == rule) named_ = named_.subspan(1);
      if (!any_.empty() && any_.front().rule == rule) any_ = any_.subspan(1);
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(std::default_sentinel_t) const { return named_.empty() && any_.empty(); }
    /// Of iterators over one range.
    bool operator==(const Iterator& other) const {
      return named_.size() == other.named_.size() && any_.size() == other.any_.size();
    }

   private:
    /// What a rule says of a type that it names holds beside its `*`.
    bool named_first() const { return any_.empty() || (!named_.empty() && named_.front().rule <= any_.front().rule); }

    std::span<const RuleInput> named_, any_;
  };

  Inputs(std::span<const RuleInput> named, std::span<const RuleInput> any) : named_(named), any_(any) {}
  Iterator begin() const { return {named_, any_}; }
  std::default_sentinel_t end() const { return {}; }
  bool empty() const { return named_.empty() && any_.empty(); }

 private:
  std::span<const RuleInput> named_, any_;
};

class Network {
 public:
  /// Compiles every rule of `rules`. Cannot fail: what cannot be compiled was refused by the check.
  static std::shared_ptr<const Network> compile(std::shared_ptr<const dsl::RuleSet> rules);

  const dsl::RuleSet& rules() const { return *rules_; }
  const FieldPlan& fields() const { return rules_->fields; }
  /// Rules whose patterns differ in types and conditions only have one automaton.
  const Automaton& automaton(std::size_t rule) const { return *automata_[rule]; }
  const LookBack& look_back(std::size_t rule) const { return *look_backs_[rule]; }
  const ElementTests& element_tests() const { return *element_tests_; }
  /// The rules that an event of this type from a source may concern, in the order of their names. Ids newer than the
  /// plan count as kOtherType.
  Inputs inputs(TypeId type) const {
    const auto index = static_cast<std::size_t>(type);
    return {inputs_[index < inputs_.size() ? index : 0], any_inputs_};
  }
  /// Of those, the ones of rules that name the type; and for events of any type those of rules with a `*`.
  std::span<const RuleInput> named_inputs(TypeId type) const { return inputs_[static_cast<std::size_t>(type)]; }
  std::span<const RuleInput> any_inputs() const { return any_inputs_; }
  /// The same for an event that a rule made: only rules that name the type, not those with a `*`. Empty for a type that
  /// no rule makes.
  Inputs derived_inputs(TypeId type) const { return {derived_inputs_[static_cast<std::size_t>(type)], {}}; }
  /// The rules that make events of this type, in the order of their names.
  const std::vector<std::uint32_t>& makers(TypeId type) const { return makers_[static_cast<std::size_t>(type)]; }

 private:
  std::shared_ptr<const dsl::RuleSet> rules_;
  std::vector<std::shared_ptr<const Automaton>> automata_;   // by rule
  std::vector<std::shared_ptr<const LookBack>> look_backs_;  // by rule, equal ones once
  std::unique_ptr<const ElementTests> element_tests_;
  std::vector<std::vector<RuleInput>> inputs_, derived_inputs_;  // by type, of the rules that name it
  std::vector<RuleInput> any_inputs_;                            // of the rules with a `*`
  std::vector<std::vector<std::uint32_t>> makers_;               // by type
};

}  // namespace cepd::nfa
