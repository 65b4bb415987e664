/// AFTER in links against the bounds around them: what can only come too late.

#include <algorithm>

#include "dsl/check_pattern_tree.h"
#include "dsl/check_warn_parts.h"

namespace cepd::dsl::checking {
namespace {

class TimeSearch {
 public:
  explicit TimeSearch(const WarnContext& context) : context_(context), slots_(context.rule.slots) {}

  /// The least time at which the last needed event of the sequence comes, where its first comes at `begin` or later.
  /// Times count from the first event that `bound` counts from; the first step that must be later is reported.
  Micros least_end(const plan::Sequence& sequence, Micros begin, std::optional<Micros> bound, const char* of_what) {
    Micros time = begin;
    bool first = true;
    for (const plan::Step& step : sequence.steps) {
      if (is_not(step)) continue;
      const Micros reached = first ? time : time + least_after(step);
      if (bound && reached > *bound) too_late(step, reached, *bound, of_what);
      const Micros end = inside(step, reached, bound, of_what);
      if (nullable(step, slots_)) continue;
      time = end;
      first = false;
    }
    return time;
  }

 private:
  Micros inside(const plan::Step& step, Micros reached, std::optional<Micros> bound, const char* of_what) {
    if (const auto* group = std::get_if<plan::Group>(&step.item)) {
      if (group->within) least_end(group->body, Micros(0), group->within, "group");
      const Micros once = least_end(group->body, reached, bound, of_what) - reached;
      return reached + once * std::max<std::uint32_t>(group->min, 1);
    }
    if (const auto* alternatives = std::get_if<plan::Alternatives>(&step.item)) {
      Micros out = Micros::max();
      for (const plan::Sequence& branch : alternatives->branches) {
        out = std::min(out, least_end(branch, reached, bound, of_what));
      }
      return out;
    }
    return reached;
  }

  /// The least AFTER by which some event of the step is reached.
  Micros least_after(const plan::Step& step) const {
    if (const auto* group = std::get_if<plan::Group>(&step.item)) return least_after(group->body);
    if (const auto* alternatives = std::get_if<plan::Alternatives>(&step.item)) {
      Micros out = Micros::max();
      for (const plan::Sequence& branch : alternatives->branches) out = std::min(out, least_after(branch));
      return out;
    }
    return step.link.after;
  }
  Micros least_after(const plan::Sequence& sequence) const {
    Micros out = Micros::max();
    for (const plan::Step& step : sequence.steps) {
      if (is_not(step)) continue;
      out = std::min(out, least_after(step));
      if (!nullable(step, slots_)) break;
    }
    return out;
  }

  void too_late(const plan::Step& step, Micros earliest, Micros bound, const char* of_what) {
    if (reported_) return;
    reported_ = true;
    const ast::Link* link = context_.steps.link(step);
    context_.report.warn(link == nullptr ? context_.steps.where(step) : link->where,
                         context_.steps.name(step) + " comes " + format_duration(earliest) +
                             " after the first event of the " + of_what + " at the earliest, and its WITHIN is " +
                             format_duration(bound),
                         "write WITHIN " + format_duration(earliest) + " or more, or a smaller AFTER");
  }

  const WarnContext& context_;
  const List<plan::Slot>& slots_;
  bool reported_ = false;
};

}  // namespace

void warn_times_that_exclude(const WarnContext& context) {
  TimeSearch(context).least_end(context.rule.pattern, Micros(0), context.rule.within, "pattern");
}

}  // namespace cepd::dsl::checking
