#pragma once
/// Paths merged by their common beginnings, so that one walk over an object finds all of them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/path.h"

namespace cepd::adapters {

class FieldTrie {
 public:
  struct NameEdge {
    std::string name;
    std::uint32_t node;
  };
  struct IndexEdge {
    std::int64_t index;
    std::uint32_t node;
  };
  struct Node {
    std::vector<std::uint32_t> slots;  ///< filled by the value that stands here
    std::vector<NameEdge> names;       ///< sorted by length, then bytes
    std::vector<IndexEdge> indexes;    ///< sorted
  };

  /// The slot of a path is its index.
  explicit FieldTrie(const std::vector<FieldPath>& paths);

  const Node& root() const { return nodes_.front(); }
  const Node& node(std::uint32_t id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }
  /// The edge of that name, or null.
  static const NameEdge* find(const Node& node, std::string_view name);

 private:
  std::uint32_t child(std::uint32_t parent, const FieldPath::Step& step);
  std::vector<Node> nodes_;
};

}  // namespace cepd::adapters
