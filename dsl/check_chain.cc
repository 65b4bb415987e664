#include "dsl/check_chain.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <map>
#include <string_view>

#include "dsl/check_pattern.h"

namespace cepd::dsl::checking {
namespace {

/// Rules and the types they make as one graph: rule -> type it makes -> rule that reads it. Types are nodes of their
/// own, so that many makers and many readers of one type are not many times many edges.
class ChainGraph {
 public:
  explicit ChainGraph(const std::vector<ChainRule>& rules) : rules_(rules), next_(rules.size()) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
      for (const ast::Name* made : made_types(*rules[i].rule)) {
        const auto [it, added] = type_nodes_.emplace(made->text, next_.size());
        if (added) next_.emplace_back();
        next_[i].push_back(it->second);
      }
    }
    for (std::size_t i = 0; i < rules.size(); ++i) {
      for_each_event(*rules[i].rule, [&](const ast::EventPattern& event) {
        for (const ast::Name& type : event.types) {
          if (const auto it = type_nodes_.find(type.text); it != type_nodes_.end()) next_[it->second].push_back(i);
        }
      });
    }
  }

  /// By node: makers before what they make, and types before their readers; 0 where a cycle is in the way.
  std::vector<std::uint32_t> levels() const {
    std::vector<std::size_t> waits_for(next_.size());
    for (const auto& targets : next_) {
      for (const std::size_t to : targets) ++waits_for[to];
    }
    std::vector<std::uint32_t> level(next_.size());
    std::vector<std::size_t> ready;
    for (std::size_t node = 0; node < rules_.size(); ++node) {
      if (waits_for[node] > 0) continue;
      level[node] = 1;
      ready.push_back(node);
    }
    std::vector<std::uint32_t> least(next_.size());
    while (!ready.empty()) {
      const std::size_t node = ready.back();
      ready.pop_back();
      for (const std::size_t to : next_[node]) {
        least[to] = std::max(least[to], level[node] + (is_rule(to) ? 1 : 0));
        if (--waits_for[to] > 0) continue;
        level[to] = least[to];
        ready.push_back(to);
      }
    }
    return level;
  }

  /// Of each group of rules that feed each other the shortest cycle through its first member, as node, node, … node.
  std::vector<std::vector<std::size_t>> cycles() const {
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph(next_.size());
    for (std::size_t node = 0; node < next_.size(); ++node) {
      for (const std::size_t to : next_[node]) boost::add_edge(node, to, graph);
    }
    std::vector<std::size_t> component(next_.size());
    const auto by_node = boost::make_iterator_property_map(component.begin(), boost::get(boost::vertex_index, graph));
    std::vector<std::size_t> size(boost::strong_components(graph, by_node));
    for (const std::size_t each : component) ++size[each];

    std::vector<std::vector<std::size_t>> out;
    for (std::size_t node = 0; node < rules_.size(); ++node) {
      std::size_t& members = size[component[node]];
      if (members < 2) continue;  // a cycle has a rule and a type at least
      members = 0;
      out.push_back(shortest_cycle(node, component));
    }
    return out;
  }

  const ChainRule& rule(std::size_t node) const { return rules_[node]; }
  /// Where `rule` says that it makes the type of `node`.
  const ast::Name& into(const ChainRule& maker, std::size_t node) const {
    for (const ast::Name* made : made_types(*maker.rule)) {
      if (type_nodes_.at(made->text) == node) return *made;
    }
    return maker.rule->name;
  }

 private:
  bool is_rule(std::size_t node) const { return node < rules_.size(); }

  std::vector<std::size_t> shortest_cycle(std::size_t first, const std::vector<std::size_t>& component) const {
    constexpr auto kUnseen = static_cast<std::size_t>(-1);
    std::vector<std::size_t> from(next_.size(), kUnseen);
    std::vector<std::size_t> queue{first};
    for (std::size_t i = 0; i < queue.size() && from[first] == kUnseen; ++i) {
      for (const std::size_t to : next_[queue[i]]) {
        if (component[to] != component[first] || from[to] != kUnseen) continue;
        from[to] = queue[i];
        queue.push_back(to);
      }
    }
    std::vector<std::size_t> path{first};
    do path.push_back(from[path.back()]);
    while (path.back() != first);
    std::reverse(path.begin(), path.end());
    return path;
  }

  const std::vector<ChainRule>& rules_;
  std::vector<std::vector<std::size_t>> next_;  // rules by their index, then types
  std::map<std::string_view, std::size_t> type_nodes_;
};

}  // namespace

std::vector<const ast::Name*> made_types(const ast::Rule& rule) {
  std::vector<const ast::Name*> out;
  if (rule.emit && rule.emit->into) out.push_back(&*rule.emit->into);
  if (rule.on_timeout && rule.on_timeout->emit && rule.on_timeout->emit->into) {
    out.push_back(&*rule.on_timeout->emit->into);
  }
  return out;
}

std::vector<std::uint32_t> chain_levels(const std::vector<ChainRule>& rules) {
  std::vector<std::uint32_t> levels = ChainGraph(rules).levels();
  levels.resize(rules.size());
  return levels;
}

void report_cycles(const std::vector<ChainRule>& rules) {
  const ChainGraph graph(rules);
  for (const std::vector<std::size_t>& cycle : graph.cycles()) {
    const ChainRule& first = graph.rule(cycle.front());
    const ast::Name& made = graph.into(first, cycle[1]);
    constexpr const char* kHint = "no rule may read what it makes, not through other rules either";
    if (cycle.size() == 3) {
      first.report->error(made.where, "the rule " + first.rule->name.text + " reads " + made.text + ", which it makes",
                          kHint);
      continue;
    }
    std::string text;
    for (std::size_t i = 0; i + 2 < cycle.size(); i += 2) {
      const ChainRule& maker = graph.rule(cycle[i]);
      const ast::Name& into = graph.into(maker, cycle[i + 1]);
      text += (i == 0 ? "" : ", ") + maker.rule->name.text;
      if (i > 0) text += " (" + maker.report->place(into.where) + ")";
      text += " makes " + into.text + " for " + graph.rule(cycle[i + 2]).rule->name.text;
    }
    first.report->error(made.where, "these rules feed each other: " + text, kHint);
  }
}

}  // namespace cepd::dsl::checking
