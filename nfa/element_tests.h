#pragma once
/// What the elements of all rules ask of an event, compiled, and equal tests once: comparisons of numbers
/// (nfa/number_test.h), and conditions that read nothing but the event and are asked by several, whose outcome is kept
/// while the event is worked on.

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <vector>

#include "dsl/plan.h"
#include "nfa/eval.h"
#include "nfa/number_test.h"

namespace cepd::nfa {

struct ElementTest {
  static constexpr std::uint32_t kAlone = UINT32_MAX;

  const NumberTest* number = nullptr;  ///< null: it is no such comparison
  std::uint32_t shared = kAlone;  ///< number among the conditions whose outcome is kept; kAlone: it is none of them
  bool operator==(const ElementTest&) const = default;
};

/// Of all rules of a network.
class ElementTests {
 public:
  explicit ElementTests(const std::vector<dsl::plan::Rule>& rules);
  ElementTests(const ElementTests&) = delete;
  ElementTests& operator=(const ElementTests&) = delete;

  /// By element; null: nothing is known of any of the rule's.
  const ElementTest* of_rule(std::size_t rule) const { return by_rule_[rule]; }
  /// How many conditions there are whose outcome is kept.
  std::uint32_t shared() const { return shared_; }

 private:
  std::deque<NumberTest> numbers_;
  std::deque<std::vector<ElementTest>> lists_;  // equal ones once
  std::vector<const ElementTest*> by_rule_;
  std::uint32_t shared_ = 0;
};

/// The outcomes for the event at hand. One thread.
class SharedOutcomes {
 public:
  explicit SharedOutcomes(std::uint32_t count) : outcomes_(count) {}

  /// As nfa::holds() of the conditions of that number, which is evaluated once an event. Errors are counted each time.
  bool holds(std::uint32_t number, const dsl::plan::EventTest& test, const Event& event, const FieldPlan& fields,
             Arena& scratch, EvalErrors& errors);

 private:
  struct Outcome {
    std::uint64_t sequence = 0;  // of the event; those of events begin with 1
    std::uint32_t errors = 0;
    bool holds = false;
  };
  std::vector<Outcome> outcomes_;
};

}  // namespace cepd::nfa
