#include "dsl/check_warn.h"

#include <algorithm>
#include <set>

namespace cepd::dsl::checking {
namespace {

std::string ordinal(std::uint32_t n) {
  const char* suffix = "th";
  if (n % 100 < 11 || n % 100 > 13) {
    if (n % 10 == 1) suffix = "st";
    if (n % 10 == 2) suffix = "nd";
    if (n % 10 == 3) suffix = "rd";
  }
  return std::to_string(n) + suffix;
}

void no_bound(const RuleText& text, const plan::Rule& rule, Reporter& report) {
  if (rule.bounded) return;
  report.warn(text.rule.pattern.where,
              "the pattern has no WITHIN: what has begun waits for ever, or as long as the state TTL says",
              "write it like WITHIN 5m");
}

void shortest_wins(const RuleText& text, const plan::Rule& rule, Reporter& report) {
  const plan::Step& step = rule.pattern.steps.back();
  const auto* id = std::get_if<plan::SlotId>(&step.item);
  if (id == nullptr || rule.policy == plan::Policy::kNoSkip) return;
  const plan::Slot& last = rule.slots[static_cast<std::size_t>(*id)];
  const auto element = static_cast<std::size_t>(__builtin_ctzll(last.members.front()));
  const ast::Location where = text.elements[element].element->where;
  const std::string& name = rule.elements[element].name;
  const std::string hint = "AFTER MATCH NO SKIP reports every one";
  if (last.min != last.max && !last.greedy) {
    if (last.min == 0) {
      report.warn(where, "the rule completes without " + name + ", and the match without it is the one reported", hint);
    } else {
      report.warn(where,
                  "the rule completes at the " + ordinal(last.min) + " " + name + ", and longer matches are dropped",
                  hint + ", {n} takes a fixed number");
    }
  } else if (step.link.contiguity == plan::Contiguity::kSkipTillAny && rule.pattern.steps.size() > 1) {
    report.warn(where,
                "the rule completes at the first " + name +
                    ", and its matches with later ones are dropped: ANY "
                    "makes no difference",
                hint);
  } else if (last.again == plan::Contiguity::kSkipTillAny && last.members.size() == 1) {
    report.warn(where,
                "the rule completes at the " + ordinal(last.min) + " " + name +
                    ", and its matches with other ones are dropped: COMBINATIONS makes no difference",
                hint);
  }
}

void useless_not(const RuleText& text, const plan::Rule& rule, const plan::Sequence& sequence, Reporter& report) {
  for (std::size_t i = 0; i < sequence.steps.size(); ++i) {
    const plan::Step& step = sequence.steps[i];
    if (const auto* group = std::get_if<plan::Group>(&step.item)) useless_not(text, rule, group->body, report);
    const auto* no = std::get_if<plan::NotStep>(&step.item);
    if (no == nullptr || step.link.contiguity == plan::Contiguity::kStrict) continue;
    std::size_t next = i + 1;
    while (next < sequence.steps.size() && std::holds_alternative<plan::NotStep>(sequence.steps[next].item)) ++next;
    if (next == sequence.steps.size()) continue;
    const auto* follower = std::get_if<plan::SlotId>(&sequence.steps[next].item);
    if (follower == nullptr || sequence.steps[next].link.contiguity != plan::Contiguity::kStrict) continue;
    const plan::Slot& slot = rule.slots[static_cast<std::size_t>(*follower)];
    if (slot.min == 0) continue;
    const auto element = static_cast<std::size_t>(__builtin_ctzll(slot.members.front()));
    report.warn(text.elements[static_cast<std::size_t>(no->element)].element->where,
                "this NOT never counts: " + rule.elements[element].name +
                    " is the very next event, and nothing stands between");
  }
}

void hidden_fields(const RuleText& text, const plan::Rule& rule, const RuleScope& scope, Reporter& report) {
  for (const auto& [name, index] : scope.names) {
    for (const plan::Element& element : rule.elements) {
      for (const TypeId id : element.test.types.ids) {
        const FieldPlan::Type& type = scope.set.fields->type(id);
        if (!type.declared || std::none_of(type.declared->begin(), type.declared->end(),
                                           [&, &called = name](const DeclaredField& f) { return f.name == called; })) {
          continue;
        }
        const ast::Element& written = *text.elements[index].element;
        report.warn(written.as ? written.as->where : written.where,
                    "the element " + name + " hides the field " + name + " of " + type.name + " in paths",
                    "write this." + quoted_if_needed(name) + " for the field, or name the element with AS");
        return;
      }
    }
  }
}

/// Calls `visit` with both sides of each equality of two fields at the top of `condition`.
template <class Visit>
void for_each_equality(const plan::Expr& condition, const Visit& visit) {
  const auto* binary = std::get_if<plan::Binary>(&condition.node);
  if (binary == nullptr) return;
  if (binary->op == plan::BinaryOp::kAnd) {
    for_each_equality(*binary->left, visit);
    for_each_equality(*binary->right, visit);
  }
  if (binary->op != plan::BinaryOp::kEq) return;
  const auto* left = std::get_if<plan::FieldRef>(&binary->left->node);
  const auto* right = std::get_if<plan::FieldRef>(&binary->right->node);
  if (left != nullptr && right != nullptr) visit(*left, *right);
}

void missing_key(const RuleText& text, const plan::Rule& rule, Reporter& report) {
  if (!rule.key.empty()) return;
  std::set<FieldPath> reported;
  for (std::size_t i = 0; i < rule.elements.size(); ++i) {
    for (std::size_t k = 0; k < rule.elements[i].test.conditions.size(); ++k) {
      for_each_equality(*rule.elements[i].test.conditions[k], [&](const plan::FieldRef& a, const plan::FieldRef& b) {
        const auto is_field = [](const plan::FieldRef& ref) {
          return ref.property == plan::Property::kField && ref.subject != plan::Subject::kPrevious;
        };
        if (!is_field(a) || !is_field(b) || a.path != b.path) return;
        const bool tested = a.subject == plan::Subject::kTested || b.subject == plan::Subject::kTested;
        if (!tested || !reported.insert(a.path).second) return;
        report.warn(text.conditions[i][k],
                    "events are joined by " + to_string(a.path) +
                        ", and the rule has no KEY: every event is tried with "
                        "every other",
                    "write KEY " + to_string(a.path));
      });
    }
  }
}

}  // namespace

void warn(const RuleText& text, const plan::Rule& rule, const RuleScope& scope, Reporter& report) {
  no_bound(text, rule, report);
  shortest_wins(text, rule, report);
  useless_not(text, rule, rule.pattern, report);
  hidden_fields(text, rule, scope, report);
  missing_key(text, rule, report);
}

}  // namespace cepd::dsl::checking
