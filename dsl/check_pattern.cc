#include "dsl/check_pattern.h"

#include <algorithm>

namespace cepd::dsl::checking {
namespace {

bool supported(const ast::Quantifier& quantifier, Reporter& report) {
  const std::size_t before = report.errors();
  if (quantifier.consecutive) report.error(quantifier.modifiers_where, "CONSECUTIVE is not supported yet");
  if (quantifier.combinations) report.error(quantifier.modifiers_where, "COMBINATIONS is not supported yet");
  if (quantifier.greedy) report.error(quantifier.modifiers_where, "GREEDY is not supported yet");
  if (quantifier.until) report.error(quantifier.until->where, "UNTIL is not supported yet");
  return report.errors() == before;
}

/// The single elements of the pattern; reports what is not supported yet.
std::vector<WrittenElement> flatten(const ast::Sequence& pattern, Reporter& report) {
  const std::size_t before = report.errors();
  std::vector<WrittenElement> out;
  for (std::size_t i = 0; i < pattern.steps.size(); ++i) {
    const ast::Step& step = pattern.steps[i];
    if (i > 0 && step.link.within) report.error(step.link.within->where, "WITHIN in a link is not supported yet");
    if (i > 0 && step.link.after) report.error(step.link.after->where, "AFTER in a link is not supported yet");
    if (step.choice.alternatives.size() != 1) {
      report.error(step.choice.where, "OR in a pattern is not supported yet");
      continue;
    }
    const ast::Both& both = step.choice.alternatives.front();
    if (both.members.size() != 1) {
      report.error(both.where, "AND in a pattern is not supported yet");
      continue;
    }
    const ast::Element& element = both.members.front();
    const auto* event = std::get_if<ast::EventPattern>(&element.item);
    if (event == nullptr) {
      report.error(element.where, "a group in parentheses is not supported yet");
      continue;
    }
    if (element.quantifier && !supported(*element.quantifier, report)) continue;
    out.push_back({&element, event, i == 0 ? nullptr : &step.link});
  }
  if (report.errors() != before) out.clear();
  return out;
}

std::string types_text(const ast::EventPattern& event) {
  if (event.types.empty()) return "*";
  std::string out;
  for (const ast::Name& type : event.types) out += (out.empty() ? "" : "|") + type.text;
  return out;
}

/// language-details.md section 3, "No name".
bool name_elements(const std::vector<WrittenElement>& written, RuleScope& scope) {
  const std::size_t before = scope.report.errors();
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto& as = written[i].element->as;
    if (!as) continue;
    scope.elements[i].name = as->text;
    const auto [it, added] = scope.names.emplace(as->text, i);
    if (!added) {
      scope.report.error(as->where, "two elements are called " + as->text + "; the first stands at " +
                                        scope.report.place(written[it->second].element->as->where));
    }
  }
  std::map<std::string, std::size_t> nameless;  // positive elements without AS, by their types
  for (const WrittenElement& each : written) {
    if (!each.element->as && !each.element->negated) ++nameless[types_text(*each.event)];
  }
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i].element->as) continue;
    const std::string types = types_text(*written[i].event);
    if (written[i].element->negated) {
      scope.elements[i].name = types;
    } else if (written[i].event->types.size() == 1 && nameless[types] == 1 && scope.names.count(types) == 0) {
      scope.elements[i].name = types;
    } else {
      do {
        scope.elements[i].name = types + "#" + std::to_string(++numbers[types]);
      } while (scope.names.count(scope.elements[i].name) != 0);
    }
  }
  for (std::size_t i = 0; i < written.size(); ++i) {
    const plan::Element& element = scope.elements[i];
    if (!written[i].element->as && !element.negated && written[i].event->types.size() == 1 &&
        element.name == written[i].event->types.front().text) {
      scope.names.emplace(element.name, i);
    }
  }
  return scope.report.errors() == before;
}

void count_element(const WrittenElement& written, plan::Element& element, Reporter& report) {
  if (!written.element->quantifier) return;
  const ast::Quantifier& quantifier = *written.element->quantifier;
  element.quantified = true;
  element.min = quantifier.min;
  element.max = quantifier.max.value_or(plan::kUnbounded);
  if (element.negated) {
    report.error(quantifier.where, "a NOT cannot be repeated", "NOT means that no such event comes at all");
  }
}

void check_nots(const ast::Rule& rule, const std::vector<WrittenElement>& written, const RuleScope& scope) {
  const auto& elements = scope.elements;
  if (elements.front().negated) {
    scope.report.error(written.front().element->where, "a pattern cannot begin with NOT",
                       "NOT speaks of the events after another element; UNLESS drops a match at any time");
    return;
  }
  for (std::size_t i = 1; i < elements.size(); ++i) {
    if (!elements[i].negated) continue;
    if (written[i].link->kind == ast::LinkKind::kThenAny) {
      scope.report.error(written[i].link->where, "ANY says nothing before a NOT", "write THEN NOT");
    }
    bool last = true;
    bool followed = false;  // by an element that cannot be left out
    for (std::size_t k = i + 1; k < elements.size(); ++k) {
      if (elements[k].negated) continue;
      last = false;
      followed |= elements[k].min > 0;
    }
    if (last && written[i].link->kind != ast::LinkKind::kNext && !rule.within) {
      scope.report.error(written[i].element->where,
                         "a NOT at the end needs to know for how long: the pattern has no WITHIN",
                         "write it like THEN NOT " + elements[i].name + " WITHIN 5m");
    }
    if (!last && !followed) {
      scope.report.error(written[i].element->where, "this NOT is followed only by elements that may be left out");
    }
  }
}

void visit_sequence(const ast::Sequence& sequence, const std::function<void(const ast::EventPattern&)>& visit) {
  for (const ast::Step& step : sequence.steps) {
    for (const ast::Both& both : step.choice.alternatives) {
      for (const ast::Element& element : both.members) {
        if (const auto* event = std::get_if<ast::EventPattern>(&element.item)) {
          visit(*event);
        } else {
          visit_sequence(*std::get<std::shared_ptr<const ast::Sequence>>(element.item), visit);
        }
        if (element.quantifier && element.quantifier->until) visit(*element.quantifier->until);
      }
    }
  }
}

}  // namespace

void for_each_event(const ast::Rule& rule, const std::function<void(const ast::EventPattern&)>& visit) {
  if (rule.from) {
    for (const ast::EventPattern& event : rule.from->inputs) visit(event);
  }
  visit_sequence(rule.pattern, visit);
  for (const ast::EventPattern& event : rule.unless) visit(event);
}

plan::Types build_types(const ast::EventPattern& event, RuleScope& scope) {
  plan::Types out;
  out.any = event.types.empty();
  for (const ast::Name& type : event.types) {
    if (scope.set.known_type(type, scope.report)) out.ids.push_back(scope.set.fields->add_type(type.text));
  }
  std::sort(out.ids.begin(), out.ids.end());
  out.ids.erase(std::unique(out.ids.begin(), out.ids.end()), out.ids.end());
  return out;
}

bool may_start(const std::vector<plan::Element>& elements, std::size_t index) {
  if (elements[index].negated) return false;
  return std::all_of(elements.begin(), elements.begin() + static_cast<std::ptrdiff_t>(index),
                     [](const plan::Element& e) { return e.negated || e.min == 0; });
}

std::vector<WrittenElement> build_elements(const ast::Rule& rule, RuleScope& scope) {
  std::vector<WrittenElement> written = flatten(rule.pattern, scope.report);
  if (written.empty()) return {};
  if (written.size() > plan::kMaxElements) {
    scope.report.error(written[plan::kMaxElements].element->where,
                       "a pattern has at most " + std::to_string(plan::kMaxElements) + " elements");
    return {};
  }
  for (const WrittenElement& each : written) {
    plan::Element element;
    element.negated = each.element->negated;
    element.test.types = build_types(*each.event, scope);
    if (each.link != nullptr) {
      switch (each.link->kind) {
        case ast::LinkKind::kThen:
          element.link = plan::Contiguity::kSkipTillNext;
          break;
        case ast::LinkKind::kThenAny:
          element.link = plan::Contiguity::kSkipTillAny;
          break;
        case ast::LinkKind::kNext:
          element.link = plan::Contiguity::kStrict;
          break;
      }
    }
    count_element(each, element, scope.report);
    scope.elements.push_back(std::move(element));
  }
  const bool named = name_elements(written, scope);
  check_nots(rule, written, scope);
  const bool some = std::any_of(scope.elements.begin(), scope.elements.end(),
                                [](const plan::Element& e) { return !e.negated && e.min > 0; });
  if (!some && !scope.elements.front().negated) {
    scope.report.error(rule.pattern.where, "the pattern could match no event at all",
                       "every element of it may be left out");
  }
  // Conditions are still checked after most mistakes, but not where names or types could mislead.
  if (!named || scope.elements.front().negated) return {};
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (!scope.elements[i].test.types.any && scope.elements[i].test.types.ids.size() == 0) return {};
  }
  return written;
}

}  // namespace cepd::dsl::checking
