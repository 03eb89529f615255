#include "model/tree.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <stdexcept>
#include <utility>

namespace maptree {

std::int32_t add_node(Tree& tree) {
  tree.feature.push_back(-1);
  tree.left.push_back(-1);
  tree.right.push_back(-1);
  return static_cast<std::int32_t>(tree.feature.size() - 1);
}

void make_leaf(Tree& tree, std::int32_t node) {
  const auto kept = static_cast<std::size_t>(node) + 1;
  tree.feature.resize(kept);
  tree.left.resize(kept);
  tree.right.resize(kept);
  tree.feature.back() = tree.left.back() = tree.right.back() = -1;
}

namespace {

class Scorer {
 public:
  // `counts`: room for the sums of all nodes, where they are asked for.
  Scorer(const Tree& tree, const Dataset& data, const Posterior& posterior,
         std::span<std::int64_t> counts = {})
      : tree_(tree),
        data_(data),
        posterior_(posterior),
        n_sums_(data.n_sums()),
        wanted_(counts),
        counts_(n_sums_) {
    scores_.subtree.resize(tree.feature.size());
    scores_.as_leaf.resize(tree.feature.size());
  }

  TreeScores all() {
    visit(0, data_.all_rows(), data_.all_columns(), 0);
    return std::move(scores_);
  }

 private:
  // `columns`: those that vary on the parent's rows.
  Cost visit(std::size_t node, const RowSet& rows, std::vector<std::uint32_t> columns,
             std::size_t depth) {
    const std::int64_t distinct = data_.count(rows, counts_);
    if (!wanted_.empty())
      std::copy(counts_.begin(), counts_.end(), wanted_.begin() + offset(node * n_sums_));
    scores_.as_leaf[node] = posterior_.leaf(counts_) +
                            (data_.varies(rows, distinct) ? posterior_.stop(depth) : Cost(0));
    if (tree_.feature[node] < 0) return scores_.subtree[node] = scores_.as_leaf[node];

    const std::size_t test = data_.test_of(static_cast<std::uint32_t>(tree_.feature[node]));
    if (test >= data_.n_tests()) throw std::logic_error("a tree tests a column that is not there");
    const std::int64_t varying = data_.varying_weight(rows, columns);  // W
    Cost cost =
        posterior_.split(depth) + posterior_.log_weight(varying) + posterior_.test_costs()[test];
    RowSet part;
    for (int side = 0; side < 2; ++side) {
      data_.part(rows, test, side, part);
      const std::int32_t child = side == 0 ? tree_.left[node] : tree_.right[node];
      cost += visit(static_cast<std::size_t>(child), part, columns, depth + 1);
    }
    return scores_.subtree[node] = cost;
  }

  [[nodiscard]] static std::ptrdiff_t offset(std::size_t at) {
    return static_cast<std::ptrdiff_t>(at);
  }

  const Tree& tree_;
  const Dataset& data_;
  const Posterior& posterior_;
  const std::size_t n_sums_;
  const std::span<std::int64_t> wanted_;
  std::vector<std::int64_t> counts_;  // of the node at hand
  TreeScores scores_;
};

}  // namespace

TreeScores score(const Tree& tree, const Dataset& data, const Posterior& posterior) {
  return Scorer(tree, data, posterior).all();
}

std::int64_t scoring_work(const Dataset& data, std::size_t n_nodes) {
  // Of a column some words are read, until it is seen to vary; of an ordered one, a rank a row and
  // level of the tree, and so of amounts.
  constexpr std::size_t per_count = 12, words_read = 128;
  const std::size_t per_node =
      per_count * data.n_sums() + data.n_columns() * std::min(data.n_words(), words_read);
  const std::size_t read = data.ordered().n_columns() + (data.has_amounts() ? 8 : 0);
  const std::size_t per_level = read * data.n_words() * word_bits;
  return static_cast<std::int64_t>(n_nodes * per_node +
                                   static_cast<std::size_t>(std::bit_width(n_nodes)) * per_level);
}

TreeScores score_and_count(Tree& tree, const Dataset& data, const Posterior& posterior) {
  tree.counts.resize(tree.feature.size() * data.n_sums());
  return Scorer(tree, data, posterior, tree.counts).all();
}

}  // namespace maptree
