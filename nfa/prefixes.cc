#include "nfa/prefixes.h"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <string>
#include <tuple>

#include "dsl/plan_print.h"

namespace cepd::nfa {
namespace {

namespace plan = dsl::plan;

/// Whose partial matches may wait in a prefix at all, as far as the way events come to it decides.
std::vector<bool> with_plain_input(const Network& network) {
  std::vector<bool> out(network.rules().rules.size(), true);
  const auto look = [&](const auto& inputs) {
    for (const RuleInput& input : inputs) {
      if (input.entries.size() != 1 || input.has_from) out[input.rule] = false;
    }
  };
  for (std::size_t type = 0; type < network.fields().types().size(); ++type) {
    const auto id = TypeId(static_cast<std::uint32_t>(type));
    look(network.named_inputs(id));
    look(network.derived_inputs(id));
  }
  for (const RuleInput& input : network.any_inputs()) out[input.rule] = false;
  return out;
}

/// One event is bound here, and partial matches differ in nothing that is read later. `bound`: the elements so far.
bool is_plain(const State& state, const LookBack::AtState& ahead, ElementSet bound) {
  return state.members.size() == 1 && state.min == 1 && state.max == 1 && !state.until && !state.greedy &&
         state.inside == 0 && state.branches.size() == 1 && state.waiting == 0 && state.guards == 0 &&
         state.branches.front().when.empty() && !state.branches.front().accept && !state.edges.empty() &&
         (ahead.elements & bound) == 0 && !ahead.last && !ahead.at_next &&
         std::all_of(state.edges.begin(), state.edges.end(),
                     [](const Edge& edge) { return edge.inside == 0 && edge.repeats == 0; });
}

/// The only way on takes element number `depth` into the state of that number.
bool leads_to(const State& state, std::size_t depth) {
  if (state.edges.size() != 1) return false;
  const Edge& edge = state.edges.front();
  return static_cast<std::size_t>(edge.to) == depth && edge.elements == ElementSet{1} << depth && edge.enters == 0;
}

/// How many events its longest prefix has.
std::size_t prefix_length(const Network& network, std::uint32_t index) {
  const plan::Rule& rule = network.rules().rules[index];
  const Automaton& automaton = network.automaton(index);
  const LookBack& look_back = network.look_back(index);
  if (!rule.within || !rule.unless.empty() || !look_back.sets) return 0;
  std::size_t length = 0;
  for (const State* at = &automaton.start; leads_to(*at, length); at = &automaton.states[length++]) {
    const ElementSet bound = (ElementSet{2} << length) - 1;
    if (!is_plain(automaton.states[length], look_back.states[length], bound)) break;
    if (!rule.elements[length].joint.empty()) break;
  }
  return length;
}

/// Within one set of rules equal lists are one (dsl/share.h): a quick look before the identity is made.
using Parts =
    std::tuple<std::uint32_t, const TypeId*, const plan::FieldRef*, const plan::ExprPtr*, bool, bool, const FieldPath*>;

std::string identity_text(const plan::Rule& rule, const plan::EventTest& test, const Prefix& prefix,
                          const std::vector<Prefix>& all, const FieldPlan& fields) {
  std::string out = prefix.parent == Prefix::kNone ? "prefix" : "on " + to_string(all[prefix.parent].identity);
  out += prefix.any ? " any" : "";
  out += prefix.shadow ? " shadow" : "";
  for (const FieldPath& path : rule.key) out += '\n' + to_string(path);
  out += "\ntypes " + dsl::print(test.types, fields);
  for (const plan::FieldRef& ref : test.key) {
    out += "\nkey " + std::to_string(static_cast<int>(ref.property)) + to_string(ref.path);
  }
  for (const plan::ExprPtr& condition : test.conditions) out += "\nif " + dsl::print(*condition);
  return out;
}

}  // namespace

Prefixes::Prefixes(const Network& network, const std::vector<bool>& alone) {
  const auto& rules = network.rules().rules;
  of_rule_.assign(rules.size(), Prefix::kNone);
  const std::vector<bool> plain_input = with_plain_input(network);
  boost::unordered_flat_map<Parts, std::uint32_t, boost::hash<Parts>> known;
  boost::unordered_flat_map<MatchId, std::uint32_t, MatchIdHash> by_identity;
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    const plan::Rule& rule = rules[i];
    const bool by_itself = !plain_input[i] || (!alone.empty() && alone[i]);
    const std::size_t length = by_itself ? 0 : prefix_length(network, i);
    std::uint32_t parent = Prefix::kNone;
    for (std::size_t depth = 0; depth < length; ++depth) {
      const plan::EventTest& test = rule.elements[depth].test;
      const State& before = depth == 0 ? network.automaton(i).start : network.automaton(i).states[depth - 1];
      const bool any = depth > 0 && before.edges.front().link.contiguity == plan::Contiguity::kSkipTillAny;
      const bool shadow = rule.status == plan::Status::kShadow;
      const auto [it, is_new] = known.try_emplace(
          Parts{parent, test.types.ids.data(), test.key.data(), test.conditions.data(), any, shadow, rule.key.data()});
      if (is_new) {
        Prefix prefix;
        prefix.parent = parent;
        prefix.rule = i;
        prefix.element = plan::ElementId(static_cast<std::uint16_t>(depth));
        prefix.any = any;
        prefix.shadow = shadow;
        prefix.identity = hash_match_id(identity_text(rule, test, prefix, all_, network.fields()));
        const auto next = static_cast<std::uint32_t>(all_.size());
        it->second = by_identity.try_emplace(prefix.identity, next).first->second;
        if (it->second == next) {
          prefix.root = parent == Prefix::kNone ? next : all_[parent].root;
          if (parent != Prefix::kNone) all_[parent].prefixes.push_back(next);
          all_.push_back(std::move(prefix));
        }
      }
      const std::uint32_t number = it->second;
      all_[number].level = std::max(all_[number].level, rule.level);
      all_[number].within = std::max(all_[number].within, *rule.within);
      parent = number;
    }
    of_rule_[i] = parent;
    if (parent != Prefix::kNone) all_[parent].rules.push_back(i);
  }
  all_.shrink_to_fit();
  for (Prefix& prefix : all_) {
    prefix.rules.shrink_to_fit();
    prefix.prefixes.shrink_to_fit();
  }
}

}  // namespace cepd::nfa
