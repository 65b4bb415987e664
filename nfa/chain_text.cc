#include "nfa/chain_text.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <set>

namespace cepd::nfa {
namespace {

namespace plan = dsl::plan;

std::string rule_names(const Network& network, const std::vector<std::uint32_t>& rules) {
  std::vector<std::string> names;
  for (const std::uint32_t rule : rules) names.push_back(quoted_if_needed(network.rules().rules[rule].name));
  return boost::algorithm::join(names, ", ");
}

std::string makes_text(const Network& network, TypeId type, const char* title, bool shadow) {
  std::vector<std::uint32_t> readers;
  for (const RuleInput& input : network.derived_inputs(type)) {
    if (!shadow || network.rules().rules[input.rule].status == plan::Status::kShadow) readers.push_back(input.rule);
  }
  return std::string(title) + quoted_if_needed(network.fields().type(type).name) +
         (readers.empty() ? ", read by no rule" : ", read by " + rule_names(network, readers)) + "\n";
}

}  // namespace

std::string chain_text(const Network& network, std::size_t index) {
  const plan::Rule& rule = network.rules().rules[index];
  const bool shadow = rule.status == plan::Status::kShadow;
  std::set<std::string> reads;  // by the types' names
  for (std::size_t i = 0; i < network.fields().types().size(); ++i) {
    const TypeId type{static_cast<std::uint32_t>(i)};
    const auto& inputs = network.derived_inputs(type);
    if (std::none_of(inputs.begin(), inputs.end(), [&](const RuleInput& input) { return input.rule == index; })) {
      continue;
    }
    std::vector<std::uint32_t> makers = network.makers(type);
    std::erase_if(makers, [&](std::uint32_t maker) {
      return !shadow && network.rules().rules[maker].status == plan::Status::kShadow;
    });
    if (makers.empty()) continue;
    reads.insert("  reads         " + quoted_if_needed(network.fields().type(type).name) + ", made by " +
                 rule_names(network, makers) + "\n");
  }
  std::string out = "  level         " + std::to_string(rule.level) + "\n";
  for (const std::string& line : reads) out += line;
  if (rule.into) out += makes_text(network, *rule.into, "  makes         ", shadow);
  if (rule.on_timeout && rule.on_timeout->into) {
    out += makes_text(network, *rule.on_timeout->into, "  on time-out   ", shadow);
  }
  return out;
}

}  // namespace cepd::nfa
