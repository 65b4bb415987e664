#pragma once
/// Makes equal parts of rules one object in memory. Internal to dsl/check*.cc.

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <functional>
#include <utility>

#include "dsl/plan.h"

namespace cepd::dsl::checking {

struct ExprHash {
  std::size_t operator()(const plan::ExprPtr& expr) const;
};
struct ExprEqual {
  bool operator()(const plan::ExprPtr& a, const plan::ExprPtr& b) const { return a->node == b->node; }
};

template <class T>
struct ListHash {
  std::size_t operator()(const List<T>& list) const;
};

/// Lists of one kind that are equal.
template <class T>
using ListSet = boost::unordered_flat_set<List<T>, ListHash<T>, std::equal_to<>>;

/// Of all rules of a set. Holds what it has seen, and is dropped when the set is checked.
class Sharing {
 public:
  /// The one expression that is `node`, whose parts were made here as well.
  template <class Node>
  plan::ExprPtr make(Node node) {
    plan::ExprPtr made = std::make_shared<const plan::Expr>(plan::Expr{std::move(node)});
    return *exprs_.insert(std::move(made)).first;
  }

  List<std::pair<TypeId, std::uint32_t>> slots(List<std::pair<TypeId, std::uint32_t>> list);
  /// Replaces the lists of the rule by equal ones of rules before it, and gives up memory that it does not need.
  void share(plan::Rule& rule);

 private:
  void share(plan::EventTest& test);
  void share(List<plan::EventTest>& tests);
  void share(List<plan::Action>& actions);

  boost::unordered_flat_set<plan::ExprPtr, ExprHash, ExprEqual> exprs_;
  ListSet<std::pair<TypeId, std::uint32_t>> slots_;
  ListSet<TypeId> types_;
  ListSet<FieldPath> paths_;
  ListSet<plan::FieldRef> fields_;
  ListSet<plan::ExprPtr> conditions_;
  ListSet<plan::JointCondition> joints_;
  ListSet<plan::EventTest> tests_;
  ListSet<plan::Slot> slot_lists_;
  ListSet<plan::Step> steps_;
  ListSet<plan::Item> items_;
  ListSet<plan::ActionArgument> arguments_;
  ListSet<plan::Action> actions_;
};

}  // namespace cepd::dsl::checking
