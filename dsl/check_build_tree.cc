/// The syntax tree of MATCH -> slots, groups and alternatives.

#include <algorithm>
#include <numeric>

#include "dsl/check_pattern_tree.h"

namespace cepd::dsl::checking {
namespace {

/// An element that takes one event at a time: a type, or an OR of such under one name.
struct Single {
  std::vector<const ast::EventPattern*> events;
  const ast::Element* written = nullptr;
};

using SequencePtr = std::shared_ptr<const ast::Sequence>;

class TreeBuilder {
 public:
  TreeBuilder(const ast::Rule& rule, RuleScope& scope) : rule_(rule), scope_(scope), report_(scope.report) {}

  Pattern build() {
    out_.tree = sequence(rule_.pattern, nullptr, {});
    if (scope_.elements.size() <= plan::kMaxElements) number_as_written();
    return std::move(out_);
  }

 private:
  /// What the parts of a sequence take from what stands around it.
  struct Around {
    bool repeated = false, optional = false, in_group = false;
    bool opens_group = false;  ///< the link before it stands before a repeated group: it reaches the first event only
    std::vector<std::pair<std::size_t, std::size_t>> alternatives;
  };

  // ---- the order of the elements ----

  /// The single alternatives of an OR were added together: puts all elements into the order in which they are written,
  /// which is the order of names, output and ties.
  void number_as_written() {
    std::vector<std::size_t> order(scope_.elements.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return out_.written[a].events.front()->where.begin < out_.written[b].events.front()->where.begin;
    });
    std::vector<std::size_t> number(order.size());
    const auto in_order = [&](auto& list) {
      auto sorted = list;
      for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = list[order[i]];
      list = std::move(sorted);
    };
    for (std::size_t i = 0; i < order.size(); ++i) number[order[i]] = i;
    in_order(scope_.elements);
    in_order(scope_.places);
    in_order(out_.written);
    const auto renumbered = [&](plan::ElementId id) {
      return static_cast<plan::ElementId>(number[static_cast<std::size_t>(id)]);
    };
    for (plan::Slot& slot : out_.slots) {
      for (plan::ElementSet& member : slot.members) {
        plan::ElementSet set = 0;
        for (std::size_t i = 0; i < number.size(); ++i) {
          if ((member >> i & 1) != 0) set |= plan::element_bit(static_cast<plan::ElementId>(number[i]));
        }
        member = set;
      }
      if (slot.until) slot.until = renumbered(*slot.until);
    }
    renumber_nots(out_.tree, renumbered);
  }
  template <class Renumbered>
  static void renumber_nots(plan::Sequence& sequence, const Renumbered& renumbered) {
    for (plan::Step& step : sequence.steps.edit()) {
      if (auto* no = std::get_if<plan::NotStep>(&step.item)) no->element = renumbered(no->element);
      if (auto* group = std::get_if<plan::Group>(&step.item)) renumber_nots(group->body, renumbered);
      if (auto* either = std::get_if<plan::Alternatives>(&step.item)) {
        for (plan::Sequence& branch : either->branches) renumber_nots(branch, renumbered);
      }
    }
  }

  // ---- single elements ----

  /// The alternatives of an element that acts as one: `a`, `(a)`, `(a OR b[c])`, `((a OR b) OR c)`. Its own quantifier
  /// is not looked at. Nothing for every other group.
  std::optional<std::vector<Single>> singles(const ast::Element& element) {
    if (const auto* event = std::get_if<ast::EventPattern>(&element.item)) return {{Single{{event}, &element}}};
    const ast::Sequence& group = *std::get<SequencePtr>(element.item);
    if (group.within || group.steps.size() != 1) return std::nullopt;
    std::vector<Single> out;
    for (const ast::Both& both : group.steps.front().choice.alternatives) {
      if (both.members.size() != 1) return std::nullopt;
      const ast::Element& member = both.members.front();
      if (member.negated || member.quantifier) return std::nullopt;
      const auto inner = singles(member);
      if (!inner) return std::nullopt;
      out.insert(out.end(), inner->begin(), inner->end());
    }
    if (!element.as) return out;
    Single together{{}, &element};
    for (const Single& each : out) {
      if (each.written->as) {
        report_.error(each.written->as->where,
                      each.written->as->text + " stands in a group that is called " + element.as->text +
                          ": an event has one name",
                      "leave one of the names out");
      }
      together.events.insert(together.events.end(), each.events.begin(), each.events.end());
    }
    return {{together}};
  }

  plan::ElementId add(const Single& single, plan::Role role, const ast::Link* link, ElementPlace place) {
    plan::Element element;
    element.role = role;
    scope_.elements.push_back(std::move(element));
    scope_.places.push_back(std::move(place));
    out_.written.push_back({single.written, single.events, link});
    return static_cast<plan::ElementId>(scope_.elements.size() - 1);
  }

  static ElementPlace place_in(const Around& around) {
    ElementPlace place;
    place.repeated = around.repeated;
    place.optional = around.optional;
    place.in_group = around.in_group;
    place.alternatives = around.alternatives;
    return place;
  }

  // ---- links ----

  plan::Link link(const ast::Link* written) {
    plan::Link out;
    if (written == nullptr) return out;
    switch (written->kind) {
      case ast::LinkKind::kThen:
        out.contiguity = plan::Contiguity::kSkipTillNext;
        break;
      case ast::LinkKind::kThenAny:
        out.contiguity = plan::Contiguity::kSkipTillAny;
        break;
      case ast::LinkKind::kNext:
        out.contiguity = plan::Contiguity::kStrict;
        break;
    }
    if (written->within) out.within = scope_.set.duration(*written->within, "WITHIN", report_);
    if (written->after) {
      if (const auto after = scope_.set.duration(*written->after, "AFTER", report_)) out.after = *after;
      if (out.within && *out.within < out.after) {
        report_.error(written->where, "no event can come at most " + format_duration(*out.within) + " and at least " +
                                          format_duration(out.after) + " after the one before");
      }
    }
    return out;
  }

  // ---- slots ----

  /// `members`: one list of alternatives for each member of an AND; one for everything else.
  plan::SlotId slot(const std::vector<std::vector<Single>>& members, const ast::Link* link, const Around& around,
                    const ast::Quantifier* quantifier) {
    plan::Slot slot;
    ElementPlace place = place_in(around);
    if (quantifier != nullptr) {
      slot.min = quantifier->min;
      slot.max = quantifier->max.value_or(plan::kUnbounded);
      slot.greedy = quantifier->greedy;
      slot.again = again(*quantifier);
      place.repeated = place.repeated || slot.max > 1;
      place.at_least_two = slot.min > 1;
      place.optional = place.optional || slot.min == 0;
    }
    if (members.size() > 1) {
      const bool first_only = link == nullptr || around.opens_group;
      slot.again = first_only ? plan::Contiguity::kSkipTillNext : this->link(link).contiguity;
      place.all = next_all_++;
    }
    for (const std::vector<Single>& alternatives : members) {
      plan::ElementSet set = 0;
      const std::size_t choice = alternatives.size() > 1 ? next_or_++ : 0;
      for (std::size_t i = 0; i < alternatives.size(); ++i) {
        ElementPlace own = place;
        if (alternatives.size() > 1) {
          own.optional = true;
          own.at_least_two = false;
          own.alternatives.emplace_back(choice, i);
        }
        const plan::ElementId id = add(alternatives[i], plan::Role::kTake, link, std::move(own));
        if (static_cast<std::size_t>(id) < plan::kMaxElements) set |= plan::element_bit(id);
      }
      slot.members.push_back(set);
    }
    if (quantifier != nullptr && quantifier->until) {
      const Single until{{&*quantifier->until}, members.front().front().written};
      slot.until = add(until, plan::Role::kUntil, nullptr, std::move(place));
    }
    out_.slots.push_back(std::move(slot));
    return static_cast<plan::SlotId>(out_.slots.size() - 1);
  }

  static plan::Contiguity again(const ast::Quantifier& quantifier) {
    return quantifier.consecutive    ? plan::Contiguity::kStrict
           : quantifier.combinations ? plan::Contiguity::kSkipTillAny
                                     : plan::Contiguity::kSkipTillNext;
  }

  // ---- elements, groups ----

  void check_modifiers(const ast::Element& element, bool single, std::size_t alternatives) {
    if (!element.quantifier) return;
    const ast::Quantifier& quantifier = *element.quantifier;
    if (quantifier.greedy && quantifier.combinations) {
      report_.error(quantifier.modifiers_where, "GREEDY and COMBINATIONS exclude each other",
                    "GREEDY takes every event, COMBINATIONS may leave each of them out");
    }
    if (!single && quantifier.greedy) {
      report_.error(quantifier.modifiers_where, "GREEDY stands on a single element or an OR of such, not on a group");
    }
    if (quantifier.until && (!single || alternatives > 1)) {
      report_.error(quantifier.until->where, "UNTIL stands on a single element",
                    "say UNLESS for an event that ends the whole match");
    }
  }

  /// A NOT, or several for `NOT (a OR b)`.
  void negated(const ast::Element& element, const ast::Link* written, const Around& around, plan::Sequence& out) {
    if (element.quantifier) {
      report_.error(element.quantifier->where, "a NOT cannot be repeated", "NOT means that no such event comes at all");
    }
    if (written != nullptr && written->kind == ast::LinkKind::kThenAny) {
      report_.error(written->where, "ANY says nothing before a NOT", "write THEN NOT");
    }
    if (written != nullptr && written->after) {
      report_.error(written->after->where, "AFTER says nothing before a NOT",
                    "write AFTER in the link to the element that follows");
    }
    if (written != nullptr && written->within && written->kind == ast::LinkKind::kNext) {
      report_.error(written->within->where, "a NEXT NOT looks at the very next event, whenever it comes",
                    "write THEN WITHIN … NOT for all events of that time");
    }
    const auto found = singles(element);
    if (!found) {
      report_.error(element.where, "NOT takes a type, types joined by |, or an OR of such in parentheses",
                    "say UNLESS, or one NOT for each type");
      return;
    }
    ElementPlace place = place_in(around);
    place.repeated = false;
    for (const Single& each : *found) {
      const plan::ElementId id = add(each, plan::Role::kNot, written, place);
      out.steps.edit().push_back({link(written), plan::NotStep{id}});
    }
  }

  void element(const ast::Element& element, const ast::Link* written, const Around& around, plan::Sequence& out) {
    if (element.negated) return negated(element, written, around, out);
    if (const auto alternatives = singles(element)) {
      check_modifiers(element, true, alternatives->size());
      const ast::Quantifier* quantifier = element.quantifier ? &*element.quantifier : nullptr;
      out.steps.edit().push_back({link(written), slot({*alternatives}, written, around, quantifier)});
      return;
    }
    check_modifiers(element, false, 1);
    if (element.as) {
      report_.error(element.as->where, "a group has no name of its own", "name its elements");
    }
    const ast::Sequence& body = *std::get<SequencePtr>(element.item);
    const bool repeats = element.quantifier &&
                         (element.quantifier->min != 1 || element.quantifier->max != std::optional<std::uint32_t>(1));
    if (!repeats && !body.within) {
      // Parentheses alone: their steps are steps of the sequence around them.
      const plan::Sequence inner = sequence(body, written, around);
      std::vector<plan::Step>& steps = out.steps.edit();
      steps.insert(steps.end(), inner.steps.begin(), inner.steps.end());
      return;
    }
    plan::Group group;
    Around inside = around;
    if (repeats) {
      group.min = element.quantifier->min;
      group.max = element.quantifier->max.value_or(plan::kUnbounded);
      group.again = again(*element.quantifier);
      inside.in_group = inside.opens_group = true;
      inside.repeated = inside.repeated || group.max > 1;
      inside.optional = inside.optional || group.min == 0;
    }
    if (body.within) group.within = scope_.set.duration(*body.within, "WITHIN", report_);
    out_.groups.push_back(&element);
    if (out_.groups.size() == plan::kMaxGroups + 1) {
      report_.error(element.where, "a pattern has at most " + std::to_string(plan::kMaxGroups) +
                                       " groups that are repeated or have a bound");
    }
    group.body = sequence(body, written, inside);
    const plan::Link reached = link(written);
    out.steps.edit().push_back({reached, std::move(group)});
  }

  // ---- AND, OR ----

  void all(const ast::Both& both, const ast::Link* written, const Around& around, plan::Sequence& out) {
    if (both.members.size() > 8) {
      report_.error(both.where, "AND joins at most eight elements, not " + std::to_string(both.members.size()));
    }
    std::vector<std::vector<Single>> members;
    for (const ast::Element& member : both.members) {
      if (member.negated) {
        report_.error(member.where, "NOT cannot stand in an AND", "say UNLESS for an event that must not come");
        continue;
      }
      if (member.quantifier) {
        report_.error(member.quantifier->where, "a member of an AND is one event and cannot be repeated");
        continue;
      }
      const auto alternatives = singles(member);
      if (!alternatives) {
        report_.error(member.where, "AND joins single elements: a type with its condition, or an OR of such",
                      "write the sequence with THEN");
        continue;
      }
      members.push_back(*alternatives);
    }
    if (members.size() != both.members.size()) return;
    out.steps.edit().push_back({link(written), slot(members, written, around, nullptr)});
  }

  void choice(const ast::Choice& choice, const ast::Link* written, const Around& around, plan::Sequence& out) {
    if (choice.alternatives.size() == 1) {
      const ast::Both& both = choice.alternatives.front();
      if (both.members.size() > 1) return all(both, written, around, out);
      return element(both.members.front(), written, around, out);
    }
    // Alternatives that are single elements act as one; every other one is a branch of its own.
    std::vector<Single> single;
    std::vector<const ast::Both*> others;
    for (const ast::Both& both : choice.alternatives) {
      const ast::Element& first = both.members.front();
      if (first.negated && both.members.size() == 1) {
        report_.error(first.where, "NOT cannot stand in an OR", "say UNLESS for an event that must not come");
        continue;
      }
      const auto found = both.members.size() == 1 && !first.quantifier ? singles(first) : std::nullopt;
      if (!found) {
        others.push_back(&both);
      } else {
        single.insert(single.end(), found->begin(), found->end());
      }
    }
    if (others.empty()) {
      if (!single.empty()) out.steps.edit().push_back({link(written), slot({single}, written, around, nullptr)});
      return;
    }
    const std::size_t number = next_or_++;
    plan::Alternatives alternatives;
    Around inside = around;
    inside.optional = true;
    std::size_t branch = 0;
    bool singles_done = false;
    for (const ast::Both& both : choice.alternatives) {
      const bool other = std::find(others.begin(), others.end(), &both) != others.end();
      if (!other && singles_done) continue;
      inside.alternatives = around.alternatives;
      inside.alternatives.emplace_back(number, branch++);
      plan::Sequence sequence;
      if (!other) {
        singles_done = true;
        if (!single.empty()) sequence.steps.edit().push_back({link(written), slot({single}, written, inside, nullptr)});
      } else if (both.members.size() > 1) {
        all(both, written, inside, sequence);
      } else {
        element(both.members.front(), written, inside, sequence);
      }
      alternatives.branches.push_back(std::move(sequence));
    }
    const plan::Link reached = link(written);
    out.steps.edit().push_back({reached, std::move(alternatives)});
  }

  /// `first`: the link before the parentheses, which is the link to their first element.
  plan::Sequence sequence(const ast::Sequence& written, const ast::Link* first, const Around& around) {
    plan::Sequence out;
    Around later = around;
    later.opens_group = false;
    for (std::size_t i = 0; i < written.steps.size(); ++i) {
      choice(written.steps[i].choice, i == 0 ? first : &written.steps[i].link, i == 0 ? around : later, out);
    }
    return out;
  }

  const ast::Rule& rule_;
  RuleScope& scope_;
  Reporter& report_;
  Pattern out_;
  std::size_t next_or_ = 0, next_all_ = 0;
};

}  // namespace

Pattern build_tree(const ast::Rule& rule, RuleScope& scope) { return TreeBuilder(rule, scope).build(); }

}  // namespace cepd::dsl::checking
