#include "engine/report.h"

#include <algorithm>
#include <map>

namespace cepd::engine {

namespace plan = dsl::plan;

namespace {

void append_size(std::string& out, std::uint64_t number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append_text_with_size(std::string& out, std::string_view text) {
  append_size(out, text.size());
  out += text;
}

void append_position(std::string& out, const Event& event) {
  if (const MatchId* maker = event.maker()) {
    out += 'd';
    append_size(out, maker->high);
    append_size(out, maker->low);
    return;
  }
  out += 'p';
  append_text_with_size(out, event.position.source.name());
  append_size(out, static_cast<std::uint64_t>(event.position.partition));
  append_size(out, static_cast<std::uint64_t>(event.position.offset));
}

/// The key as the match's first event has it: 1.0 prints as 1.0 although it is the same key as 1.
std::vector<Value> key_of_first(const nfa::Network& network, const plan::Rule& rule, std::span<const Bound> bound) {
  const Bound& first = bound.front();
  std::vector<Value> key;
  for (const plan::FieldRef& ref : rule.elements[static_cast<std::size_t>(first.element)].test.key) {
    key.push_back(nfa::read_property(ref, *first.event, network.fields()));
  }
  return key;
}

std::vector<Binding> bindings_of(const plan::Rule& rule, std::span<const Bound> bound) {
  std::map<plan::ElementId, Binding> by_element;  // in pattern order
  for (const Bound& each : bound) {
    Binding& binding = by_element[each.element];
    if (binding.events.empty()) binding.name = rule.elements[static_cast<std::size_t>(each.element)].name;
    binding.events.emplace_back(each.event);
  }
  std::vector<Binding> out;
  out.reserve(by_element.size());
  for (auto& [element, binding] : by_element) out.push_back(std::move(binding));
  return out;
}

std::vector<NamedValue> evaluate_items(const List<plan::Item>& items, const nfa::Scope& scope, Match& match,
                                       nfa::EvalErrors& errors) {
  std::vector<NamedValue> out;
  out.reserve(items.size());
  for (const plan::Item& item : items) {
    // Copied: text in an event's arena must not depend on which events a match keeps.
    out.push_back({item.name, nfa::evaluate(*item.value, scope, match.arena, errors).copied_to(match.arena)});
  }
  return out;
}

}  // namespace

MatchId match_id(MatchKind kind, const plan::Rule& rule, const std::string& key_id, std::span<const Bound> bound) {
  std::string canonical(match_kind_name(kind));
  canonical += '\0';
  append_text_with_size(canonical, rule.name);
  append_text_with_size(canonical, key_id);
  // Elements are numbered, not named, and NOT and UNTIL have no number of their own: renaming an element changes no id.
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < rule.elements.size(); ++i) {
    if (rule.elements[i].role != plan::Role::kTake) continue;
    append_size(canonical, number++);
    for (const Bound& each : bound) {
      if (static_cast<std::size_t>(each.element) == i) append_position(canonical, *each.event);
    }
  }
  return hash_match_id(canonical);
}

bool having_holds(const nfa::Network& network, const plan::Rule& rule, std::span<const Value> key,
                  std::span<const Bound> bound, Arena& scratch, nfa::EvalErrors& errors) {
  if (rule.having.empty()) return true;
  const nfa::Scope scope{nullptr, bound, key, {}, &network.fields()};
  return nfa::holds(rule.having, scope, scratch, errors);
}

MatchPtr make_match(const MatchParts& parts) {
  const nfa::Network& network = *parts.network;
  const plan::Rule& rule = network.rules().rules[parts.rule];
  const std::span<const Bound> bound = parts.bound;
  auto match = std::make_unique<Match>();
  match->id = match_id(parts.kind, rule, canonical_key(parts.key->key()), bound);
  match->kind = parts.kind;
  match->rule = rule.name;
  match->time = parts.time;
  match->first = bound.front().event->time;
  match->last = bound.back().event->time;
  match->bindings = bindings_of(rule, bound);
  match->suppressed = parts.suppressed;
  match->shadow = rule.status == plan::Status::kShadow;

  std::vector<Value> key = key_of_first(network, rule, bound);
  for (std::size_t i = 0; i < key.size(); ++i) {
    key[i] = key[i].copied_to(match->arena);
    // -0.0 is 0 as a key.
    if (key[i].kind() == Kind::kDouble && key[i].as_double() == 0) key[i] = Value::real(0);
    match->key.emplace_back(rule.key[i], key[i]);
  }
  const bool timeout = parts.kind == MatchKind::kTimeout;
  nfa::Scope scope{nullptr, bound, key, {}, &network.fields()};
  match->emit = evaluate_items(timeout ? rule.on_timeout->emit : rule.emit, scope, *match, *parts.errors);
  match->labels = evaluate_items(rule.labels, scope, *match, *parts.errors);
  if (match->suppressed || match->shadow) return match;

  scope.emit = match->emit;
  for (const plan::Action& action : timeout ? rule.on_timeout->actions : rule.actions) {
    ActionCall call{action.name, {}};
    for (const plan::ActionArgument& argument : action.arguments) {
      call.arguments.push_back(
          {argument.name, nfa::evaluate(*argument.value, scope, match->arena, *parts.errors).copied_to(match->arena)});
    }
    match->actions.push_back(std::move(call));
  }
  return match;
}

}  // namespace cepd::engine
