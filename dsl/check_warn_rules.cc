#include "dsl/check_warn_rules.h"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "dsl/check_facts.h"
#include "dsl/plan_print.h"

namespace cepd::dsl::checking {
namespace {

/// More rules of one shape are not compared with each other, nor more pairs of rules at length: bounds for rules that a
/// program wrote.
constexpr std::size_t kMostOfAShape = 100;
constexpr std::size_t kMostPairs = 20'000;

/// What two rules must have in common to be compared: all but conditions and WITHIN, and what is done with a match.
/// Lists that are equal are one in memory (share.h).
using Shape = std::vector<std::uint64_t>;

Shape shape(const plan::Rule& rule) {
  Shape out;
  const auto list = [&](const auto& each) { out.push_back(reinterpret_cast<std::uintptr_t>(each.data())); };
  const auto type = [&](const std::optional<TypeId>& made) {
    out.push_back(made ? static_cast<std::uint64_t>(*made) : UINT64_MAX);
  };
  list(rule.key);
  out.push_back(rule.from.has_value());
  if (rule.from) list(*rule.from);
  for (const plan::Element& element : rule.elements) {
    out.push_back(static_cast<std::uint64_t>(element.role) * 2 + (element.test.types.any ? 1 : 0));
    list(element.test.types.ids);
    list(element.test.key);
    list(element.joint);
  }
  list(rule.slots);
  list(rule.pattern.steps);
  list(rule.unless);
  out.push_back(static_cast<std::uint64_t>(rule.policy) << 16 | static_cast<std::uint64_t>(rule.policy_element));
  list(rule.emit);
  type(rule.into);
  list(rule.labels);
  list(rule.actions);
  if (rule.limit) {
    out.push_back(rule.limit->count);
    out.push_back(static_cast<std::uint64_t>(rule.limit->per.count()));
  }
  if (rule.on_timeout) {
    list(rule.on_timeout->emit);
    type(rule.on_timeout->into);
    list(rule.on_timeout->actions);
  }
  return out;
}

/// A condition `field = constant` on the event tested for an element.
struct Equality {
  std::size_t element = 0;
  const plan::Expr* field = nullptr;
  const plan::Constant* constant = nullptr;
};

/// What a rule is compared by.
class Side {
 public:
  Side(const CheckedRule& rule, const SetContext& set) : rule_(rule), facts_(*rule.rule, set) {
    const auto& elements = rule.rule->elements;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      for (const plan::ExprPtr& condition : elements[i].test.conditions) {
        for_each_part(condition, [&](const plan::ExprPtr& part) { note_equality(i, *part); });
      }
    }
  }

  const CheckedRule& rule() const { return rule_; }
  const RuleFacts& facts() const { return facts_; }

  /// The two ask for different values of one field, so that neither can do what the other does. Of many rules that
  /// differ by a value only this is all that is looked at.
  bool differs(Side& other) {
    for (const Equality& a : equalities_) {
      for (const Equality& b : other.equalities_) {
        if (a.element != b.element || a.field != b.field || a.constant == b.constant) continue;
        const Ordering order = compare(a.constant->value(), b.constant->value());
        if (order != Ordering::kLess && order != Ordering::kGreater) continue;
        // From conditions that are never true everything follows.
        if (possible(a.element) && other.possible(b.element)) return true;
      }
    }
    return false;
  }

 private:
  void note_equality(std::size_t element, const plan::Expr& part) {
    const auto* binary = std::get_if<plan::Binary>(&part.node);
    if (binary == nullptr || binary->op != plan::BinaryOp::kEq) return;
    const auto note = [&](const plan::Expr& field, const plan::Expr& value) {
      const auto* ref = std::get_if<plan::FieldRef>(&field.node);
      const auto* constant = std::get_if<plan::Constant>(&value.node);
      if (ref == nullptr || ref->subject != plan::Subject::kTested || constant == nullptr) return;
      equalities_.push_back({element, &field, constant});
    };
    note(*binary->left, *binary->right);
    note(*binary->right, *binary->left);
  }

  bool possible(std::size_t element) {
    possible_.resize(rule_.rule->elements.size());
    std::optional<bool>& known = possible_[element];
    if (!known) {
      Cases cases = facts_.at(element);
      for (const plan::ExprPtr& condition : rule_.rule->elements[element].test.conditions) {
        cases.assume(*facts_.tested(condition, element));
      }
      known = cases.possible();
    }
    return *known;
  }

  const CheckedRule& rule_;
  RuleFacts facts_;
  std::vector<Equality> equalities_;
  std::vector<std::optional<bool>> possible_;  // by element: its conditions can be true together
};

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
  boost::unordered_flat_map<Shape, std::size_t, boost::hash<Shape>> shapes;
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].rule->status != plan::Status::kEnabled) continue;
    const auto [it, added] = shapes.try_emplace(shape(*rules[i].rule), groups.size());
    if (added) groups.emplace_back();
    if (groups[it->second].size() < kMostOfAShape) groups[it->second].push_back(i);
  }
  std::size_t pairs = 0;
  for (const std::vector<std::size_t>& group : groups) {
    if (group.size() < 2) continue;
    std::vector<Side> sides;
    for (const std::size_t i : group) sides.emplace_back(rules[i], set);
    for (std::size_t a = 0; a < sides.size(); ++a) {
      for (std::size_t b = 0; b < sides.size(); ++b) {
        if (a == b || sides[a].differs(sides[b])) continue;
        if (++pairs > kMostPairs) return;
        const auto result = Comparison(sides[a].facts(), sides[b].facts()).compare();
        // Of two that are the same the later one is told.
        if (result == Comparison::Result::kUnlike || (result == Comparison::Result::kSame && a < b)) continue;
        const CheckedRule& one = sides[a].rule();
        const CheckedRule& other = sides[b].rule();
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
