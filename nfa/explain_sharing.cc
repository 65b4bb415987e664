#include <boost/algorithm/string/join.hpp>
#include <map>
#include <string>
#include <vector>

#include "dsl/plan_print.h"
#include "nfa/explain.h"
#include "nfa/prefixes.h"

namespace cepd::nfa {
namespace {

namespace plan = dsl::plan;

/// More rules than this are counted, not named.
constexpr std::size_t kNamed = 8;

std::string names_of(const Network& network, const std::vector<std::uint32_t>& rules) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rules.size() && i < kNamed; ++i) {
    names.push_back(network.rules().rules[rules[i]].name);
  }
  std::string out = std::to_string(rules.size()) + " rules: " + boost::algorithm::join(names, ", ");
  if (rules.size() > kNamed) out += " and " + std::to_string(rules.size() - kNamed) + " more";
  return out;
}

std::string event_text(const Network& network, const Prefix& prefix) {
  const plan::EventTest& test =
      network.rules().rules[prefix.rule].elements[static_cast<std::size_t>(prefix.element)].test;
  std::vector<std::string> conditions;
  for (const plan::ExprPtr& condition : test.conditions) conditions.push_back(dsl::print(*condition));
  const std::string type = dsl::print(test.types, network.fields());
  return conditions.empty() ? type : type + "[" + boost::algorithm::join(conditions, " AND ") + "]";
}

std::string prefix_text(const Network& network, const Prefixes& prefixes, std::uint32_t number) {
  const Prefix& prefix = prefixes[number];
  if (prefix.parent == Prefix::kNone) return event_text(network, prefix);
  return prefix_text(network, prefixes, prefix.parent) + (prefix.any ? " THEN ANY " : " THEN ") +
         event_text(network, prefix);
}

std::string shared_keys(const Network& network) {
  std::map<std::string, std::vector<std::uint32_t>> by_key;
  for (std::uint32_t i = 0; i < network.rules().rules.size(); ++i) {
    std::vector<std::string> fields;
    for (const FieldPath& path : network.rules().rules[i].key) fields.push_back(to_string(path));
    if (!fields.empty()) by_key[boost::algorithm::join(fields, ", ")].push_back(i);
  }
  std::string out;
  for (const auto& [key, rules] : by_key) {
    if (rules.size() > 1) out += "  one table for KEY " + key + "\n    " + names_of(network, rules) + "\n";
  }
  return out;
}

std::string shared_prefixes(const Network& network) {
  const Prefixes prefixes(network, {});
  std::string out;
  for (std::uint32_t i = 0; i < prefixes.all().size(); ++i) {
    std::vector<std::uint32_t> rules;
    prefixes.each_rule(i, [&](std::uint32_t rule) { rules.push_back(rule); });
    // A longer prefix with the same rules says it all.
    const bool same = prefixes[i].rules.empty() && prefixes[i].prefixes.size() == 1;
    if (rules.size() < 2 || same) continue;
    out += "  one copy of what waits after " + prefix_text(network, prefixes, i) + "\n    " + names_of(network, rules) +
           "\n";
  }
  return out;
}

}  // namespace

std::string explain_sharing(const Network& network) {
  const std::string shared = shared_keys(network) + shared_prefixes(network);
  return shared.empty() ? "" : "shared\n" + shared + "\n";
}

}  // namespace cepd::nfa
