#include "model/constraints.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace maptree {

namespace {

// Up to so many leaves the depth that they allow is taken for a limit on it.
constexpr std::int64_t few_leaves = 4;

class Visit {
 public:
  Visit(const Tree& tree, const Dataset& data, const Options& options)
      : tree_(tree), data_(data), options_(options), counts_(data.n_sums()) {}

  bool operator()(std::size_t node, const RowSet& rows, std::size_t depth) {
    if (tree_.feature[node] < 0) return depth == 0 || is_heavy(rows);
    if (options_.max_depth >= 0 && depth >= static_cast<std::size_t>(options_.max_depth))
      return false;
    const std::size_t test = data_.test_of(static_cast<std::uint32_t>(tree_.feature[node]));
    if (test >= data_.n_tests() || !Dataset::may_test(use_of(test), depth)) return false;
    RowSet part;
    for (int side = 0; side < 2; ++side) {
      data_.part(rows, test, side, part);
      const std::int32_t child = side == 0 ? tree_.left[node] : tree_.right[node];
      if (!(*this)(static_cast<std::size_t>(child), part, depth + 1)) return false;
    }
    return true;
  }

 private:
  bool is_heavy(const RowSet& rows) {
    data_.count(rows, counts_);
    return std::accumulate(counts_.begin(), counts_.begin() + data_.n_classes(), std::int64_t{0}) >=
           options_.min_samples_leaf;
  }
  [[nodiscard]] Use use_of(std::size_t test) const {
    if (test < data_.n_columns()) return data_.use(test);
    const auto threshold = static_cast<std::uint32_t>(test - data_.n_columns());
    return data_.use_of_ordered(data_.ordered().column_of(threshold));
  }

  const Tree& tree_;
  const Dataset& data_;
  const Options& options_;
  std::vector<std::int64_t> counts_;
};

}  // namespace

Options checked(const Options& options, const Dataset& data) {
  if (options.max_depth < -1) throw std::invalid_argument("max_depth must be -1 or more");
  if (options.min_samples_leaf < 1)
    throw std::invalid_argument("min_samples_leaf must be at least 1");
  if (options.max_leaves == 0 || options.max_leaves < -1 ||
      options.max_leaves > most_limited_leaves)
    throw std::invalid_argument("max_leaves must be -1, or 1 to 128");
  // No tree has more leaves than there are distinct rows.
  const auto most_splits = static_cast<double>(data.n_distinct_rows());
  if (!(options.leaf_price >= 0 && options.leaf_price * most_splits <= most_paid_for_leaves))
    throw std::invalid_argument("leaf_price must be at least 0, and at most 1e8 over the rows");
  // Parts of ordered columns are told apart by their distinct rows.
  if (data.ordered().n_columns() > 0 && !data.rows_folded())
    throw std::invalid_argument("ordered columns need fold_rows");
  Options out = options;
  out.min_samples_leaf = std::min(options.min_samples_leaf, max_total_weight + 1);
  if (options.max_leaves > 0 && options.max_leaves <= few_leaves)
    out.max_depth = options.max_depth < 0 ? options.max_leaves - 1
                                          : std::min(options.max_depth, options.max_leaves - 1);
  return out;
}

bool is_considered(const Tree& tree, const Dataset& data, const Options& options) {
  return Visit(tree, data, options)(0, data.all_rows(), 0);
}

}  // namespace maptree
