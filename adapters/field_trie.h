#pragma once
/// Paths merged by their common beginnings, so that one walk over an object finds all of them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/path.h"

namespace cepd::adapters {

class FieldTrie {
 public:
  static constexpr std::uint32_t kNoSlot = UINT32_MAX;

  struct NameEdge {
    std::uint64_t start;  ///< of the name, see start_of()
    std::uint32_t node;
    std::uint32_t only_slot;  ///< of the node, when it has one slot and nothing below it; else kNoSlot
    std::string name;
  };
  struct IndexEdge {
    std::int64_t index;
    std::uint32_t node;
  };
  struct Node {
    std::vector<std::uint32_t> slots;  ///< filled by the value that stands here
    std::vector<NameEdge> names;       ///< sorted by length, then bytes
    std::vector<IndexEdge> indexes;    ///< sorted
    std::uint64_t lengths = 0;         ///< of the names, a bit each: most names of an event are told apart by it
  };

  /// The slot of a path is its index.
  explicit FieldTrie(const std::vector<FieldPath>& paths);

  const Node& root() const { return nodes_.front(); }
  const Node& node(std::uint32_t id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }
  /// The edge of that name, or null.
  static const NameEdge* find(const Node& node, std::string_view name) {
    if ((node.lengths & length_bit(name.size())) == 0) return nullptr;
    if (node.names.size() > kFew) return search(node, name);
    const std::uint64_t start = start_of(name);
    for (const NameEdge& edge : node.names) {
      if (edge.start != start || edge.name.size() != name.size()) continue;
      if (name.size() <= sizeof start || edge.name == name) return &edge;
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kFew = 16;  // more edges are searched by halves

  static std::uint64_t length_bit(std::size_t length) { return std::uint64_t{1} << std::min<std::size_t>(length, 63); }

  /// Different for names of one length that differ in their first eight bytes; cheaper than a call that compares.
  static std::uint64_t start_of(std::string_view name) {
    const auto at = [&](std::size_t place, auto word) {
      std::memcpy(&word, name.data() + place, sizeof word);
      return std::uint64_t{word};
    };
    const std::size_t size = name.size();
    if (size >= 8) return at(0, std::uint64_t{});
    if (size >= 4) return at(0, std::uint32_t{}) << 32 | at(size - 4, std::uint32_t{});
    if (size == 0) return 0;
    return at(0, std::uint8_t{}) << 16 | at(size / 2, std::uint8_t{}) << 8 | at(size - 1, std::uint8_t{});
  }

  static const NameEdge* search(const Node& node, std::string_view name);
  std::uint32_t child(std::uint32_t parent, const FieldPath::Step& step);
  std::vector<Node> nodes_;
};

}  // namespace cepd::adapters
