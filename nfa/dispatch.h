#pragma once
/// From an event to the rules that it can do something to: for each type the ways to read a key from it, each with its
/// rules and an index over what their first elements ask of the event. Made from a Network; immutable, shared between
/// threads.

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "nfa/network.h"
#include "nfa/prefixes.h"
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

/// What an event may do to the partial matches of one prefix: take them further, for rules and for longer prefixes.
class Continuation {
 public:
  /// Appends the places (KeyWay) of those that may accept the event, in any order.
  void find(const Event& event, std::vector<StartIndex::Found>& out) const {
    if (index_ != nullptr) {
      index_->find(event, out);
    } else {
      range_.find(event, out);
    }
  }
  /// What find() reads is wanted soon.
  void prefetch() const { __builtin_prefetch(range_.bounds.data()); }

 private:
  friend class Dispatch;
  StartIndex::Range range_;            // mostly all that is asked, and then at hand
  std::unique_ptr<StartIndex> index_;  // of all where that is not so, else null
};

/// One way to read a key: the fields, and whose keys they are. A *place* is a number below rules.size(): a rule in
/// `rules`; or else rules.size() + a place in `prefixes`.
struct KeyWay {
  std::uint32_t number = 0;  ///< counted over all types
  std::uint32_t table = 0;   ///< rules with the same KEY have the same
  List<dsl::plan::FieldRef> key;
  std::vector<RuleEntry> rules;         ///< sorted by rule
  std::vector<std::uint32_t> rule_of;   ///< RuleEntry::rule of each: many are looked at for it alone
  std::vector<std::uint32_t> prefixes;  ///< whose last event it may be; sorted
  StartIndex starts;                    ///< gives places: of rules without prefix, and of prefixes of one event

  /// Null when the event is nothing to the rule.
  const RuleEntry* find(std::uint32_t rule) const;
  /// Null when the event takes nothing further that waits in the prefix.
  const Continuation* continuation(std::uint32_t prefix) const {
    if (!continuation_places_.empty()) {
      const std::uint32_t at = continuation_places_[prefix];
      return at == 0 ? nullptr : &continuations_[at - 1];
    }
    const auto it = continuation_of_.find(prefix);
    return it == continuation_of_.end() ? nullptr : &continuations_[it->second];
  }

 private:
  friend class Dispatch;
  std::vector<Continuation> continuations_;
  boost::unordered_flat_map<std::uint32_t, std::uint32_t> continuation_of_;  // by prefix
  // By rule or prefix the place + 1, 0 for none; empty where few have one: those of prefixes are in the map then.
  std::vector<std::uint32_t> places_, continuation_places_;
};

struct TypeDispatch {
  std::vector<KeyWay> ways;
  /// Rules that read a key from such an event in several ways: the event is offered once for each key.
  std::vector<const RuleInput*> several;
  const TypeDispatch* any = nullptr;  ///< besides: rules with a `*`
};

class Dispatch {
 public:
  /// `alone`: see Prefixes.
  Dispatch(const Network& network, const std::vector<bool>& alone);
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

  const Prefixes& prefixes() const { return prefixes_; }
  std::uint32_t tables() const { return tables_; }
  std::uint32_t table(std::uint32_t rule) const { return table_of_[rule]; }
  std::uint32_t ways() const { return ways_; }

 private:
  template <class Inputs>
  TypeDispatch compile(const Network& network, const Inputs& inputs, TypeId type);
  void add_prefixes(const Network& network, KeyWay& way, TypeId type) const;

  Prefixes prefixes_;
  std::vector<TypeDispatch> sources_, derived_;
  TypeDispatch any_;
  std::vector<std::uint32_t> table_of_;  // by rule
  std::uint32_t tables_ = 0, ways_ = 0;
};

}  // namespace cepd::nfa
