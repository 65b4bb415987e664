#include "tests/reference/input.h"

#include <algorithm>

namespace cepd::reference {
namespace {

/// `*` is "every event that comes from a source".
bool of_type(const ast::EventPattern& pattern, const Event& event) {
  if (pattern.types.empty()) return !event.place.made;
  return std::any_of(pattern.types.begin(), pattern.types.end(),
                     [&](const ast::Name& type) { return type.text == event.type; });
}

void untils_of(const ast::Sequence& sequence, std::vector<const ast::EventPattern*>& out) {
  for (const ast::Step& step : sequence.steps) {
    for (const ast::Both& both : step.choice.alternatives) {
      for (const ast::Element& element : both.members) {
        if (element.quantifier && element.quantifier->until) out.push_back(&*element.quantifier->until);
        if (const auto* group = std::get_if<1>(&element.item)) untils_of(**group, out);
      }
    }
  }
}

/// "all types that its pattern names, NOT and UNTIL included, UNLESS not"
std::vector<const ast::EventPattern*> named_in_pattern(const Rule& rule) {
  std::vector<const ast::EventPattern*> out;
  for (const Single* single : singles_of(rule.pattern)) out.push_back(single->event);
  untils_of(rule.written->pattern, out);
  return out;
}

}  // namespace

std::set<std::string> types_named(const Rule& rule) {
  std::vector<const ast::EventPattern*> patterns = named_in_pattern(rule);
  for (const ast::EventPattern& each : rule.written->unless) patterns.push_back(&each);
  if (rule.written->from) {
    for (const ast::EventPattern& each : rule.written->from->inputs) patterns.push_back(&each);
  }
  std::set<std::string> out;
  for (const ast::EventPattern* pattern : patterns) {
    for (const ast::Name& type : pattern->types) out.insert(type.text);
  }
  return out;
}

std::optional<Key> key_of(const Rule& rule, const Event& event, const std::vector<FieldPath>& by) {
  Key key;
  for (std::size_t i = 0; i < rule.key.size(); ++i) {
    const bool own = by.empty();
    const Value value = field_of(event, own ? rule.key[i].steps : by[i].steps, 0, own && rule.written->key[i].quoted);
    // "Key values are bools, numbers, strings; an array or object counts as missing"
    if (value.is_null() || value.kind() == Kind::kJson) return std::nullopt;
    key.push_back(value);
  }
  return key;
}

bool concerns(const ast::EventPattern& pattern, const Rule& rule, const Event& event, const Key& key) {
  if (!of_type(pattern, event)) return false;
  const auto own = key_of(rule, event, pattern.by);
  return own && !KeyLess()(*own, key) && !KeyLess()(key, *own);
}

bool accepts(const ast::EventPattern& pattern, const Event& event, const Scope& scope) {
  if (!concerns(pattern, scope.rule, event, scope.key)) return false;
  return pattern.condition == nullptr ||
         holds(*pattern.condition, Scope{scope.rule, scope.bound, scope.key, &event, true, {}});
}

std::set<Key, KeyLess> input_keys(const Rule& rule, const Event& event) {
  std::set<Key, KeyLess> out;
  const auto add = [&](const std::vector<FieldPath>& by) {
    if (auto key = key_of(rule, event, by)) out.insert(std::move(*key));
  };
  const auto patterns = named_in_pattern(rule);
  bool is_input = false;
  if (const auto& from = rule.written->from) {
    // "Events that fail a condition in FROM are no input."
    static const Bindings kNothing;
    static const Key kNoKey;
    for (const ast::EventPattern& entry : from->inputs) {
      if (!of_type(entry, event)) continue;
      if (entry.condition && !holds(*entry.condition, Scope{rule, kNothing, kNoKey, &event, true, {}})) continue;
      is_input = true;
      add(entry.by);
    }
    if (from->any && !event.place.made) {
      is_input = true;
      add({});
    }
  } else {
    // "With a * and no FROM the input is FROM *"
    const bool any = std::any_of(patterns.begin(), patterns.end(), [](const auto* p) { return p->types.empty(); });
    if (any && !event.place.made) add({});
    is_input = true;
  }
  for (const ast::EventPattern* pattern : patterns) {
    if (is_input && of_type(*pattern, event)) add(pattern->by);
  }
  return out;
}

std::set<Key, KeyLess> unless_keys(const Rule& rule, const Event& event) {
  std::set<Key, KeyLess> out;
  for (const ast::EventPattern& pattern : rule.written->unless) {
    if (!of_type(pattern, event)) continue;
    if (auto key = key_of(rule, event, pattern.by)) out.insert(std::move(*key));
  }
  return out;
}

}  // namespace cepd::reference
