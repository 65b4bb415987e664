#include "dsl/check_steps.h"

#include <algorithm>

#include "dsl/check_pattern_tree.h"

namespace cepd::dsl::checking {
namespace {

ast::Location span(ast::Location a, ast::Location b) { return {std::min(a.begin, b.begin), std::max(a.end, b.end)}; }

class FollowerWalk {
 public:
  FollowerWalk(const plan::Rule& rule, Followers& out) : rule_(rule), out_(out) {}

  void from(const StepPlace& at) {
    if (!enter(*at.sequence, at.index, nullptr)) return;
    if (at.around == nullptr) {
      out_.end = true;
      return;
    }
    if (at.group != nullptr && at.group->max > 1) enter(at.group->body, 0, &at.group->again);
    from(at.around->next());
  }

 private:
  /// Adds what may come first of the steps from `index` on; true when all of them may be left out. `again`: how the
  /// next repeat of a group is reached, instead of by the link written there.
  bool enter(const plan::Sequence& sequence, std::size_t index, const plan::Contiguity* again) {
    for (; index < sequence.steps.size(); ++index) {
      const plan::Step& step = sequence.steps[index];
      if (is_not(step)) continue;
      if (const auto* id = std::get_if<plan::SlotId>(&step.item)) {
        const plan::Link link = again == nullptr ? step.link : plan::Link{*again, {}, Micros(0)};
        out_.slots.push_back({&rule_.slots[static_cast<std::size_t>(*id)], link});
      } else if (const auto* group = std::get_if<plan::Group>(&step.item)) {
        enter(group->body, 0, again);
      } else {
        for (const plan::Sequence& branch : std::get<plan::Alternatives>(step.item).branches) enter(branch, 0, again);
      }
      if (!nullable(step, rule_.slots)) return false;
    }
    return true;
  }

  const plan::Rule& rule_;
  Followers& out_;
};

void visit_steps(const StepPlace& start, const std::function<void(const StepPlace&)>& visit) {
  for (StepPlace at = start; at.index < at.sequence->steps.size(); ++at.index) {
    visit(at);
    if (const auto* group = std::get_if<plan::Group>(&at.step().item)) {
      visit_steps({&group->body, 0, &at, group}, visit);
    } else if (const auto* alternatives = std::get_if<plan::Alternatives>(&at.step().item)) {
      for (const plan::Sequence& branch : alternatives->branches) visit_steps({&branch, 0, &at, nullptr}, visit);
    }
  }
}

std::string joined(const std::vector<std::string>& names, const char* between) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : between) + name;
  return out;
}

}  // namespace

std::string ordinal(std::uint32_t n) {
  const char* suffix = "th";
  if (n % 100 < 11 || n % 100 > 13) {
    if (n % 10 == 1) suffix = "st";
    if (n % 10 == 2) suffix = "nd";
    if (n % 10 == 3) suffix = "rd";
  }
  return std::to_string(n) + suffix;
}

std::string quoted_text(const Reporter& report, ast::Location where) {
  constexpr std::size_t kMost = 60;
  std::string out;
  for (const char c : report.text_at(where)) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  if (out.size() > kMost) {
    std::size_t end = kMost;
    while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0U) == 0x80) --end;  // not inside a code point
    out = out.substr(0, end) + "…";
  }
  return "`" + out + "`";
}

std::vector<std::size_t> elements_of(const plan::Slot& slot) {
  std::vector<std::size_t> out;
  for (const plan::ElementSet member : slot.members) {
    for (std::size_t i = 0; i < plan::kMaxElements; ++i) {
      if ((member >> i & 1) != 0) out.push_back(i);
    }
  }
  return out;
}

StepText::StepText(const RuleText& text, const plan::Rule& rule, const Reporter& report)
    : text_(text), rule_(rule), report_(report) {
  for_each_step(rule.pattern, [&](const StepPlace& at) {
    const auto* group = std::get_if<plan::Group>(&at.step().item);
    if (group != nullptr) groups_.emplace(group, text_.groups[groups_.size()]);
  });
}

std::string StepText::name(const plan::Slot& slot) const {
  std::vector<std::string> members;
  for (const plan::ElementSet member : slot.members) {
    std::vector<std::string> alternatives;
    for (std::size_t i = 0; i < rule_.elements.size(); ++i) {
      if ((member >> i & 1) != 0) alternatives.push_back(rule_.elements[i].name);
    }
    members.push_back(joined(alternatives, " OR "));
  }
  return joined(members, " AND ");
}

ast::Location StepText::where(const plan::Slot& slot) const {
  const std::vector<std::size_t> elements = elements_of(slot);
  return span(where(elements.front()), where(elements.back()));
}

std::string StepText::name(const plan::Step& step) const {
  if (const auto* id = std::get_if<plan::SlotId>(&step.item)) {
    return name(rule_.slots[static_cast<std::size_t>(*id)]);
  }
  if (const auto* no = std::get_if<plan::NotStep>(&step.item)) {
    return "NOT " + rule_.elements[static_cast<std::size_t>(no->element)].name;
  }
  if (const auto* alternatives = std::get_if<plan::Alternatives>(&step.item)) {
    std::vector<std::string> first;
    for (const plan::Sequence& branch : alternatives->branches) first.push_back(name(branch.steps.front()));
    return joined(first, " OR ");
  }
  return quoted_text(report_, where(step));
}

ast::Location StepText::where(const plan::Step& step) const {
  if (const auto* id = std::get_if<plan::SlotId>(&step.item)) {
    return where(rule_.slots[static_cast<std::size_t>(*id)]);
  }
  if (const auto* no = std::get_if<plan::NotStep>(&step.item)) return where(static_cast<std::size_t>(no->element));
  if (const auto* group = std::get_if<plan::Group>(&step.item)) return groups_.at(group)->where;
  const auto& branches = std::get<plan::Alternatives>(step.item).branches;
  ast::Location out = where(branches.front().steps.front());
  for (const plan::Sequence& branch : branches) {
    for (const plan::Step& each : branch.steps) out = span(out, where(each));
  }
  return report_.with_parentheses(out);
}

const ast::Link* StepText::link(const plan::Step& step) const {
  if (const auto* id = std::get_if<plan::SlotId>(&step.item)) {
    return text_.elements[elements_of(rule_.slots[static_cast<std::size_t>(*id)]).front()].link;
  }
  if (const auto* no = std::get_if<plan::NotStep>(&step.item)) {
    return text_.elements[static_cast<std::size_t>(no->element)].link;
  }
  if (const auto* group = std::get_if<plan::Group>(&step.item)) return link(group->body.steps.front());
  return link(std::get<plan::Alternatives>(step.item).branches.front().steps.front());
}

void for_each_step(const plan::Sequence& sequence, const std::function<void(const StepPlace&)>& visit) {
  visit_steps({&sequence, 0, nullptr, nullptr}, visit);
}

Followers followers(const plan::Rule& rule, const StepPlace& at) {
  Followers out;
  FollowerWalk(rule, out).from(at);
  return out;
}

}  // namespace cepd::dsl::checking
