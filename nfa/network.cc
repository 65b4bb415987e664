#include "nfa/network.h"

#include <algorithm>

#include "base/check.h"

namespace cepd::nfa {
namespace {

namespace plan = dsl::plan;

/// Where an event comes from. `*` is what comes from a source.
enum class Origin : std::uint8_t { kSource, kRule };

bool names_type(const plan::Types& types, TypeId type, Origin origin) {
  return (types.any && origin == Origin::kSource) || std::binary_search(types.ids.begin(), types.ids.end(), type);
}

bool makes(const plan::Rule& rule, TypeId type) {
  return rule.into == type || (rule.on_timeout && rule.on_timeout->into == type);
}

plan::ElementId element_id(std::size_t index) { return plan::ElementId(static_cast<std::uint16_t>(index)); }

/// Collects one Entry for each distinct way to read the key.
class EntryList {
 public:
  Entry& at(const std::vector<plan::FieldRef>& key) {
    for (Entry& entry : entries_) {
      if (same(*entry.key, key)) return entry;
    }
    entries_.push_back(Entry{&key, 0, 0, false});
    return entries_.back();
  }
  std::vector<Entry> take() { return std::move(entries_); }

 private:
  static bool same(const std::vector<plan::FieldRef>& a, const std::vector<plan::FieldRef>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const plan::FieldRef& x, const plan::FieldRef& y) {
      return x.property == y.property && x.path == y.path;
    });
  }
  std::vector<Entry> entries_;
};

RuleInput compile_input(const plan::Rule& rule, std::uint32_t index, TypeId type, Origin origin) {
  RuleInput input;
  input.rule = index;
  EntryList entries;
  for (std::size_t i = 0; i < rule.elements.size(); ++i) {
    const plan::Element& element = rule.elements[i];
    if (!names_type(element.test.types, type, origin)) continue;
    Entry& entry = entries.at(element.test.key);
    entry.elements |= element_bit(element_id(i));
    entry.input = true;
  }
  if (rule.from) {
    for (const plan::EventTest& from : *rule.from) {
      if (!names_type(from.types, type, origin)) continue;
      input.from.push_back(&from);
      entries.at(from.key).input = true;
    }
  }
  // With a `*` in the pattern and no FROM written, FROM is `*`: it says nothing of derived events, which are input by
  // their names in the pattern alone.
  input.has_from = rule.from.has_value() && (origin == Origin::kSource || !input.from.empty());
  for (std::size_t i = 0; i < rule.unless.size(); ++i) {
    if (names_type(rule.unless[i].types, type, origin)) entries.at(rule.unless[i].key).unless |= std::uint64_t{1} << i;
  }
  input.entries = entries.take();
  return input;
}

void add_types(std::vector<TypeId>& out, bool& any, const plan::Types& types) {
  any = any || types.any;
  out.insert(out.end(), types.ids.begin(), types.ids.end());
}

}  // namespace

std::shared_ptr<const Network> Network::compile(std::shared_ptr<const dsl::RuleSet> rules) {
  auto network = std::make_shared<Network>();
  const std::size_t type_count = rules->fields.types().size();
  network->inputs_.resize(type_count);
  network->derived_inputs_.resize(type_count);
  std::vector<bool> made(type_count);
  for (const plan::Rule& rule : rules->rules) {
    if (rule.into) made[static_cast<std::size_t>(*rule.into)] = true;
    if (rule.on_timeout && rule.on_timeout->into) made[static_cast<std::size_t>(*rule.on_timeout->into)] = true;
  }
  for (std::size_t i = 0; i < rules->rules.size(); ++i) {
    const plan::Rule& rule = rules->rules[i];
    CEPD_CHECK(rule.elements.size() <= plan::kMaxElements && rule.unless.size() <= 64);
    network->automata_.push_back(compile_automaton(rule));

    std::vector<TypeId> types;
    bool any = false;
    for (const plan::Element& element : rule.elements) add_types(types, any, element.test.types);
    for (const plan::EventTest& test : rule.unless) add_types(types, any, test.types);
    if (rule.from) {
      for (const plan::EventTest& test : *rule.from) add_types(types, any, test.types);
    }
    if (any) {
      types.clear();
      for (std::size_t t = 0; t < type_count; ++t) types.push_back(TypeId(static_cast<std::uint32_t>(t)));
    }
    std::sort(types.begin(), types.end());
    types.erase(std::unique(types.begin(), types.end()), types.end());
    for (const TypeId type : types) {
      const auto number = static_cast<std::size_t>(type);
      RuleInput input = compile_input(rule, static_cast<std::uint32_t>(i), type, Origin::kSource);
      if (!input.entries.empty()) network->inputs_[number].push_back(std::move(input));
      if (!made[number]) continue;
      RuleInput derived = compile_input(rule, static_cast<std::uint32_t>(i), type, Origin::kRule);
      if (!derived.entries.empty()) network->derived_inputs_[number].push_back(std::move(derived));
    }
  }
  network->rules_ = std::move(rules);
  return network;
}

std::vector<std::uint32_t> Network::makers(TypeId type) const {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < rules_->rules.size(); ++i) {
    if (makes(rules_->rules[i], type)) out.push_back(i);
  }
  return out;
}

}  // namespace cepd::nfa
