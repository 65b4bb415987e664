#include "nfa/network.h"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <tuple>

#include "base/check.h"

namespace cepd::nfa {
namespace {

namespace plan = dsl::plan;

/// A type, and where its events come from; `*` is what comes from a source.
struct Source {
  std::optional<TypeId> type;  ///< none: one that the rule does not name
  bool made = false;           ///< by rules

  bool named_in(const plan::Types& types) const {
    return (types.any && !made) || (type && std::binary_search(types.ids.begin(), types.ids.end(), *type));
  }
};

plan::ElementId element_id(std::size_t index) { return plan::ElementId(static_cast<std::uint16_t>(index)); }

/// Collects one Entry for each distinct way to read the key.
class EntryList {
 public:
  Entry& at(const List<plan::FieldRef>& key) {
    for (Entry& entry : entries_) {
      if (same_fields(entry.key, key)) return entry;
    }
    entries_.push_back(Entry{key, 0, 0, false, false});
    return entries_.back();
  }
  std::vector<Entry> take() { return std::move(entries_); }

 private:
  std::vector<Entry> entries_;
};

struct EntriesHash {
  std::size_t operator()(const List<Entry>& list) const {
    std::size_t seed = list.size();
    for (const Entry& entry : list) {
      boost::hash_combine(seed, entry.key.data());
      boost::hash_combine(seed, entry.elements);
      boost::hash_combine(seed, entry.unless);
    }
    return seed;
  }
};
struct FromHash {
  std::size_t operator()(const List<const plan::EventTest*>& list) const {
    return boost::hash_range(list.begin(), list.end());
  }
};

/// Compiles rules one after the other; what is equal in them is made once.
class InputCompiler {
 public:
  RuleInput compile(const plan::Rule& rule, std::size_t index, const Source& source) {
    RuleInput input;
    input.rule = static_cast<std::uint32_t>(index);
    EntryList entries;
    for (std::size_t i = 0; i < rule.elements.size(); ++i) {
      const plan::Element& element = rule.elements[i];
      if (!source.named_in(element.test.types)) continue;
      Entry& entry = entries.at(element.test.key);
      entry.elements |= element_bit(element_id(i));
      entry.input = true;
    }
    std::vector<const plan::EventTest*> from;
    if (rule.from) {
      for (const plan::EventTest& test : *rule.from) {
        if (!source.named_in(test.types)) continue;
        from.push_back(&test);
        Entry& entry = entries.at(test.key);
        entry.of_from = entry.of_from || !entry.input;
        entry.input = true;
      }
    }
    // With a `*` in the pattern and no FROM written, FROM is `*`: it says nothing of derived events, which are input by
    // their names in the pattern alone.
    input.has_from = rule.from.has_value() && (!source.made || !from.empty());
    for (std::size_t i = 0; i < rule.unless.size(); ++i) {
      if (source.named_in(rule.unless[i].types)) entries.at(rule.unless[i].key).unless |= std::uint64_t{1} << i;
    }
    input.entries = *entries_.insert(entries.take()).first;
    input.from = *from_.insert(std::move(from)).first;
    return input;
  }

 private:
  boost::unordered_flat_set<List<Entry>, EntriesHash, std::equal_to<>> entries_;
  boost::unordered_flat_set<List<const plan::EventTest*>, FromHash, std::equal_to<>> from_;
};

/// An automaton depends on nothing but the slots, the steps and the number of elements.
class AutomatonCompiler {
 public:
  std::shared_ptr<const Automaton> compile(const plan::Rule& rule) {
    const Parts parts{rule.slots.data(), rule.pattern.steps.data(), rule.elements.size()};
    std::shared_ptr<const Automaton>& known = known_[parts];
    if (known == nullptr) known = std::make_shared<const Automaton>(compile_automaton(rule));
    return known;
  }

 private:
  using Parts = std::tuple<const plan::Slot*, const plan::Step*, std::size_t>;
  boost::unordered_flat_map<Parts, std::shared_ptr<const Automaton>, boost::hash<Parts>> known_;
};

struct LookBackHash {
  std::size_t operator()(const LookBack& look_back) const {
    std::size_t hash = look_back.sets;
    for (const LookBack::AtState& state : look_back.states) {
      boost::hash_combine(hash, state.elements);
      boost::hash_combine(hash, state.moved_by);
      boost::hash_combine(hash, state.last + 2 * state.at_next);
    }
    return hash;
  }
};

/// What conditions look back at; equal ones are made once.
class LookBacks {
 public:
  std::shared_ptr<const LookBack> keep(LookBack look_back) {
    std::shared_ptr<const LookBack>& known = known_[look_back];
    if (known == nullptr) known = std::make_shared<const LookBack>(std::move(look_back));
    return known;
  }

 private:
  boost::unordered_flat_map<LookBack, std::shared_ptr<const LookBack>, LookBackHash> known_;
};

void add_types(std::vector<TypeId>& out, bool& any, const plan::Types& types) {
  any = any || types.any;
  out.insert(out.end(), types.ids.begin(), types.ids.end());
}

void shrink(std::vector<std::vector<RuleInput>>& by_type) {
  for (std::vector<RuleInput>& inputs : by_type) inputs.shrink_to_fit();
}

}  // namespace

bool same_fields(const List<plan::FieldRef>& a, const List<plan::FieldRef>& b) {
  return a.is(b) ||
         std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const plan::FieldRef& x, const plan::FieldRef& y) {
           return x.property == y.property && x.path == y.path;
         });
}

std::shared_ptr<const Network> Network::compile(std::shared_ptr<const dsl::RuleSet> rules) {
  auto network = std::make_shared<Network>();
  const std::size_t type_count = rules->fields.types().size();
  network->inputs_.resize(type_count);
  network->derived_inputs_.resize(type_count);
  network->makers_.resize(type_count);
  network->automata_.reserve(rules->rules.size());
  for (std::uint32_t i = 0; i < rules->rules.size(); ++i) {
    const plan::Rule& rule = rules->rules[i];
    if (rule.into) network->makers_[static_cast<std::size_t>(*rule.into)].push_back(i);
    if (rule.on_timeout && rule.on_timeout->into && rule.on_timeout->into != rule.into) {
      network->makers_[static_cast<std::size_t>(*rule.on_timeout->into)].push_back(i);
    }
  }
  InputCompiler inputs;
  AutomatonCompiler automata;
  LookBacks look_backs;
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < rules->rules.size(); ++i) {
    const plan::Rule& rule = rules->rules[i];
    CEPD_CHECK(rule.elements.size() <= plan::kMaxElements && rule.unless.size() <= 64);
    network->automata_.push_back(automata.compile(rule));
    network->look_backs_.push_back(look_backs.keep(look_back_of(rule, *network->automata_.back())));

    types.clear();
    bool any = false;
    for (const plan::Element& element : rule.elements) add_types(types, any, element.test.types);
    for (const plan::EventTest& test : rule.unless) add_types(types, any, test.types);
    if (rule.from) {
      for (const plan::EventTest& test : *rule.from) add_types(types, any, test.types);
    }
    if (any) network->any_inputs_.push_back(inputs.compile(rule, i, {}));
    std::sort(types.begin(), types.end());
    types.erase(std::unique(types.begin(), types.end()), types.end());
    for (const TypeId type : types) {
      const auto number = static_cast<std::size_t>(type);
      network->inputs_[number].push_back(inputs.compile(rule, i, {type, false}));
      if (network->makers_[number].empty()) continue;
      RuleInput derived = inputs.compile(rule, i, {type, true});
      if (!derived.entries.empty()) network->derived_inputs_[number].push_back(std::move(derived));
    }
  }
  shrink(network->inputs_);
  shrink(network->derived_inputs_);
  network->any_inputs_.shrink_to_fit();
  network->element_tests_ = std::make_unique<const ElementTests>(rules->rules);
  network->rules_ = std::move(rules);
  return network;
}

}  // namespace cepd::nfa
