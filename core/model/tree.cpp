#include "model/tree.hpp"

#include <stdexcept>
#include <utility>

namespace maptree {

std::int32_t add_node(Tree& tree, const std::vector<std::int64_t>& counts) {
  tree.feature.push_back(-1);
  tree.left.push_back(-1);
  tree.right.push_back(-1);
  tree.counts.insert(tree.counts.end(), counts.begin(), counts.end());
  return static_cast<std::int32_t>(tree.feature.size() - 1);
}

void make_leaf(Tree& tree, std::int32_t node) {
  const auto kept = static_cast<std::size_t>(node) + 1;
  const std::size_t n_classes = tree.counts.size() / tree.feature.size();
  tree.feature.resize(kept);
  tree.left.resize(kept);
  tree.right.resize(kept);
  tree.counts.resize(kept * n_classes);
  tree.feature.back() = tree.left.back() = tree.right.back() = -1;
}

namespace {

class Scorer {
 public:
  Scorer(const Tree& tree, const Dataset& data, const Posterior& posterior)
      : tree_(tree), data_(data), posterior_(posterior) {
    scores_.subtree.resize(tree.feature.size());
    scores_.as_leaf.resize(tree.feature.size());
  }

  Cost visit(std::size_t node, const RowSet& rows, std::size_t depth) {
    const std::int64_t varying = data_.varying_columns(rows);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(data_.n_classes()));
    data_.count(rows, counts);
    scores_.as_leaf[node] =
        posterior_.leaf(counts) + (varying > 0 ? posterior_.stop(depth) : Cost(0));
    if (tree_.feature[node] < 0) return scores_.subtree[node] = scores_.as_leaf[node];

    Cost cost = posterior_.split(depth) + posterior_.log_columns(varying);
    const Word* column = data_.column(column_of(tree_.feature[node]));
    RowSet part;
    for (int side = 0; side < 2; ++side) {
      part.assign_side(rows, column, side);
      const std::int32_t child = side == 0 ? tree_.left[node] : tree_.right[node];
      cost += visit(static_cast<std::size_t>(child), part, depth + 1);
    }
    return scores_.subtree[node] = cost;
  }

  TreeScores take() { return std::move(scores_); }

 private:
  [[nodiscard]] std::size_t column_of(std::int32_t feature) const {
    for (std::size_t c = 0; c < data_.n_columns(); ++c)
      if (static_cast<std::int32_t>(data_.original(c)) == feature) return c;
    throw std::logic_error("a tree tests a column that is not there");
  }

  const Tree& tree_;
  const Dataset& data_;
  const Posterior& posterior_;
  TreeScores scores_;
};

}  // namespace

TreeScores score(const Tree& tree, const Dataset& data, const Posterior& posterior) {
  Scorer scorer(tree, data, posterior);
  scorer.visit(0, data.all_rows(), 0);
  return scorer.take();
}

}  // namespace maptree
