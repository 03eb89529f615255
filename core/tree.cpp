#include "tree.hpp"

#include <algorithm>
#include <stdexcept>

namespace maptree {

std::int32_t add_node(Tree& tree, const std::vector<std::int64_t>& counts) {
  tree.feature.push_back(-1);
  tree.left.push_back(-1);
  tree.right.push_back(-1);
  tree.counts.insert(tree.counts.end(), counts.begin(), counts.end());
  return static_cast<std::int32_t>(tree.feature.size() - 1);
}

namespace {

Cost score_node(const Tree& tree, std::size_t node, const RowSet& rows, std::size_t depth,
                const Dataset& data, const Posterior& posterior) {
  const std::int64_t varying = data.varying_columns(rows);
  if (tree.feature[node] < 0) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(data.n_classes()));
    data.count(rows, counts);
    return posterior.leaf(counts) + (varying > 0 ? posterior.stop(depth) : Cost(0));
  }
  std::size_t column = 0;
  while (column < data.n_columns() &&
         static_cast<std::int32_t>(data.original(column)) != tree.feature[node])
    ++column;
  if (column == data.n_columns()) throw std::logic_error("a tree tests a column that is not there");
  Cost cost = posterior.split(depth) + posterior.log_columns(varying);
  RowSet part;
  for (int side = 0; side < 2; ++side) {
    part.assign_side(rows, data.column(column), side);
    const std::int32_t child = side == 0 ? tree.left[node] : tree.right[node];
    cost += score_node(tree, static_cast<std::size_t>(child), part, depth + 1, data, posterior);
  }
  return cost;
}

}  // namespace

Cost score(const Tree& tree, const Dataset& data, const Posterior& posterior) {
  return score_node(tree, 0, data.all_rows(), 0, data, posterior);
}

}  // namespace maptree
