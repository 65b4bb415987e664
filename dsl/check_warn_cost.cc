/// How many partial matches a rule may have at once.

#include <algorithm>

#include "dsl/check_pattern_tree.h"
#include "dsl/check_warn_parts.h"

namespace cepd::dsl::checking {
namespace {

/// Ways to go on from one first event, over n events that fit: n to the power of `degree`, or 2 to the power of n.
struct Growth {
  std::uint32_t degree = 0;
  bool exponential = false;
  bool any() const { return degree > 0 || exponential; }
};

/// Superscript digits.
std::string power(std::uint32_t degree) {
  static constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out;
  for (const char digit : std::to_string(degree)) out += kDigits[digit - '0'];
  return out;
}

class CostSearch {
 public:
  explicit CostSearch(const WarnContext& context) : context_(context), rule_(context.rule) {}

  void check() {
    Growth total = in(StepPlace{&rule_.pattern, 0, nullptr, nullptr}, true);
    constexpr std::uint32_t kMostDegree = 8;  // beyond that the number says no more
    total.exponential |= total.degree > kMostDegree;
    // One more for the first events: each starts a partial match.
    if (!total.exponential && total.degree < 2) return;
    const std::string within = rule_.within    ? " within " + format_duration(*rule_.within)
                               : rule_.bounded ? " within the bounds of the links"
                                               : "";
    const std::string number = total.exponential ? "2ⁿ" : "n" + power(total.degree + 1);
    context_.report.warn(where_,
                         "n events" + within + " can make " + number + " matches, partial ones included: " + why_,
                         rule_.bounded ? hint_ : "give the pattern a WITHIN, or " + hint_);
  }

 private:
  /// `last`: nothing but NOTs follows the sequence.
  Growth in(const StepPlace& begin, bool last) {
    Growth out;
    const auto& steps = begin.sequence->steps;
    for (StepPlace at = begin; at.index < steps.size(); ++at.index) {
      if (is_not(at.step())) continue;
      const bool at_end = last && at.index + 1 == steps.size();
      add(out, step(at, at_end));
    }
    return out;
  }

  static void add(Growth& to, const Growth& more) {
    to.degree += more.degree;
    to.exponential |= more.exponential;
  }

  Growth step(const StepPlace& at, bool last) {
    const plan::Step& step = at.step();
    if (const auto* id = std::get_if<plan::SlotId>(&step.item)) {
      return slot(at, rule_.slots[static_cast<std::size_t>(*id)], last);
    }
    if (const auto* group = std::get_if<plan::Group>(&step.item)) return this->group(at, *group, last);
    Growth most;
    for (const plan::Sequence& branch : std::get<plan::Alternatives>(step.item).branches) {
      const Growth one = in(StepPlace{&branch, 0, &at, nullptr}, last);
      most.exponential |= one.exponential;
      most.degree = std::max(most.degree, one.degree);
    }
    return most;
  }

  Growth slot(const StepPlace& at, const plan::Slot& slot, bool last) {
    const bool free_repeats = slot.again == plan::Contiguity::kSkipTillAny && slot.members.size() == 1 && slot.max > 1;
    const bool free_first = at.step().link.contiguity == plan::Contiguity::kSkipTillAny && !begins(at);
    // What completes the match ends the others of its first event, unless they are all reported or HAVING drops it.
    if (last && rule_.policy != plan::Policy::kNoSkip && rule_.having.empty()) return {};
    if (free_repeats && slot.max == plan::kUnbounded) {
      because(true, context_.steps.where(slot), "COMBINATIONS may leave out each of them",
              "give the repeat a greatest number, {n,m}");
      return {0, true};
    }
    Growth out;
    if (free_repeats) {
      // The first of the repeats is free too, unless it begins the pattern or is reached by NEXT.
      const bool fixed_first = begins(at) || at.step().link.contiguity == plan::Contiguity::kStrict;
      out.degree = slot.max - (fixed_first ? 1 : 0);
      because(false, context_.steps.where(slot), "COMBINATIONS tries every choice of " + std::to_string(slot.max),
              "write the repeat without COMBINATIONS");
    } else if (free_first) {
      out.degree = static_cast<std::uint32_t>(slot.members.size());
      const ast::Link* link = context_.steps.link(at.step());
      because(false, link == nullptr ? context_.steps.where(slot) : link->where,
              "ANY tries every " + context_.steps.name(slot), "write THEN, which takes the first");
    }
    return out;
  }

  Growth group(const StepPlace& at, const plan::Group& group, bool last) {
    const bool once = group.max == 1;
    const Growth body = in(StepPlace{&group.body, 0, &at, &group}, last && once);
    if (once) return body;
    const ast::Location where = context_.steps.where(at.step());
    const std::string fewer = "give the group a greatest number of repeats, {n,m}";
    if (group.max != plan::kUnbounded) {
      Growth out{body.degree * group.max, body.exponential};
      if (group.again == plan::Contiguity::kSkipTillAny) {
        out.degree += group.max;
        because(body.exponential, where, "COMBINATIONS tries every beginning of a repeat",
                "write the repeat without COMBINATIONS");
      }
      return out;
    }
    if (body.any() || ends_early(group.body) || group.again == plan::Contiguity::kSkipTillAny) {
      because(true, where, "each repeat of the group goes on in several ways", fewer);
      return {0, true};
    }
    // After each repeat the match goes on both ways: one partial match for each number of repeats.
    if (last && rule_.policy != plan::Policy::kNoSkip && rule_.having.empty()) return {};
    because(false, where, "each number of repeats is a partial match of its own", fewer);
    return {1, false};
  }

  /// A body whose last step may end at several counts: the next repeat begins after each of them.
  bool ends_early(const plan::Sequence& body) const {
    const auto* id = std::get_if<plan::SlotId>(&body.steps.back().item);
    if (id == nullptr) return false;
    const plan::Slot& slot = rule_.slots[static_cast<std::size_t>(*id)];
    return slot.max == plan::kUnbounded && !slot.greedy;
  }

  static bool begins(const StepPlace& at) { return at.index == 0 && (at.around == nullptr || begins(*at.around)); }

  /// The first reason is the one that is told, but the first that makes 2ⁿ of it before all others.
  void because(bool exponential, ast::Location where, std::string why, std::string hint) {
    if (!why_.empty() && (told_exponential_ || !exponential)) return;
    told_exponential_ = exponential;
    where_ = where;
    why_ = std::move(why);
    hint_ = std::move(hint);
  }

  const WarnContext& context_;
  const plan::Rule& rule_;
  ast::Location where_;
  std::string why_, hint_;
  bool told_exponential_ = false;
};

}  // namespace

void warn_many_matches(const WarnContext& context) { CostSearch(context).check(); }

}  // namespace cepd::dsl::checking
