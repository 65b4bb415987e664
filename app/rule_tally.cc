#include "app/rule_tally.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <string_view>
#include <utility>

namespace cepd::app {

void RuleTally::swap(const nfa::Network& before, const nfa::Network& now) {
  boost::unordered_flat_map<std::string_view, RuleTallies> known;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (rules_[i].sum() > 0) known.emplace(before.rules().rules[i].name, rules_[i]);
  }
  const auto& rules = now.rules().rules;
  rules_.assign(rules.size(), {});
  for (std::size_t i = 0; i < rules.size() && !known.empty(); ++i) {
    if (const auto it = known.find(rules[i].name); it != known.end()) rules_[i] = it->second;
  }
}

std::vector<RuleTally::OfRule> RuleTally::by_rule(const nfa::Network& network) const {
  std::vector<OfRule> out;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (rules_[i].sum() > 0) out.push_back({network.rules().rules[i].name, rules_[i]});
  }
  return out;
}

}  // namespace cepd::app
