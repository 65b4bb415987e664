#include "adapters/field_trie.h"

#include <algorithm>

namespace cepd::adapters {
namespace {

bool before(std::string_view a, std::string_view b) { return a.size() != b.size() ? a.size() < b.size() : a < b; }

}  // namespace

FieldTrie::FieldTrie(const std::vector<FieldPath>& paths) : nodes_(1) {
  for (std::size_t slot = 0; slot < paths.size(); ++slot) {
    std::uint32_t at = 0;
    for (const FieldPath::Step& step : paths[slot].steps) at = child(at, step);
    nodes_[at].slots.push_back(static_cast<std::uint32_t>(slot));
  }
  for (Node& node : nodes_) {
    std::ranges::sort(node.names, before, &NameEdge::name);
    std::ranges::sort(node.indexes, {}, &IndexEdge::index);
    for (NameEdge& edge : node.names) {
      node.lengths |= length_bit(edge.name.size());
      const Node& below = nodes_[edge.node];
      if (below.slots.size() == 1 && below.names.empty() && below.indexes.empty()) edge.only_slot = below.slots.front();
    }
  }
}

std::uint32_t FieldTrie::child(std::uint32_t parent, const FieldPath::Step& step) {
  const auto added = static_cast<std::uint32_t>(nodes_.size());
  if (const auto* name = std::get_if<std::string>(&step)) {
    auto& edges = nodes_[parent].names;
    if (const auto it = std::ranges::find(edges, *name, &NameEdge::name); it != edges.end()) return it->node;
    edges.push_back({start_of(*name), added, kNoSlot, *name});
  } else {
    const std::int64_t index = std::get<std::int64_t>(step);
    auto& edges = nodes_[parent].indexes;
    if (const auto it = std::ranges::find(edges, index, &IndexEdge::index); it != edges.end()) return it->node;
    edges.push_back({index, added});
  }
  nodes_.emplace_back();
  return added;
}

const FieldTrie::NameEdge* FieldTrie::search(const Node& node, std::string_view name) {
  const auto it = std::ranges::lower_bound(node.names, name, before, &NameEdge::name);
  return it != node.names.end() && it->name == name ? &*it : nullptr;
}

}  // namespace cepd::adapters
