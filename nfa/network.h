#pragma once
/// The compiled rules: one automaton a rule and the table that leads an event to the rules that may want it.
/// Immutable; shared between threads through shared_ptr<const Network>. What changes (partial matches) is kept by the
/// engine.

#include <cstdint>
#include <memory>
#include <vector>

#include "dsl/plan.h"

namespace cepd::nfa {

/// Index into Automaton::states.
enum class StateId : std::uint16_t {};

/// A set of elements of one rule, one bit each (dsl::plan::kMaxElements bits).
using ElementSet = std::uint64_t;
inline constexpr ElementSet element_bit(dsl::plan::ElementId id) { return ElementSet{1} << static_cast<unsigned>(id); }

/// kTake: keep the event and move. Every state also ignores events that it does not take, as far as contiguity and NOT
/// allow.
struct Edge {
  StateId to{};
  dsl::plan::Contiguity contiguity = dsl::plan::Contiguity::kSkipTillNext;
  ElementSet guards = 0;  ///< NOTs written between the two elements: none may have been seen since the last bound event
};

/// When a partial match in an accepting state is complete.
enum class Completes : std::uint8_t {
  kNever,      ///< not an accepting state
  kNow,        ///< at the event that brought it here
  kNextEvent,  ///< at the very next event of the input, if no guard accepts it (a last NEXT NOT)
  kDeadline,   ///< when its time is up and no guard accepted an event (a last THEN NOT: absence)
};

/// "Some events of `element` are bound, the last of them most recently". The run counts them.
struct State {
  dsl::plan::ElementId element{};
  std::uint32_t min = 1, max = 1;  ///< edges and acceptance need `min` events, `max` of them end taking
  std::vector<Edge> edges;         ///< to the elements that may follow, nearest first
  Completes completes = Completes::kNever;
  ElementSet accept_guards = 0;  ///< NOTs that stand last
  ElementSet guards = 0;         ///< all guards of edges and acceptance
};

struct Automaton {
  std::vector<State> states;    ///< one for each element that is no NOT, in pattern order
  std::vector<StateId> starts;  ///< where a match may begin
  ElementSet next_guards = 0;   ///< the NOTs reached by NEXT: they look only at the very next event
};

/// How one type of event enters one rule.
struct Entry {
  const std::vector<dsl::plan::FieldRef>* key = nullptr;  ///< where the key is read from
  ElementSet elements = 0;                                ///< elements (NOTs too) that take their key from there
  std::uint64_t unless = 0;                               ///< UNLESS clauses, by number, likewise
  bool input = false;                                     ///< the event is part of the rule's input under this key
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
  /// The rules that an event of this type may concern, in the order of their names. Ids newer than the plan count as
  /// kOtherType.
  const std::vector<RuleInput>& inputs(TypeId type) const {
    const auto index = static_cast<std::size_t>(type);
    return inputs_[index < inputs_.size() ? index : 0];
  }

 private:
  std::shared_ptr<const dsl::RuleSet> rules_;
  std::vector<Automaton> automata_;
  std::vector<std::vector<RuleInput>> inputs_;  // by type
};

}  // namespace cepd::nfa
