#include "nfa/element_tests.h"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <optional>

#include "dsl/plan_walk.h"

namespace cepd::nfa {
namespace {

namespace plan = dsl::plan;

/// Within one set of rules equal lists are one (dsl/share.h).
using Conditions = const plan::ExprPtr*;

bool reads_only_the_event(const plan::EventTest& test) {
  bool only = true;
  for (const plan::ExprPtr& condition : test.conditions) {
    dsl::walk(*condition, [&](const plan::Expr& each) {
      const auto* field = std::get_if<plan::FieldRef>(&each.node);
      only = only && (field == nullptr || field->subject == plan::Subject::kTested) &&
             !std::holds_alternative<plan::Aggregate>(each.node) && !std::holds_alternative<plan::KeyRef>(each.node);
    });
  }
  return only;
}

/// How often a condition is asked, and what is known of it.
struct Known {
  const NumberTest* number = nullptr;
  std::uint32_t asked = 0;
  std::uint32_t shared = ElementTest::kAlone;
};

struct ListHash {
  std::size_t operator()(const std::vector<ElementTest>& list) const {
    std::size_t seed = list.size();
    for (const ElementTest& each : list) {
      boost::hash_combine(seed, each.number);
      boost::hash_combine(seed, each.shared);
    }
    return seed;
  }
};

}  // namespace

ElementTests::ElementTests(const std::vector<plan::Rule>& rules) {
  boost::unordered_flat_map<Conditions, Known> known;
  for (const plan::Rule& rule : rules) {
    for (const plan::Element& element : rule.elements) {
      if (!element.test.conditions.empty()) ++known[element.test.conditions.data()].asked;
    }
  }
  boost::unordered_flat_map<std::vector<ElementTest>, const ElementTest*, ListHash> lists;
  std::vector<ElementTest> list;
  by_rule_.reserve(rules.size());
  for (const plan::Rule& rule : rules) {
    list.clear();
    for (const plan::Element& element : rule.elements) {
      ElementTest& out = list.emplace_back();
      if (element.test.conditions.empty()) continue;
      Known& of = known[element.test.conditions.data()];
      // What is looked up here costs more than such a comparison.
      if (of.number == nullptr) {
        const NumberTest number(element.test);
        if (number) of.number = &numbers_.emplace_back(number);
      }
      if (of.number == nullptr && of.shared == ElementTest::kAlone && of.asked > 1 &&
          reads_only_the_event(element.test)) {
        of.shared = shared_++;
      }
      out = {of.number, of.shared};
    }
    if (std::all_of(list.begin(), list.end(), [](const ElementTest& each) { return each == ElementTest(); })) {
      by_rule_.push_back(nullptr);
      continue;
    }
    const auto [it, is_new] = lists.try_emplace(list, nullptr);
    if (is_new) it->second = lists_.emplace_back(list).data();
    by_rule_.push_back(it->second);
  }
}

bool SharedOutcomes::holds(std::uint32_t number, const plan::EventTest& test, const Event& event,
                           const FieldPlan& fields, Arena& scratch, EvalErrors& errors) {
  Outcome& outcome = outcomes_[number];
  if (outcome.sequence != event.sequence) {
    EvalErrors own;
    const Scope scope{&event, {}, {}, {}, &fields};
    outcome.holds = nfa::holds(test.conditions, scope, scratch, own);
    outcome.errors = static_cast<std::uint32_t>(own.count);
    outcome.sequence = event.sequence;
  }
  errors.count += outcome.errors;
  return outcome.holds;
}

}  // namespace cepd::nfa
