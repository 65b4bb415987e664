#include "tests/reference/shrink.h"

namespace cepd::reference {
namespace {

namespace ast = dsl::ast;

// Each function gives the simpler variants of one kind of node; those of a tree are its own and those of its parts.

/// Every list with one item left out, or replaced by one of its simpler variants.
template <class T, class Simpler>
std::vector<std::vector<T>> simpler_lists(const std::vector<T>& items, std::size_t at_least, Simpler simpler) {
  std::vector<std::vector<T>> out;
  for (std::size_t i = 0; i < items.size() && items.size() > at_least; ++i) {
    out.push_back(items);
    out.back().erase(out.back().begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (T& each : simpler(items[i])) {
      out.push_back(items);
      out.back()[i] = std::move(each);
    }
  }
  return out;
}

std::vector<ast::ExprPtr> simpler(const ast::ExprPtr& condition) {
  if (const auto* binary = std::get_if<ast::Binary>(&condition->node)) {
    if (binary->op != ast::BinaryOp::kAnd && binary->op != ast::BinaryOp::kOr) return {};
    std::vector<ast::ExprPtr> out{binary->left, binary->right};
    for (const ast::ExprPtr& each : simpler(binary->left)) {
      out.push_back(std::make_shared<ast::Expr>(ast::Expr{ast::Binary{binary->op, each, binary->right}, {}}));
    }
    for (const ast::ExprPtr& each : simpler(binary->right)) {
      out.push_back(std::make_shared<ast::Expr>(ast::Expr{ast::Binary{binary->op, binary->left, each}, {}}));
    }
    return out;
  }
  if (const auto* unary = std::get_if<ast::Unary>(&condition->node)) return {unary->operand};
  return {};
}

/// A condition left out or made simpler, put back by `set`.
template <class T, class Set>
void simpler_condition(const T& whole, const ast::ExprPtr& condition, Set set, std::vector<T>& out) {
  if (condition == nullptr) return;
  const auto with = [&](const ast::ExprPtr& each) {
    T copy = whole;
    set(copy) = each;
    out.push_back(std::move(copy));
  };
  with(nullptr);
  for (const ast::ExprPtr& each : simpler(condition)) with(each);
}

/// A part that may be missing left out.
template <class T, class Part>
void without(const T& whole, Part part, std::vector<T>& out) {
  T copy = whole;
  if (!part(copy)) return;
  part(copy).reset();
  out.push_back(std::move(copy));
}

std::vector<ast::EventPattern> simpler(const ast::EventPattern& event) {
  std::vector<ast::EventPattern> out;
  simpler_condition(
      event, event.condition, [](ast::EventPattern& e) -> ast::ExprPtr& { return e.condition; }, out);
  if (!event.by.empty()) {
    out.push_back(event);
    out.back().by.clear();
  }
  for (std::size_t i = 0; event.types.size() > 1 && i < event.types.size(); ++i) {
    out.push_back(event);
    out.back().types = {event.types[i]};
  }
  return out;
}

std::vector<ast::Quantifier> simpler(const ast::Quantifier& quantifier) {
  std::vector<ast::Quantifier> out;
  for (const auto flag : {&ast::Quantifier::consecutive, &ast::Quantifier::combinations, &ast::Quantifier::greedy}) {
    if (!(quantifier.*flag)) continue;
    out.push_back(quantifier);
    out.back().*flag = false;
  }
  without(
      quantifier, [](ast::Quantifier & q) -> auto& { return q.until; }, out);
  if (quantifier.until) {
    for (ast::EventPattern& until : simpler(*quantifier.until)) {
      out.push_back(quantifier);
      out.back().until = std::move(until);
    }
  }
  if (quantifier.min > 1) {
    out.push_back(quantifier);
    out.back().min = 1;
  }
  return out;
}

std::vector<ast::Link> simpler(const ast::Link& link) {
  std::vector<ast::Link> out;
  without(
      link, [](ast::Link & l) -> auto& { return l.within; }, out);
  without(
      link, [](ast::Link & l) -> auto& { return l.after; }, out);
  if (link.kind != ast::LinkKind::kThen) {
    out.push_back(link);
    out.back().kind = ast::LinkKind::kThen;
  }
  return out;
}

std::vector<ast::Sequence> simpler(const ast::Sequence& sequence);

std::vector<ast::Element> simpler(const ast::Element& element) {
  std::vector<ast::Element> out;
  without(
      element, [](ast::Element & e) -> auto& { return e.quantifier; }, out);
  without(
      element, [](ast::Element & e) -> auto& { return e.as; }, out);
  if (element.quantifier) {
    for (ast::Quantifier& each : simpler(*element.quantifier)) {
      out.push_back(element);
      out.back().quantifier = std::move(each);
    }
  }
  if (const auto* event = std::get_if<ast::EventPattern>(&element.item)) {
    for (ast::EventPattern& each : simpler(*event)) {
      out.push_back(element);
      out.back().item = std::move(each);
    }
    return out;
  }
  const auto& group = *std::get<1>(element.item);
  if (group.steps.size() == 1 && group.steps[0].choice.alternatives.size() == 1 &&
      group.steps[0].choice.alternatives[0].members.size() == 1) {
    ast::Element inner = group.steps[0].choice.alternatives[0].members[0];
    if (!inner.quantifier) inner.quantifier = element.quantifier;
    out.push_back(std::move(inner));
  }
  for (ast::Sequence& each : simpler(group)) {
    out.push_back(element);
    out.back().item = std::make_shared<const ast::Sequence>(std::move(each));
  }
  return out;
}

std::vector<ast::Both> simpler(const ast::Both& both) {
  std::vector<ast::Both> out;
  for (auto& members : simpler_lists(both.members, 1, [](const ast::Element& e) { return simpler(e); })) {
    out.push_back({std::move(members), {}});
  }
  return out;
}

std::vector<ast::Step> simpler(const ast::Step& step) {
  std::vector<ast::Step> out;
  for (auto& alternatives : simpler_lists(step.choice.alternatives, 1, [](const ast::Both& b) { return simpler(b); })) {
    out.push_back({step.link, {std::move(alternatives), {}}});
  }
  for (const ast::Link& link : simpler(step.link)) out.push_back({link, step.choice});
  return out;
}

std::vector<ast::Sequence> simpler(const ast::Sequence& sequence) {
  std::vector<ast::Sequence> out;
  without(
      sequence, [](ast::Sequence & s) -> auto& { return s.within; }, out);
  for (auto& steps : simpler_lists(sequence.steps, 1, [](const ast::Step& s) { return simpler(s); })) {
    steps.front().link = {};
    out.push_back({std::move(steps), sequence.within, {}});
  }
  // Parentheses without quantifier: what is in them in their place.
  for (std::size_t i = 0; i < sequence.steps.size(); ++i) {
    const ast::Choice& choice = sequence.steps[i].choice;
    if (choice.alternatives.size() != 1 || choice.alternatives[0].members.size() != 1) continue;
    const ast::Element& element = choice.alternatives[0].members[0];
    const auto* group = std::get_if<std::shared_ptr<const ast::Sequence>>(&element.item);
    if (group == nullptr || element.quantifier || element.negated || element.as) continue;
    std::vector<ast::Step> inner = (*group)->steps;
    inner.front().link = sequence.steps[i].link;
    out.push_back(sequence);
    auto& steps = out.back().steps;
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(i), inner.begin(), inner.end());
  }
  return out;
}

}  // namespace

std::vector<ast::Rule> simpler_rules(const ast::Rule& rule) {
  std::vector<ast::Rule> out;
  const auto with = [&](auto change) {
    out.push_back(rule);
    change(out.back());
  };
  without(
      rule, [](ast::Rule & r) -> auto& { return r.on_timeout; }, out);
  without(
      rule, [](ast::Rule & r) -> auto& { return r.limit; }, out);
  without(
      rule, [](ast::Rule & r) -> auto& { return r.emit; }, out);
  if (rule.emit) {
    without(
        rule, [](ast::Rule & r) -> auto& { return r.emit->into; }, out);
  }
  if (rule.status != ast::RuleStatus::kEnabled) with([](ast::Rule& r) { r.status = ast::RuleStatus::kEnabled; });
  without(
      rule, [](ast::Rule & r) -> auto& { return r.from; }, out);
  if (!rule.unless.empty()) with([](ast::Rule& r) { r.unless.clear(); });
  simpler_condition(
      rule, rule.having, [](ast::Rule& r) -> ast::ExprPtr& { return r.having; }, out);
  simpler_condition(
      rule, rule.where_condition, [](ast::Rule& r) -> ast::ExprPtr& { return r.where_condition; }, out);
  for (ast::Sequence& each : simpler(rule.pattern)) with([&](ast::Rule& r) { r.pattern = std::move(each); });
  without(
      rule, [](ast::Rule & r) -> auto& { return r.within; }, out);
  if (!rule.key.empty()) with([](ast::Rule& r) { r.key.clear(); });
  without(
      rule, [](ast::Rule & r) -> auto& { return r.after_match; }, out);
  if (rule.after_match && rule.after_match->policy != ast::Policy::kNoSkip) {
    with([](ast::Rule& r) { r.after_match = ast::AfterMatch{ast::Policy::kNoSkip, {}, {}}; });
  }
  if (rule.from && !rule.from->any) with([](ast::Rule& r) { r.from = ast::From{true, {}, {}}; });
  const auto simpler_event = [](const ast::EventPattern& event) { return simpler(event); };
  for (auto& each : simpler_lists(rule.unless, 1, simpler_event))
    with([&](ast::Rule& r) { r.unless = std::move(each); });
  if (rule.from) {
    for (auto& each : simpler_lists(rule.from->inputs, 1, simpler_event)) {
      with([&](ast::Rule& r) { r.from->inputs = std::move(each); });
    }
  }
  if (rule.emit) {
    const auto as_it_is = [](const ast::Item&) { return std::vector<ast::Item>{}; };
    for (auto& each : simpler_lists(rule.emit->items, 1, as_it_is)) {
      with([&](ast::Rule& r) { r.emit->items = std::move(each); });
    }
  }
  if (rule.on_timeout) {
    without(
        rule, [](ast::Rule & r) -> auto& { return r.on_timeout->emit; }, out);
  }
  if (rule.on_timeout && rule.on_timeout->emit) {
    without(
        rule, [](ast::Rule & r) -> auto& { return r.on_timeout->emit->into; }, out);
    const auto as_it_is = [](const ast::Item&) { return std::vector<ast::Item>{}; };
    for (auto& each : simpler_lists(rule.on_timeout->emit->items, 1, as_it_is)) {
      with([&](ast::Rule& r) { r.on_timeout->emit->items = std::move(each); });
    }
  }
  return out;
}

}  // namespace cepd::reference
