/// What must hold of a pattern as a whole.

#include <algorithm>

#include "dsl/check_pattern_tree.h"

namespace cepd::dsl::checking {
namespace {

using plan::Group;
using plan::NotStep;
using plan::Sequence;
using plan::SlotId;

class TreeCheck {
 public:
  TreeCheck(const ast::Rule& rule, Pattern& pattern, RuleScope& scope)
      : rule_(rule), pattern_(pattern), slots_(pattern.slots), scope_(scope), report_(scope.report) {}

  bool check() {
    const std::size_t before = report_.errors();
    if (nullable(pattern_.tree, slots_)) {
      const bool only_nots = slots_.empty();
      if (only_nots) {
        first_not(0);
      } else {
        report_.error(rule_.pattern.where, "the pattern could match no event at all",
                      "every element of it may be left out");
      }
      return false;
    }
    walk(StepPlace{&pattern_.tree, 0, nullptr, nullptr});
    mark_starts(pattern_.tree);
    if (branches(StepPlace{&pattern_.tree, 0, nullptr, nullptr}, false) > plan::kMaxBranches) too_many();
    pattern_.waiting = waiting_part(pattern_.tree, slots_);
    return report_.errors() == before;
  }

 private:
  void first_not(std::size_t element) {
    report_.error(pattern_.written[element].element->where, "a pattern cannot begin with NOT",
                  "NOT speaks of the events after another element; UNLESS drops a match at any time");
  }

  void too_many() {
    if (too_many_) return;
    too_many_ = true;
    report_.error(rule_.pattern.where,
                  "the pattern has too many ways to go on from one place: at most " +
                      std::to_string(plan::kMaxBranches) + " are possible",
                  "split it into several rules");
  }

  /// Visits every step of the sequence at `at` and below.
  void walk(StepPlace at) {
    for (; at.index < at.sequence->steps.size(); ++at.index) {
      const plan::Step& step = at.step();
      if (const auto* slot = std::get_if<SlotId>(&step.item)) {
        slot_ends(at, slots_[static_cast<std::size_t>(*slot)]);
      } else if (const auto* no = std::get_if<NotStep>(&step.item)) {
        check_not(at, *no, step.link);
      } else if (const auto* group = std::get_if<Group>(&step.item)) {
        walk(StepPlace{&group->body, 0, &at, group});
      } else {
        for (const Sequence& branch : std::get<plan::Alternatives>(step.item).branches)
          walk(StepPlace{&branch, 0, &at, nullptr});
      }
    }
  }

  // ---- where the pattern may end ----

  enum class Rest { kGoesOn, kEnds, kMayEnd };
  /// Whether the pattern may end before step `at`: with nothing left, or with elements left that may be left out.
  Rest rest(const StepPlace& at, bool some = false) const {
    for (std::size_t i = at.index; i < at.sequence->steps.size(); ++i) {
      const plan::Step& step = at.sequence->steps[i];
      if (std::holds_alternative<NotStep>(step.item)) continue;
      if (!nullable(step, slots_)) return Rest::kGoesOn;
      some = true;
    }
    if (at.around == nullptr) return some ? Rest::kMayEnd : Rest::kEnds;
    return rest(at.around->next(), some);
  }

  /// True when nothing stands before the step, parentheses taken away.
  bool is_first(const StepPlace& at, bool& in_group) const {
    for (std::size_t i = 0; i < at.index; ++i) {
      if (!std::holds_alternative<NotStep>(at.sequence->steps[i].item)) return false;
    }
    if (at.group != nullptr && at.group->repeats()) {
      in_group = true;
      return true;
    }
    return at.around == nullptr || is_first(*at.around, in_group);
  }

  void check_not(const StepPlace& at, const NotStep& no, const plan::Link& link) {
    const auto index = static_cast<std::size_t>(no.element);
    const ast::Location where = pattern_.written[index].element->where;
    bool in_group = false;
    if (is_first(at, in_group)) {
      if (!in_group) return first_not(index);
      report_.error(where, "a repeated or optional group cannot begin with NOT", "write the NOT before the group");
      return;
    }
    const Rest left = rest(at.next());
    if (left == Rest::kMayEnd) {
      report_.error(where, "this NOT is followed only by elements that may be left out");
    } else if (left == Rest::kEnds && link.contiguity != plan::Contiguity::kStrict && !rule_.within && !link.within) {
      report_.error(where, "a NOT at the end needs to know for how long: the pattern has no WITHIN",
                    "write it like THEN NOT " + scope_.elements[index].name + " WITHIN 5m");
    }
  }

  void slot_ends(const StepPlace& at, const plan::Slot& slot) {
    if (branches(at.next(), true) > plan::kMaxBranches) too_many();
    if (!slot.greedy || rest(at.next()) != Rest::kEnds) return;
    if (slot.max != plan::kUnbounded || slot.until || slot.again == plan::Contiguity::kStrict || rule_.within) return;
    const auto element = static_cast<std::size_t>(__builtin_ctzll(slot.members.front()));
    const ast::Quantifier& quantifier = *pattern_.written[element].element->quantifier;
    report_.error(quantifier.modifiers_where, "nothing ends this GREEDY repeat, so that the rule would never complete",
                  "give the pattern a WITHIN, the repeat an UNTIL or a greatest number");
  }

  // ---- how many ways exclude each other from here (nfa/automaton.cc makes one branch of each) ----

  /// `bound`: an event of the innermost group's present repeat is bound. Counts up to a little over the limit.
  std::size_t branches(const StepPlace& at, bool bound) const {
    if (at.index == at.sequence->steps.size()) {
      if (at.around == nullptr) return 2;  // complete, and waiting for a deadline
      std::size_t count = 0;
      const bool repeats = at.group != nullptr && at.group->repeats();
      if (repeats && !bound) return 1;
      if (repeats && at.group->max > 1) count += branches(StepPlace{&at.group->body, 0, at.around, at.group}, false);
      if (count > plan::kMaxBranches) return count;
      return count + branches(at.around->next(), bound);
    }
    const plan::Step& step = at.step();
    if (const auto* slot = std::get_if<SlotId>(&step.item)) {
      return slots_[static_cast<std::size_t>(*slot)].min > 0 ? 1 : branches(at.next(), bound);
    }
    if (std::holds_alternative<NotStep>(step.item)) return branches(at.next(), bound);
    if (const auto* group = std::get_if<Group>(&step.item)) {
      const bool repeats = group->repeats();
      std::size_t count = branches(StepPlace{&group->body, 0, &at, group}, !repeats && bound);
      if (repeats && nullable(step, slots_) && count <= plan::kMaxBranches) count += branches(at.next(), bound);
      return count;
    }
    std::size_t count = 0;
    for (const Sequence& branch : std::get<plan::Alternatives>(step.item).branches) {
      count += branches(StepPlace{&branch, 0, &at, nullptr}, bound);
      if (count > plan::kMaxBranches) return count;
    }
    return count;
  }

  // ---- where a match may begin ----

  void mark_starts(const Sequence& sequence) {
    for (const plan::Step& step : sequence.steps) {
      if (const auto* slot = std::get_if<SlotId>(&step.item)) {
        for (const plan::ElementSet member : slots_[static_cast<std::size_t>(*slot)].members) {
          for (std::size_t i = 0; i < scope_.places.size(); ++i) {
            if ((member >> i & 1) != 0) scope_.places[i].starts = true;
          }
        }
      } else if (const auto* group = std::get_if<Group>(&step.item)) {
        mark_starts(group->body);
      } else if (const auto* alternatives = std::get_if<plan::Alternatives>(&step.item)) {
        for (const Sequence& branch : alternatives->branches) mark_starts(branch);
      }
      if (!nullable(step, slots_)) return;
    }
  }

  const ast::Rule& rule_;
  Pattern& pattern_;
  const std::vector<plan::Slot>& slots_;
  RuleScope& scope_;
  Reporter& report_;
  bool too_many_ = false;
};

}  // namespace

bool check_tree(const ast::Rule& rule, Pattern& pattern, RuleScope& scope) {
  return TreeCheck(rule, pattern, scope).check();
}

}  // namespace cepd::dsl::checking
