/// How long the rule waits, and at which event it completes.

#include <algorithm>

#include "dsl/check_pattern_tree.h"
#include "dsl/check_warn_parts.h"
#include "dsl/plan_walk.h"

namespace cepd::dsl::checking {
namespace {

constexpr const char* kEveryOne = "AFTER MATCH NO SKIP reports every one";

/// Finds where the pattern may complete although it could go on.
class EndSearch {
 public:
  explicit EndSearch(const WarnContext& context) : context_(context), rule_(context.rule), slots_(context.rule.slots) {}

  /// Of a sequence with which the pattern ends.
  void in(const StepPlace& begin) {
    const auto& steps = begin.sequence->steps;
    std::size_t end = steps.size();
    while (end > 0 && is_not(steps[end - 1])) --end;
    if (end != steps.size() && waits_for_all(begin, end)) return;
    // The last step that is needed, and those after it that are not.
    std::size_t needed = end;
    while (needed > 0 && (nullable(steps[needed - 1], slots_))) --needed;
    if (needed == 0) return;  // the whole is optional: the sequence around it says so
    StepPlace at = begin;
    for (at.index = needed; at.index < end; ++at.index) {
      if (is_greedy(at.step())) continue;
      return without(steps[needed - 1], at);
    }
    if (needed < end) return;  // what is left takes all it can
    at.index = needed - 1;
    in_step(at);
  }

 private:
  /// Of last NOTs: true when all partial matches wait for one deadline, at which the longest is preferred.
  bool waits_for_all(const StepPlace& begin, std::size_t first_not) const {
    const auto& steps = begin.sequence->steps;
    return std::all_of(steps.begin() + static_cast<std::ptrdiff_t>(first_not), steps.end(), [](const plan::Step& step) {
      return step.link.contiguity != plan::Contiguity::kStrict && !step.link.within;
    });
  }

  bool is_greedy(const plan::Step& step) const {
    const auto* id = std::get_if<plan::SlotId>(&step.item);
    return id != nullptr && slots_[static_cast<std::size_t>(*id)].greedy;
  }

  static bool in_repeated_group(const StepPlace& at) {
    return (at.group != nullptr && at.group->max > 1) || (at.around != nullptr && in_repeated_group(*at.around));
  }

  static bool begins_pattern(const StepPlace& at) {
    return at.index == 0 && (at.around == nullptr || begins_pattern(*at.around));
  }

  /// "at b", "at the 2nd b", "at the end of `(b THEN c)`".
  std::string at_event(const plan::Step& step) const {
    const std::string name = context_.steps.name(step);
    const auto* id = std::get_if<plan::SlotId>(&step.item);
    if (id == nullptr) return "at the end of " + name;
    const plan::Slot& slot = slots_[static_cast<std::size_t>(*id)];
    return slot.max == 1 ? "at " + name : "at the " + ordinal(slot.min) + " " + name;
  }

  // ---- what may be left out ----

  void without(const plan::Step& last, const StepPlace& at) {
    if (!may_hold_without(at)) return;
    context_.report.warn(context_.steps.where(at.step()),
                         "the rule completes " + at_event(last) + ", without " + context_.steps.name(at.step()) +
                             ", and the match without it is the one reported",
                         hint(at.step(), false));
  }

  /// Whether HAVING lets a match pass that has nothing bound from the step on.
  bool may_hold_without(const StepPlace& from) const {
    if (rule_.having.empty()) return true;
    plan::ElementSet absent = 0;
    const plan::Sequence tail{
        std::vector<plan::Step>(from.sequence->steps.begin() + from.index, from.sequence->steps.end())};
    for_each_step(tail, [&](const StepPlace& at) {
      const auto* id = std::get_if<plan::SlotId>(&at.step().item);
      if (id == nullptr) return;
      for (const plan::ElementSet member : slots_[static_cast<std::size_t>(*id)].members) absent |= member;
    });
    const auto is_absent = [&](plan::ElementId id) { return (plan::element_bit(id) & absent) != 0; };
    const plan::ExprPtr condition =
        rewritten(context_.facts.whole(rule_.having.front()), [&](const plan::Expr& part) -> plan::ExprPtr {
          plan::Constant value;
          if (const auto* ref = std::get_if<plan::FieldRef>(&part.node)) {
            if (ref->subject == plan::Subject::kTested || ref->subject == plan::Subject::kPrevious) return nullptr;
            if (!is_absent(ref->element)) return nullptr;
          } else if (const auto* aggregate = std::get_if<plan::Aggregate>(&part.node)) {
            if (!is_absent(aggregate->element)) return nullptr;
            if (aggregate->kind == plan::AggregateKind::kCount) value = {Kind::kInt, {}, Value::integer(0)};
          } else {
            return nullptr;
          }
          return std::make_shared<const plan::Expr>(plan::Expr{value});
        });
    Cases cases = context_.facts.at_end();
    cases.assume(*condition);
    return cases.possible();
  }

  // ---- what may be longer ----

  void in_step(const StepPlace& at) {
    const plan::Step& step = at.step();
    if (const auto* id = std::get_if<plan::SlotId>(&step.item)) {
      in_slot(at, slots_[static_cast<std::size_t>(*id)]);
    } else if (const auto* group = std::get_if<plan::Group>(&step.item)) {
      if (group->min != group->max) {
        context_.report.warn(context_.steps.where(step),
                             "the rule completes at the end of the " + ordinal(group->min) + " repeat of " +
                                 context_.steps.name(step) + ", and longer matches are dropped",
                             std::string("{n} takes a fixed number, ") + kEveryOne);
      } else {
        in(StepPlace{&group->body, 0, &at, group});
      }
    } else {
      for (const plan::Sequence& branch : std::get<plan::Alternatives>(step.item).branches) {
        in(StepPlace{&branch, 0, &at, nullptr});
      }
    }
  }

  void in_slot(const StepPlace& at, const plan::Slot& slot) {
    const std::string name = context_.steps.name(slot);
    const ast::Location where = context_.steps.where(slot);
    if (slot.min != slot.max) {
      if (slot.greedy) return;
      context_.report.warn(where, "the rule completes " + first_end(at, slot) + ", and longer matches are dropped",
                           hint(at.step(), true));
      return;
    }
    std::string when = "at the " + (slot.max == 1 ? std::string("first ") : ordinal(slot.min) + " ") + name;
    if (slot.members.size() > 1) when = "at the first events that are " + name;
    if (choice_matters(slot)) return;
    if (at.step().link.contiguity == plan::Contiguity::kSkipTillAny && !begins_pattern(at)) {
      const ast::Link* link = context_.steps.link(at.step());
      context_.report.warn(
          link == nullptr ? where : link->where,
          "the rule completes " + when + ", and the matches with later ones that ANY finds are dropped", kEveryOne);
    } else if (slot.again == plan::Contiguity::kSkipTillAny && slot.members.size() == 1 && slot.max > 1) {
      context_.report.warn(where, "the rule completes " + when + ", and the other choices of COMBINATIONS are dropped",
                           kEveryOne);
    }
  }

  /// Whether a match with later events may be one where the first to complete is none: HAVING drops it, or what the
  /// repeat accepts depends on what it took.
  bool choice_matters(const plan::Slot& slot) const {
    const std::vector<std::size_t> elements = elements_of(slot);
    return std::any_of(elements.begin(), elements.end(), [&](std::size_t element) {
      const plan::Element& own = rule_.elements[element];
      const auto looks = [&](const plan::ExprPtr& condition) { return looks_at(*condition, element); };
      return named_in_having(element) || !own.joint.empty() ||
             (slot.max > 1 && std::any_of(own.test.conditions.begin(), own.test.conditions.end(), looks));
    });
  }

  /// At which event of a last repeat the rule completes: the first for which HAVING may hold.
  std::string first_end(const StepPlace& at, const plan::Slot& slot) const {
    const std::string name = context_.steps.name(slot);
    if (in_repeated_group(at)) return "at the " + ordinal(slot.min) + " " + name + " of the last repeat";
    const std::vector<std::size_t> elements = elements_of(slot);
    if (elements.size() > 1 || !named_in_having(elements.front())) return "at the " + ordinal(slot.min) + " " + name;
    constexpr std::uint32_t kMostTried = 200;
    const plan::ExprPtr having = context_.facts.whole(rule_.having.front());
    plan::Aggregate counted;
    counted.element = static_cast<plan::ElementId>(elements.front());
    const auto count = std::make_shared<const plan::Expr>(plan::Expr{counted});
    for (std::uint32_t n = slot.min; n <= slot.max && n < slot.min + kMostTried; ++n) {
      const auto number =
          std::make_shared<const plan::Expr>(plan::Expr{plan::Constant{Kind::kInt, {}, Value::integer(n)}});
      Cases cases = context_.facts.at_end();
      cases.assume(plan::Expr{plan::Binary{plan::BinaryOp::kEq, count, number}});
      if (!follows_not(cases, *having)) {
        if (follows(cases, {having})) return "at the " + ordinal(n) + " " + name;
        break;
      }
    }
    return "at the first " + name + " for which HAVING holds";
  }
  static bool follows_not(Cases cases, const plan::Expr& condition) {
    cases.assume(condition);
    return !cases.possible();
  }

  bool named_in_having(std::size_t element) const {
    return std::any_of(rule_.having.begin(), rule_.having.end(),
                       [&](const plan::ExprPtr& having) { return looks_at(*having, element); });
  }

  /// What to write instead, as far as it is possible for this step.
  std::string hint(const plan::Step& step, bool fixed) const {
    std::string out;
    const auto* id = std::get_if<plan::SlotId>(&step.item);
    if (id != nullptr) {
      const plan::Slot& slot = slots_[static_cast<std::size_t>(*id)];
      const bool may_be_greedy =
          slot.members.size() == 1 && slot.again != plan::Contiguity::kSkipTillAny &&
          (rule_.within || slot.until || slot.max != plan::kUnbounded || slot.again == plan::Contiguity::kStrict);
      if (may_be_greedy) out = slot.max == 1 ? "GREEDY waits for it, " : "GREEDY waits for all of them, ";
    }
    if (fixed) out += "{n} takes a fixed number, ";
    return out + kEveryOne;
  }

  const WarnContext& context_;
  const plan::Rule& rule_;
  const List<plan::Slot>& slots_;
};

}  // namespace

void warn_no_bound(const WarnContext& context) {
  if (context.rule.bounded) return;
  const Waiting& waiting = *context.text.waiting;
  std::string what;
  switch (waiting.what) {
    case Waiting::What::kEvent:
      what = is_not(*waiting.step) ? "the very next event" : context.steps.name(*waiting.step);
      break;
    case Waiting::What::kRepeats:
      what = "more " + context.steps.name(*waiting.step);
      break;
    case Waiting::What::kMembers:
      what = "all of " + context.steps.name(*waiting.step);
      break;
  }
  context.report.warn(
      context.steps.where(*waiting.step),
      "the pattern has no WITHIN: what has begun waits for " + what + " for ever, or as long as the state TTL says",
      "end the pattern with a bound, like WITHIN 5m");
}

void warn_early_end(const WarnContext& context) {
  if (context.rule.policy == plan::Policy::kNoSkip) return;
  EndSearch(context).in(StepPlace{&context.rule.pattern, 0, nullptr, nullptr});
}

}  // namespace cepd::dsl::checking
