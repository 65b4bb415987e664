/// Patterns as text.

#include "dsl/print.h"
#include "dsl/print_layout.h"
#include "dsl/print_parts.h"

namespace cepd::dsl {
namespace {

using printing::duration;

template <class List, class Print>
std::string joined(const List& items, const char* between, Print print_one) {
  std::string out;
  for (const auto& item : items) {
    if (&item != &items.front()) out += between;
    out += print_one(item);
  }
  return out;
}

std::string print_link(const ast::Link& link) {
  std::string out = link.kind == ast::LinkKind::kThen   ? "THEN"
                    : link.kind == ast::LinkKind::kNext ? "NEXT"
                                                        : "THEN ANY";
  if (link.within) out += " WITHIN " + duration(*link.within);
  if (link.after) out += " AFTER " + duration(*link.after);
  return out;
}

std::string print_quantifier(const ast::Quantifier& quantifier) {
  const std::uint32_t min = quantifier.min;
  std::string out;
  if (!quantifier.max) {
    out = min == 0 ? "*" : min == 1 ? "+" : "{" + std::to_string(min) + ",}";
  } else if (min == 0) {
    out = *quantifier.max == 1 ? "?" : "{," + std::to_string(*quantifier.max) + "}";
  } else {
    out = "{" + std::to_string(min);
    if (*quantifier.max != min) out += "," + std::to_string(*quantifier.max);
    out += "}";
  }
  if (quantifier.consecutive) out += " CONSECUTIVE";
  if (quantifier.combinations) out += " COMBINATIONS";
  if (quantifier.greedy) out += " GREEDY";
  if (quantifier.until) out += " UNTIL " + print(*quantifier.until);
  return out;
}

std::string print_element(const ast::Element& element) {
  std::string out = element.negated ? "NOT " : "";
  if (const auto* event = std::get_if<ast::EventPattern>(&element.item)) {
    out += print(*event);
  } else {
    const ast::Sequence& group = *std::get<std::shared_ptr<const ast::Sequence>>(element.item);
    out += "(" + print(group);
    if (group.within) out += " WITHIN " + duration(*group.within);
    out += ")";
  }
  if (element.quantifier) out += print_quantifier(*element.quantifier);
  if (element.as) out += " AS " + printing::name(*element.as);
  return out;
}

}  // namespace

std::string print(const ast::EventPattern& event) {
  std::string out = event.types.empty() ? "*" : joined(event.types, "|", printing::name);
  if (!event.by.empty()) {
    out += " BY " + printing::list(event.by, [](const FieldPath& path) { return printing::path(path, false); });
  }
  if (event.condition) out += "[" + print(*event.condition) + "]";
  return out;
}

std::string print(const ast::Sequence& sequence) {
  std::string out;
  for (const printing::Part& part : printing::steps(sequence)) out += (out.empty() ? "" : " ") + part.text;
  return out;
}

namespace printing {

std::vector<Part> steps(const ast::Sequence& sequence) {
  std::vector<Part> out;
  for (const ast::Step& step : sequence.steps) {
    std::string text = joined(step.choice.alternatives, " OR ",
                              [](const ast::Both& both) { return joined(both.members, " AND ", print_element); });
    if (out.empty()) {
      out.push_back({std::move(text), step.choice.where});
    } else {
      out.push_back({print_link(step.link) + " " + text, {step.link.where.begin, step.choice.where.end}});
    }
  }
  return out;
}

}  // namespace printing

}  // namespace cepd::dsl
