// Prunings: of all trees that a tree can be pruned to, the cheapest of each number of leaves.
//
// A node is a leaf, or a split whose sides share out its leaves: the least cost of either for every
// number of leaves, from the leaves upwards. Nodes that are deeper than a tree of so many leaves
// can be are left out, so a large tree does not cost more than it has to.
#pragma once

#include <cstdint>
#include <vector>

#include "model/tree.hpp"

namespace maptree {

class Prunings {
 public:
  Prunings(const Tree& tree, const TreeScores& scores, std::size_t most_leaves);

  // Of the largest one, or as many as were asked for.
  [[nodiscard]] std::size_t most_leaves() const { return nodes_[0].cost.size(); }
  [[nodiscard]] Cost cost(std::size_t leaves) const { return nodes_[0].cost[leaves - 1]; }
  [[nodiscard]] Tree tree(std::size_t leaves) const;

 private:
  struct Node {
    std::vector<Cost> cost;            // by leaves - 1
    std::vector<std::uint16_t> share;  // and how many of them are on side 0
  };
  void fill(std::size_t node, std::size_t depth, const TreeScores& scores, std::size_t most_leaves);
  std::int32_t build(std::size_t node, std::size_t leaves, Tree& out) const;

  const Tree& tree_;
  std::vector<Node> nodes_;
};

}  // namespace maptree
