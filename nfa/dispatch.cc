#include "nfa/dispatch.h"

#include <algorithm>
#include <map>
#include <string>

namespace cepd::nfa {
namespace {

namespace plan = dsl::plan;

void append_field(std::string& out, const plan::FieldRef& ref) {
  out += static_cast<char>('0' + static_cast<int>(ref.property));
  out += to_string(ref.path);
  out += '\0';
}

/// A table by number is worth it where one in so many has an entry.
constexpr std::size_t kTableShare = 8;

}  // namespace

const RuleEntry* KeyWay::find(std::uint32_t rule) const {
  if (!places_.empty()) return places_[rule] == 0 ? nullptr : &rules[places_[rule] - 1];
  const auto it = std::lower_bound(rules.begin(), rules.end(), rule,
                                   [](const RuleEntry& entry, std::uint32_t index) { return entry.rule < index; });
  return it != rules.end() && it->rule == rule ? &*it : nullptr;
}

Dispatch::Dispatch(const Network& network, const std::vector<bool>& alone) : prefixes_(network, alone) {
  std::map<std::string, std::uint32_t> tables;
  for (const plan::Rule& rule : network.rules().rules) {
    std::string key;
    for (const FieldPath& path : rule.key) key += to_string(path) + '\0';
    table_of_.push_back(tables.try_emplace(std::move(key), static_cast<std::uint32_t>(tables.size())).first->second);
  }
  tables_ = static_cast<std::uint32_t>(tables.size());
  // A condition of a `*` reads another slot in each type: it is not indexed.
  constexpr TypeId kNone{UINT32_MAX};
  any_ = compile(network, network.any_inputs(), kNone);
  std::vector<bool> any(network.rules().rules.size());
  for (const RuleInput& input : network.any_inputs()) any[input.rule] = true;
  for (std::size_t type = 0; type < network.fields().types().size(); ++type) {
    const auto id = TypeId(static_cast<std::uint32_t>(type));
    const std::span<const RuleInput> named = network.named_inputs(id);
    // What a rule says of a type that it names holds beside its `*`.
    const bool both = std::any_of(named.begin(), named.end(), [&](const RuleInput& input) { return any[input.rule]; });
    sources_.push_back(both ? compile(network, network.inputs(id), id) : compile(network, named, id));
    if (!both && !network.any_inputs().empty()) sources_.back().any = &any_;
    derived_.push_back(compile(network, network.derived_inputs(id), id));
  }
}

template <class Inputs>
TypeDispatch Dispatch::compile(const Network& network, const Inputs& inputs, TypeId type) {
  TypeDispatch out;
  boost::unordered_flat_map<std::string, std::size_t> by_key;
  for (const RuleInput& input : inputs) {
    if (input.entries.size() != 1) {
      out.several.push_back(&input);
      continue;
    }
    const Entry& entry = input.entries.front();
    std::string key = std::to_string(table_of_[input.rule]) + ' ';
    for (const plan::FieldRef& ref : entry.key) append_field(key, ref);
    const auto [it, is_new] = by_key.emplace(std::move(key), out.ways.size());
    if (is_new) {
      out.ways.emplace_back();
      out.ways.back().number = ways_++;
      out.ways.back().table = table_of_[input.rule];
      out.ways.back().key = entry.key;
    }
    const Automaton& automaton = network.automaton(input.rule);
    const bool moves = entry.unless != 0 || (entry.elements & automaton.moving) != 0 || automaton.looks_at_next;
    out.ways[it->second].rules.push_back(
        {input.rule, entry.input, input.has_from, moves, entry.elements, entry.unless, &input});
  }
  for (KeyWay& way : out.ways) {
    way.rules.shrink_to_fit();
    way.rule_of.reserve(way.rules.size());
    for (const RuleEntry& entry : way.rules) way.rule_of.push_back(entry.rule);
    for (std::uint32_t place = 0; place < way.rules.size(); ++place) {
      const RuleEntry& entry = way.rules[place];
      if (prefixes_.of_rule(entry.rule) != Prefix::kNone) continue;
      const ElementSet starting = entry.elements & network.automaton(entry.rule).starting;
      way.starts.add(place, network.rules().rules[entry.rule], starting, type);
    }
    add_prefixes(network, way, type);
    way.starts.finish();
    const std::size_t rules = network.rules().rules.size();
    if (way.rules.size() * kTableShare < rules) continue;
    way.places_.resize(rules);
    for (std::uint32_t place = 0; place < way.rules.size(); ++place) way.places_[way.rules[place].rule] = place + 1;
  }
  return out;
}

/// Which prefixes an event may begin, and whose partial matches it may take further.
void Dispatch::add_prefixes(const Network& network, KeyWay& way, TypeId type) const {
  const auto& rules = network.rules().rules;
  struct Reader {
    std::uint32_t place;
    std::uint32_t rule;
    ElementSet elements;
  };
  boost::unordered_flat_map<std::uint32_t, std::vector<Reader>> readers;
  for (std::uint32_t place = 0; place < way.rules.size(); ++place) {
    const RuleEntry& entry = way.rules[place];
    const std::uint32_t longest = prefixes_.of_rule(entry.rule);
    if (longest == Prefix::kNone) continue;
    ElementSet ahead = 0;
    const Automaton& automaton = network.automaton(entry.rule);
    for (const Edge& edge : automaton.states[static_cast<std::size_t>(prefixes_[longest].element)].edges) {
      ahead |= edge.elements & entry.elements;
    }
    if (ahead != 0) readers[longest].push_back({place, entry.rule, ahead});
    for (std::uint32_t at = longest; at != Prefix::kNone; at = prefixes_[at].parent) {
      const Prefix& prefix = prefixes_[at];
      if (prefix.rule == entry.rule && (entry.elements & element_bit(prefix.element)) != 0) way.prefixes.push_back(at);
    }
  }
  std::sort(way.prefixes.begin(), way.prefixes.end());
  way.prefixes.shrink_to_fit();
  for (std::uint32_t i = 0; i < way.prefixes.size(); ++i) {
    const Prefix& prefix = prefixes_[way.prefixes[i]];
    const auto place = static_cast<std::uint32_t>(way.rules.size()) + i;
    const ElementSet element = element_bit(prefix.element);
    if (prefix.parent == Prefix::kNone) {
      way.starts.add(place, rules[prefix.rule], element, type);
    } else {
      readers[prefix.parent].push_back({place, prefix.rule, element});
    }
  }
  const bool many = readers.size() * kTableShare >= prefixes_.all().size();
  if (many && !readers.empty()) way.continuation_places_.resize(prefixes_.all().size());
  way.continuations_.reserve(readers.size());
  for (const auto& [prefix, of_prefix] : readers) {
    const auto place = static_cast<std::uint32_t>(way.continuations_.size());
    if (many) {
      way.continuation_places_[prefix] = place + 1;
    } else {
      way.continuation_of_[prefix] = place;
    }
    StartIndex index;
    for (const Reader& reader : of_prefix) index.add(reader.place, rules[reader.rule], reader.elements, type);
    index.finish();
    Continuation& continuation = way.continuations_.emplace_back();
    if (auto range = index.take_only_range()) {
      continuation.range_ = std::move(*range);
    } else {
      continuation.index_ = std::make_unique<StartIndex>(std::move(index));
    }
  }
}

}  // namespace cepd::nfa
