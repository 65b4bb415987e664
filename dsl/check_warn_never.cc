/// Conditions that can never be true together: elements that no event can satisfy, and HAVING.

#include <algorithm>

#include "dsl/check_warn_parts.h"
#include "dsl/plan_walk.h"

namespace cepd::dsl::checking {
namespace {

/// Part number `part` is never true: by itself, with part `other`, or with those before it.
struct Conflict {
  std::size_t part = 0;
  std::optional<std::size_t> other;
  bool alone = false;
};

bool possible_with(Cases cases, const plan::Expr& condition) {
  cases.assume(condition);
  return cases.possible();
}

/// Finds the fewest parts that exclude each other, under what `base` assumes (which is possible).
std::optional<Conflict> conflict(const Cases& base, const std::vector<Part>& parts) {
  Cases all = base;
  std::size_t last = 0;
  for (; last < parts.size(); ++last) {
    all.assume(*parts[last].expr);
    if (!all.possible()) break;
  }
  if (last == parts.size()) return std::nullopt;
  Cases with_last = base;
  with_last.assume(*parts[last].expr);
  if (!with_last.possible()) return Conflict{last, {}, true};
  for (std::size_t i = 0; i < last; ++i) {
    if (!possible_with(with_last, *parts[i].expr)) return Conflict{last, i, false};
  }
  return Conflict{last, {}, false};
}

/// Speaks of nothing but fields of the tested event, so that it goes with all that is known of other events:
/// comparisons of such fields with constants and with each other. Most conditions are of this kind.
bool of_tested_only(const plan::Expr& part) {
  bool only = true;
  walk(part, [&](const plan::Expr& each) {
    if (const auto* ref = std::get_if<plan::FieldRef>(&each.node)) {
      only &= ref->subject == plan::Subject::kTested;
    } else if (const auto* binary = std::get_if<plan::Binary>(&each.node)) {
      only &= binary->op < plan::BinaryOp::kAdd;
    } else {
      only &= std::holds_alternative<plan::Constant>(each.node) || std::holds_alternative<plan::In>(each.node) ||
              std::holds_alternative<plan::Between>(each.node) || std::holds_alternative<plan::IsNull>(each.node);
    }
  });
  return only;
}

std::string range_text(const CountRange& range) {
  if (range.most == plan::kUnbounded) return "at least " + std::to_string(range.least);
  if (range.least == range.most) return "always " + std::to_string(range.least);
  return "from " + std::to_string(range.least) + " to " + std::to_string(range.most);
}

class NeverSearch {
 public:
  explicit NeverSearch(const WarnContext& context)
      : context_(context), rule_(context.rule), facts_(context.facts), report_(context.report) {}

  void check() {
    for (std::size_t i = 0; i < rule_.elements.size(); ++i) element(i);
    for (std::size_t i = 0; i < rule_.unless.size(); ++i) {
      events(rule_.unless[i], context_.text.rule.unless[i], "this UNLESS never drops a match: ");
    }
    if (rule_.from && context_.text.rule.from) {
      const auto& inputs = context_.text.rule.from->inputs;
      const std::size_t written = rule_.from->size() - inputs.size();  // `*` stands before them
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        events((*rule_.from)[written + i], inputs[i], "FROM lets none of these through: ");
      }
    }
    having();
  }

 private:
  static constexpr const char* kOr = "did you mean OR?";

  void tell(const std::string& what, const std::vector<Part>& parts, const Conflict& found, const std::string& note) {
    const Part& part = parts[found.part];
    if (report_.has_reported_in(part.where)) return;
    const std::string text = quoted_text(report_, part.where);
    if (found.alone) {
      report_.warn(part.where, what + text + " is never true" + note);
    } else if (found.other) {
      report_.warn(
          part.where,
          what + quoted_text(report_, parts[*found.other].where) + " and " + text + " exclude each other" + note, kOr);
    } else {
      report_.warn(part.where, what + text + " excludes the conditions before it" + note);
    }
  }

  // ---- elements ----

  std::string never(std::size_t index) const {
    const plan::Element& element = rule_.elements[index];
    if (element.role == plan::Role::kNot) return "this NOT never counts: ";
    if (element.role == plan::Role::kUntil) return "this UNTIL never ends the repeat: ";
    const std::string none = "no event can be " + element.name + ": ";
    return facts_.count(index).least > 0 ? "the rule never matches, " + none : none;
  }

  std::vector<Part> parts_of(std::size_t index) const {
    std::vector<Part> out;
    const auto& conditions = rule_.elements[index].test.conditions;
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      add_parts(conditions[i], context_.text.conditions[index][i], out);
    }
    return out;
  }

  void element(std::size_t index) {
    const std::vector<Part> written = parts_of(index);
    std::vector<Part> parts = written;
    for (Part& part : parts) part.expr = facts_.tested(part.expr, index);
    if (const auto found = conflict(facts_.at(index), parts)) return tell(never(index), parts, *found, "");
    if (rule_.from && !passes_from(index, parts)) return;
    if (std::all_of(parts.begin(), parts.end(), [](const Part& part) { return of_tested_only(*part.expr); })) return;
    Cases base = facts_.at(index);
    facts_.assume_bound(base, index);
    if (!base.possible()) return;  // told at the element before
    if (const auto found = conflict(base, parts)) {
      tell(never(index), parts, *found, because(index, parts, *found));
    }
  }

  /// Reports an element all of whose events FROM keeps out.
  bool passes_from(std::size_t index, const std::vector<Part>& parts) {
    const auto passes = [&](const std::vector<Part>& some) {
      return std::any_of(rule_.from->begin(), rule_.from->end(), [&](const plan::EventTest& from) {
        Cases cases = facts_.at(index);
        facts_.assume_from(cases, from, index);
        for (const Part& part : some) cases.assume(*part.expr);
        return cases.possible();
      });
    };
    if (passes(parts) || !passes({})) return true;
    ast::Location where = context_.steps.where(index);
    for (const Part& part : parts) {
      if (passes({part})) continue;
      where = part.where;
      break;
    }
    if (!report_.has_reported_in(where)) {
      report_.warn(where, never(index) + "FROM lets none through for which " + quoted_text(report_, where) + " holds",
                   "take the condition out of FROM, or change this one");
    }
    return false;
  }

  /// Which earlier element says the opposite.
  std::string because(std::size_t index, const std::vector<Part>& parts, const Conflict& found) const {
    for (std::size_t i = 0; i < rule_.elements.size(); ++i) {
      if (i == index || !facts_.sure(i) || !facts_.bound_before(i, index)) continue;
      for (const Part& earlier : parts_of(i)) {
        const plan::ExprPtr bound = facts_.bound(earlier.expr, i);
        if (bound == nullptr) continue;
        Cases cases = facts_.at(index);
        cases.assume(*bound);
        if (found.other) cases.assume(*parts[*found.other].expr);
        if (!possible_with(cases, *parts[found.part].expr)) {
          return " after " + rule_.elements[i].name + ", for which " + quoted_text(report_, earlier.where) + " holds";
        }
      }
    }
    return " after the events before it";
  }

  // ---- FROM, UNLESS, HAVING ----

  void events(const plan::EventTest& test, const ast::EventPattern& written, const std::string& what) {
    std::vector<Part> parts;
    for (const plan::ExprPtr& condition : test.conditions) {
      add_parts(condition, {written.condition->where, written.condition.get()}, parts);
    }
    if (const auto found = conflict(facts_.for_events(test.types), parts)) tell(what, parts, *found, "");
  }

  void having() {
    if (rule_.having.empty()) return;
    const ast::Expr& written = *context_.text.rule.having;
    std::vector<Part> parts;
    add_parts(rule_.having.front(), {written.where, &written}, parts);
    std::string counts;
    std::vector<bool> told(rule_.elements.size());
    for (Part& part : parts) part.expr = facts_.whole(part.expr);
    Cases base = facts_.at_end();
    auto found = conflict(base, parts);
    if (!found) {
      facts_.assume_bound(base, std::nullopt);
      if (!base.possible()) return;
      found = conflict(base, parts);
    }
    if (!found) return;
    walk(*parts[found->part].expr, [&](const plan::Expr& part) {
      const auto* aggregate = std::get_if<plan::Aggregate>(&part.node);
      if (aggregate == nullptr || aggregate->kind != plan::AggregateKind::kCount || aggregate->field) return;
      const auto element = static_cast<std::size_t>(aggregate->element);
      if (told[element]) return;
      told[element] = true;
      counts += ", count(" + rule_.elements[element].name + ") is " + range_text(facts_.count(element));
    });
    tell("HAVING never holds, and the rule never matches: ", parts, *found, counts);
  }

  const WarnContext& context_;
  const plan::Rule& rule_;
  const RuleFacts& facts_;
  Reporter& report_;
};

}  // namespace

void warn_never(const WarnContext& context) { NeverSearch(context).check(); }

}  // namespace cepd::dsl::checking
