#pragma once
/// From an event to the rules that it can do something to: for each type the ways to read a key from it, each with its
/// rules and an index over what their first elements ask of the event. Made from a Network; immutable, shared between
/// threads.

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "nfa/network.h"
#include "nfa/start_index.h"

namespace cepd::nfa {

/// A rule as an event of one type and key meets it.
struct RuleEntry {
  std::uint32_t rule = 0;
  bool input = false;  ///< the event is part of the rule's input (where FROM takes it)
  bool has_from = false;
  bool moves = false;               ///< it can do something to a partial match under way
  ElementSet elements = 0;          ///< elements (NOT and UNTIL too) that take their key in this way
  std::uint64_t unless = 0;         ///< UNLESS clauses, likewise
  const RuleInput* from = nullptr;  ///< for its FROM
};

/// One way to read a key: the fields, and whose keys they are.
struct KeyWay {
  std::uint32_t number = 0;  ///< counted over all types
  std::uint32_t table = 0;   ///< rules with the same KEY have the same
  List<dsl::plan::FieldRef> key;
  std::vector<RuleEntry> rules;  ///< sorted by rule
  StartIndex starts;             ///< gives places in `rules`

  /// Null when the event is nothing to the rule.
  const RuleEntry* find(std::uint32_t rule) const;

 private:
  friend class Dispatch;
  std::vector<std::uint32_t> places_;  // by rule: its place in `rules` + 1, 0 for none; empty where few have one
};

struct TypeDispatch {
  std::vector<KeyWay> ways;
  /// Rules that read a key from such an event in several ways: the event is offered once for each key.
  std::vector<const RuleInput*> several;
  const TypeDispatch* any = nullptr;  ///< besides: rules with a `*`
};

class Dispatch {
 public:
  explicit Dispatch(const Network& network);
  Dispatch(const Dispatch&) = delete;
  Dispatch& operator=(const Dispatch&) = delete;

  /// Of events from a source; ids newer than the plan count as kOtherType.
  const TypeDispatch& of(TypeId type) const {
    const auto index = static_cast<std::size_t>(type);
    return sources_[index < sources_.size() ? index : 0];
  }
  /// Of events that rules made.
  const TypeDispatch& of_derived(TypeId type) const { return derived_[static_cast<std::size_t>(type)]; }

  template <class Visit>
  void each_way(const Visit& visit) const {
    const auto visit_all = [&](const TypeDispatch& type) {
      for (const KeyWay& way : type.ways) visit(way);
    };
    for (const TypeDispatch& type : sources_) visit_all(type);
    for (const TypeDispatch& type : derived_) visit_all(type);
    visit_all(any_);
  }

  std::uint32_t tables() const { return tables_; }
  std::uint32_t table(std::uint32_t rule) const { return table_of_[rule]; }
  std::uint32_t ways() const { return ways_; }

 private:
  template <class Inputs>
  TypeDispatch compile(const Network& network, const Inputs& inputs, TypeId type);

  std::vector<TypeDispatch> sources_, derived_;
  TypeDispatch any_;
  std::vector<std::uint32_t> table_of_;  // by rule
  std::uint32_t tables_ = 0, ways_ = 0;
};

}  // namespace cepd::nfa
