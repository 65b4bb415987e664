#include "dsl/check_pattern.h"

#include <algorithm>

#include "dsl/check_pattern_tree.h"

namespace cepd::dsl::checking {
namespace {

std::string types_text(const WrittenElement& written) {
  std::string out;
  for (const ast::EventPattern* event : written.events) {
    if (event->types.empty()) return "*";
    for (const ast::Name& type : event->types) out += (out.empty() ? "" : "|") + type.text;
  }
  return out;
}

bool of_one_type(const WrittenElement& written) {
  return written.events.size() == 1 && written.events.front()->types.size() == 1;
}

/// language-details.md section 3, "No name".
bool name_elements(const std::vector<WrittenElement>& written, RuleScope& scope) {
  const std::size_t before = scope.report.errors();
  const auto as_of = [&](std::size_t i) -> const std::optional<ast::Name>& {
    static const std::optional<ast::Name> kNone;
    return scope.elements[i].role == plan::Role::kUntil ? kNone : written[i].element->as;
  };
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto& as = as_of(i);
    if (!as) continue;
    scope.elements[i].name = as->text;
    const auto [it, added] = scope.names.emplace(as->text, i);
    if (!added) {
      scope.report.error(as->where, "two elements are called " + as->text + "; the first stands at " +
                                        scope.report.place(written[it->second].element->as->where));
    }
  }
  std::map<std::string, std::size_t> nameless;  // elements that take events, without AS, by their types
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (!as_of(i) && scope.elements[i].role == plan::Role::kTake) ++nameless[types_text(written[i])];
  }
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (as_of(i)) continue;
    const std::string types = types_text(written[i]);
    std::string& name = scope.elements[i].name;
    if (scope.elements[i].role != plan::Role::kTake) {
      name = types;
    } else if (of_one_type(written[i]) && nameless[types] == 1 && scope.names.count(types) == 0) {
      name = types;
    } else {
      do {
        name = types + "#" + std::to_string(++numbers[types]);
      } while (scope.names.count(name) != 0);
    }
  }
  for (std::size_t i = 0; i < written.size(); ++i) {
    const plan::Element& element = scope.elements[i];
    if (!as_of(i) && element.role == plan::Role::kTake && of_one_type(written[i]) &&
        element.name == written[i].events.front()->types.front().text) {
      scope.names.emplace(element.name, i);
    }
  }
  return scope.report.errors() == before;
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
  std::vector<TypeId> ids;
  for (const ast::Name& type : event.types) {
    if (scope.set.known_type(type, scope.report)) ids.push_back(scope.set.fields->add_type(type.text));
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  out.ids = std::move(ids);
  return out;
}

Pattern build_pattern(const ast::Rule& rule, RuleScope& scope) {
  const std::size_t before = scope.report.errors();
  Pattern out = build_tree(rule, scope);
  if (scope.elements.size() > plan::kMaxElements) {
    scope.report.error(out.written[plan::kMaxElements].element->where,
                       "a pattern has at most " + std::to_string(plan::kMaxElements) + " elements");
    return {};
  }
  const bool sound = scope.report.errors() == before;
  if (scope.elements.empty()) return {};
  for (std::size_t i = 0; i < out.written.size(); ++i) {
    plan::Types& types = scope.elements[i].test.types;
    std::vector<TypeId>& ids = types.ids.edit();
    for (const ast::EventPattern* event : out.written[i].events) {
      const plan::Types more = build_types(*event, scope);
      types.any = types.any || more.any;
      ids.insert(ids.end(), more.ids.begin(), more.ids.end());
    }
    // `*` takes what comes from sources; what rules make is taken by its name beside it.
    if (types.any) {
      std::erase_if(ids, [&](TypeId id) { return scope.set.made.count(scope.set.fields->type(id).name) == 0; });
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  }
  const bool named = name_elements(out.written, scope);
  const bool placed = sound && check_tree(rule, out, scope);
  // Conditions are still checked after most mistakes, but not where names, types or places could mislead.
  if (!named || !placed) out.written.clear();
  for (const plan::Element& element : scope.elements) {
    if (!element.test.types.any && element.test.types.ids.empty()) out.written.clear();
  }
  return out;
}

}  // namespace cepd::dsl::checking
