/// NOTs that can never count.

#include <algorithm>

#include "dsl/check_warn_parts.h"

namespace cepd::dsl::checking {
namespace {

class NotSearch {
 public:
  explicit NotSearch(const WarnContext& context) : context_(context), rule_(context.rule) {}

  void check(const StepPlace& at) {
    const auto index = static_cast<std::size_t>(std::get<plan::NotStep>(at.step().item).element);
    if (context_.report.has_reported_in(context_.steps.where(index))) return;
    const Followers next = followers(rule_, at.next());
    const bool all_strict = !next.end && std::all_of(next.slots.begin(), next.slots.end(), [](const Follower& each) {
      return each.link.contiguity == plan::Contiguity::kStrict;
    });
    const std::string name = rule_.elements[index].name;
    if (at.step().link.contiguity == plan::Contiguity::kStrict) {
      if (all_strict && none_accepts(next, index)) {
        useless(index,
                context_.steps.name(*next.slots.front().slot) + " is the very next event, and it is never " + name);
      }
    } else if (all_strict) {
      useless(index,
              context_.steps.name(*next.slots.front().slot) + " is the very next event, and nothing stands between");
    } else if (const std::string taker = takes_before(at, index); !taker.empty()) {
      useless(index, "every " + name + " it speaks of is taken by " + taker + " before it");
    } else if (!next.end && all_take(next, index)) {
      useless(index,
              "the first " + name + " it speaks of is " + context_.steps.name(*next.slots.front().slot) + " itself");
    }
  }

 private:
  void useless(std::size_t index, const std::string& why) {
    context_.report.warn(context_.steps.where(index), "this NOT never counts: " + why, instead(index));
  }

  /// Without the NOT its types would be no input of the rule, and NEXT would no longer see them.
  std::string instead(std::size_t index) const {
    const plan::Types& types = rule_.elements[index].test.types;
    if (rule_.from || types.any) return "leave it out";
    std::vector<TypeId> others, all;
    for (std::size_t i = 0; i < rule_.elements.size(); ++i) {
      for (const TypeId id : rule_.elements[i].test.types.ids) {
        if (i != index) others.push_back(id);
        if (std::find(all.begin(), all.end(), id) == all.end()) all.push_back(id);
      }
    }
    const bool named = std::all_of(types.ids.begin(), types.ids.end(), [&](TypeId id) {
      return std::find(others.begin(), others.end(), id) != others.end();
    });
    if (named) return "leave it out";
    std::string from;
    for (const TypeId id : all) {
      from += (from.empty() ? "" : ", ") + quoted_if_needed(context_.scope.set.fields->type(id).name);
    }
    return "FROM " + from + " says which events NEXT looks at";
  }

  bool none_accepts(const Followers& next, std::size_t index) const {
    for (const Follower& each : next.slots) {
      for (const std::size_t element : elements_of(*each.slot)) {
        if (may_both_accept(index, element)) return false;
      }
    }
    return true;
  }

  bool may_both_accept(std::size_t one, std::size_t other) const {
    Cases cases = context_.facts.at(one);
    for (const plan::ExprPtr& condition : rule_.elements[one].test.conditions) {
      cases.assume(*context_.facts.tested(condition, one));
    }
    context_.facts.assume_from(cases, plan::EventTest{rule_.elements[other].test.types, {}, {}}, one);
    for (const plan::ExprPtr& condition : rule_.elements[other].test.conditions) {
      cases.assume(*context_.facts.tested(condition, other));
    }
    return cases.possible();
  }

  bool accepts_all(const plan::Slot& slot, std::size_t index) const {
    const std::vector<std::size_t> elements = elements_of(slot);
    return std::any_of(elements.begin(), elements.end(),
                       [&](std::size_t element) { return implies(context_.facts, index, context_.facts, element); });
  }

  /// Whether each event that the NOT speaks of would be bound as the next one.
  bool all_take(const Followers& next, std::size_t index) const {
    return std::all_of(next.slots.begin(), next.slots.end(), [&](const Follower& each) {
      const plan::Link& link = each.link;
      const bool frees = each.slot->again == plan::Contiguity::kSkipTillAny && each.slot->max > 1;
      // A link's WITHIN that has passed ends the match anyway, if that is the only way on.
      const bool open = link.contiguity == plan::Contiguity::kSkipTillNext && link.after == Micros(0) && !frees &&
                        (!link.within || next.slots.size() == 1);
      return open && !each.slot->until && accepts_all(*each.slot, index);
    });
  }

  /// The repeat before the NOT, if it takes each event that the NOT speaks of and the pattern goes on in one way only.
  std::string takes_before(const StepPlace& at, std::size_t index) const {
    std::size_t after = at.index;
    while (after < at.sequence->steps.size() && is_not(at.sequence->steps[after])) ++after;
    if (after == at.sequence->steps.size()) return {};
    const auto* next = std::get_if<plan::SlotId>(&at.sequence->steps[after].item);
    if (next == nullptr || rule_.slots[static_cast<std::size_t>(*next)].min == 0) return {};
    std::size_t before = at.index;
    while (before > 0 && is_not(at.sequence->steps[before - 1])) --before;
    if (before == 0) return {};
    const plan::Step& step = at.sequence->steps[before - 1];
    const auto* id = std::get_if<plan::SlotId>(&step.item);
    if (id == nullptr) return {};
    const plan::Slot& slot = rule_.slots[static_cast<std::size_t>(*id)];
    const bool entered = slot.min > 0 || (step.link.contiguity == plan::Contiguity::kSkipTillNext &&
                                          step.link.after == Micros(0) && !step.link.within);
    if (slot.max != plan::kUnbounded || slot.again != plan::Contiguity::kSkipTillNext || slot.until || !entered)
      return {};
    return accepts_all(slot, index) ? context_.steps.name(slot) : std::string{};
  }

  const WarnContext& context_;
  const plan::Rule& rule_;
};

}  // namespace

void warn_useless_not(const WarnContext& context) {
  NotSearch search(context);
  for_each_step(context.rule.pattern, [&](const StepPlace& at) {
    if (is_not(at.step())) search.check(at);
  });
}

}  // namespace cepd::dsl::checking
