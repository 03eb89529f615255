#include "improve/prunings.hpp"

#include <algorithm>

namespace maptree {

Prunings::Prunings(const Tree& tree, const TreeScores& scores, std::size_t most_leaves)
    : tree_(tree), nodes_(tree.feature.size()) {
  fill(0, 0, scores, most_leaves);
}

// Not deeper than there are leaves to be had.
void Prunings::fill(std::size_t at, std::size_t depth, const TreeScores& scores,
                    std::size_t most_leaves) {
  Node& node = nodes_[at];
  node.cost = {scores.as_leaf[at]};
  node.share = {0};
  if (tree_.feature[at] < 0 || depth + 1 >= most_leaves) return;
  const std::size_t child[] = {static_cast<std::size_t>(tree_.left[at]),
                               static_cast<std::size_t>(tree_.right[at])};
  for (const std::size_t c : child) fill(c, depth + 1, scores, most_leaves);
  const std::vector<Cost>&zero = nodes_[child[0]].cost, &one = nodes_[child[1]].cost;
  const Cost split = scores.subtree[at] - scores.subtree[child[0]] - scores.subtree[child[1]];
  const std::size_t most = std::min(most_leaves - depth, zero.size() + one.size());
  node.cost.resize(most, Cost::infinity());
  node.share.resize(most, 0);
  for (std::size_t i = 0; i < zero.size(); ++i)
    for (std::size_t j = 0; j < one.size() && i + j + 1 < most; ++j) {
      const Cost cost = split + zero[i] + one[j];
      if (cost >= node.cost[i + j + 1]) continue;
      node.cost[i + j + 1] = cost;
      node.share[i + j + 1] = static_cast<std::uint16_t>(i + 1);
    }
}

Tree Prunings::tree(std::size_t leaves) const {
  Tree out;
  build(0, leaves, out);
  return out;
}

std::int32_t Prunings::build(std::size_t at, std::size_t leaves, Tree& out) const {
  const std::int32_t made = add_node(out);
  if (leaves == 1) return made;
  const std::size_t share = nodes_[at].share[leaves - 1];
  const auto i = static_cast<std::size_t>(made);
  out.feature[i] = tree_.feature[at];
  const std::int32_t zero = build(static_cast<std::size_t>(tree_.left[at]), share, out);
  out.left[i] = zero;
  const std::int32_t one = build(static_cast<std::size_t>(tree_.right[at]), leaves - share, out);
  out.right[i] = one;
  return made;
}

}  // namespace maptree
