#include "dsl/check_warn_rules.h"

#include <algorithm>
#include <map>

#include "dsl/check_facts.h"
#include "dsl/plan_print.h"
#include "dsl/print.h"

namespace cepd::dsl::checking {
namespace {

/// More rules of one shape are not compared with each other.
constexpr std::size_t kMostOfAShape = 100;

/// What two rules must have in common to be compared: all but conditions and WITHIN, and what is done with a match.
std::string shape(const CheckedRule& rule, const SetContext& set) {
  plan::Rule pattern = *rule.rule;
  pattern.name.clear();
  pattern.within.reset();
  pattern.having.clear();
  for (plan::Element& element : pattern.elements) element.test.conditions.clear();
  ast::Rule deeds = *rule.text;
  deeds.name.text = "x";
  deeds.bare = false;
  deeds.description.reset();
  deeds.from.reset();
  deeds.pattern = {};
  deeds.pattern.steps.resize(1);
  deeds.pattern.steps[0].choice.alternatives.resize(1);
  deeds.pattern.steps[0].choice.alternatives[0].members.resize(1);
  deeds.within.reset();
  deeds.unless.clear();
  deeds.where_condition = nullptr;
  deeds.having = nullptr;
  return print_pattern(pattern, *set.fields) + print(deeds);
}

/// Is every match of the one rule found by the other as well, at the same event or before? The two have one shape.
class Comparison {
 public:
  Comparison(const RuleFacts& narrow, const RuleFacts& wide)
      : narrow_(narrow), wide_(wide), one_(narrow.rule()), other_(wide.rule()) {}

  enum class Result { kUnlike, kNarrower, kSame };
  Result compare() {
    if (other_.within && (!one_.within || *one_.within > *other_.within)) return Result::kUnlike;
    same_ = one_.within == other_.within;
    if (!having()) return Result::kUnlike;
    for (const plan::Step& step : one_.pattern.steps) {
      if (!step_follows(step)) return Result::kUnlike;
    }
    // A time-out, or what comes when WITHIN has passed, is another one with another bound or other conditions.
    if (!same_ && (one_.on_timeout || ends_by_bound())) return Result::kUnlike;
    return same_ ? Result::kSame : Result::kNarrower;
  }

 private:
  bool having() {
    if (other_.having.empty()) {
      same_ &= one_.having.empty();
      return true;
    }
    if (one_.having.empty()) return false;
    return condition_follows(narrow_.at_end(), wide_.at_end(), narrow_.whole(one_.having.front()),
                             wide_.whole(other_.having.front()));
  }
  bool condition_follows(Cases from, Cases back, const plan::ExprPtr& one, const plan::ExprPtr& other) {
    from.assume(*one);
    if (!follows(from, {other})) return false;
    back.assume(*other);
    same_ &= follows(back, {one});
    return true;
  }

  bool ends_by_bound() const {
    const plan::Step& last = one_.pattern.steps.back();
    if (std::holds_alternative<plan::NotStep>(last.item)) return true;
    const auto* id = std::get_if<plan::SlotId>(&last.item);
    return id == nullptr || one_.slots[static_cast<std::size_t>(*id)].greedy;
  }

  /// True when both bind the same event here, or the wide one an earlier event than the narrow one; that goes on as
  /// long as nothing asks for more of such an event than that it has come.
  bool step_follows(const plan::Step& step) {
    if (const auto* no = std::get_if<plan::NotStep>(&step.item)) {
      const auto index = static_cast<std::size_t>(no->element);
      if (!exact_ || !implies(wide_, index, narrow_, index)) return false;
      same_ &= implies(narrow_, index, wide_, index);
      after_not_ = true;
      return true;
    }
    const auto* id = std::get_if<plan::SlotId>(&step.item);
    if (id == nullptr) return equal_below(step);
    const plan::Slot& slot = one_.slots[static_cast<std::size_t>(*id)];
    std::vector<std::size_t> elements;
    bool equal = true;
    for (std::size_t i = 0; i < one_.elements.size(); ++i) {
      const bool own = std::any_of(slot.members.begin(), slot.members.end(),
                                   [&](plan::ElementSet member) { return (member >> i & 1) != 0; });
      if (!own) continue;
      elements.push_back(i);
      if (!element_follows(i, equal)) return false;
    }
    if (slot.until) {
      const auto until = static_cast<std::size_t>(*slot.until);
      if (!element_follows(until, equal)) return false;
      if (!equal) return false;
    }
    const bool plain = slot.members.size() == 1 && elements.size() == 1 && slot.min == slot.max &&
                       slot.again == plan::Contiguity::kSkipTillNext;
    const bool exact_link = step.link.contiguity != plan::Contiguity::kSkipTillNext || step.link.within ||
                            step.link.after != Micros(0) || after_not_;
    if (!exact_ && (!plain || exact_link)) return false;
    if (!equal) {
      same_ = false;
      if (!plain) return false;
      const bool same_event = slot.max == 1 && (first_ || step.link.contiguity == plan::Contiguity::kStrict);
      if (!same_event) {
        if (after_not_ || step.link.contiguity == plan::Contiguity::kSkipTillAny || named_anywhere(elements.front())) {
          return false;
        }
        exact_ = false;
      }
    }
    first_ = after_not_ = false;
    return true;
  }

  bool element_follows(std::size_t index, bool& equal) const {
    const auto& one = one_.elements[index];
    const auto& other = other_.elements[index];
    if (!one.joint.empty() || !other.joint.empty()) {
      // The shape says that these are the same.
      const auto text = [](const plan::Element& element) {
        std::string out;
        for (const plan::ExprPtr& each : element.test.conditions) out += print(*each) + "\n";
        return out;
      };
      return text(one) == text(other);
    }
    if (!implies(narrow_, index, wide_, index)) return false;
    equal &= implies(wide_, index, narrow_, index);
    return true;
  }

  /// Groups and branches: nothing may differ in them.
  bool equal_below(const plan::Step& step) {
    if (!exact_) return false;
    bool equal = true;
    bool follow = true;
    const auto walk = [&](const auto& self, const plan::Sequence& sequence) -> void {
      for (const plan::Step& each : sequence.steps) {
        if (const auto* no = std::get_if<plan::NotStep>(&each.item)) {
          follow = follow && element_follows(static_cast<std::size_t>(no->element), equal);
        } else if (const auto* id = std::get_if<plan::SlotId>(&each.item)) {
          const plan::Slot& slot = one_.slots[static_cast<std::size_t>(*id)];
          for (std::size_t i = 0; i < one_.elements.size(); ++i) {
            const bool own = slot.until == static_cast<plan::ElementId>(i) ||
                             std::any_of(slot.members.begin(), slot.members.end(),
                                         [&](plan::ElementSet member) { return (member >> i & 1) != 0; });
            if (own) follow = follow && element_follows(i, equal);
          }
        } else if (const auto* group = std::get_if<plan::Group>(&each.item)) {
          self(self, group->body);
        } else {
          for (const plan::Sequence& branch : std::get<plan::Alternatives>(each.item).branches) self(self, branch);
        }
      }
    };
    walk(walk, plan::Sequence{{step}});
    first_ = after_not_ = false;
    return follow && equal;
  }

  /// Whether some condition of the wide rule looks at the events of the element, or at the previous event.
  bool named_anywhere(std::size_t element) const {
    bool found = false;
    const auto look = [&](const plan::ExprPtr& condition) { found |= looks_at(*condition, element); };
    for (const plan::Element& each : other_.elements) {
      for (const plan::ExprPtr& condition : each.test.conditions) look(condition);
      for (const plan::JointCondition& joint : each.joint) look(joint.condition);
    }
    for (const plan::EventTest& each : other_.unless) {
      for (const plan::ExprPtr& condition : each.conditions) look(condition);
    }
    for (const plan::ExprPtr& condition : other_.having) look(condition);
    return found;
  }

  const RuleFacts& narrow_;
  const RuleFacts& wide_;
  const plan::Rule& one_;
  const plan::Rule& other_;
  bool same_ = true;
  bool exact_ = true;       // both have bound the same events so far
  bool first_ = true;       // no event is bound yet
  bool after_not_ = false;  // a NOT guards the stretch to the next event
};

}  // namespace

void warn_about_rules(const std::vector<CheckedRule>& rules, const SetContext& set) {
  std::map<std::string, std::vector<std::size_t>> shapes;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].rule->status == plan::Status::kEnabled) shapes[shape(rules[i], set)].push_back(i);
  }
  for (auto& [text, group] : shapes) {
    if (group.size() > kMostOfAShape) group.resize(kMostOfAShape);
    std::vector<RuleFacts> facts;
    for (const std::size_t i : group) facts.emplace_back(*rules[i].rule, set);
    for (std::size_t a = 0; a < group.size(); ++a) {
      for (std::size_t b = 0; b < group.size(); ++b) {
        if (a == b) continue;
        const auto result = Comparison(facts[a], facts[b]).compare();
        // Of two that are the same the later one is told.
        if (result == Comparison::Result::kUnlike || (result == Comparison::Result::kSame && a < b)) continue;
        const CheckedRule& one = rules[group[a]];
        const CheckedRule& other = rules[group[b]];
        const std::string name =
            quoted_if_needed(other.rule->name) + " (" + other.report->place(other.text->name.where) + ")";
        const bool same = result == Comparison::Result::kSame;
        one.report->warn(one.text->name.where,
                         same ? "this rule does the same as " + name
                              : "whenever this rule matches, " + name + " has matched too, and does the same",
                         "leave one of them out, or let them do different things");
        break;
      }
    }
  }
}

}  // namespace cepd::dsl::checking
