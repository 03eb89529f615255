#include "improve/incumbent.hpp"

#include <utility>

namespace maptree {

namespace {

// Levels to grow on without a gain. Noise can be split to the last row and never pays; splits that
// pay together only are for the look-ahead to find.
constexpr int patience = 2;

}  // namespace

Cost Incumbent::grow(Watch& watch, Tree& tree, Control* control) {
  control_ = control;
  return grow_node(data_.all_rows(), 0, patience, watch, tree);
}

void Incumbent::owe(const Tree& tree) {
  if (control_ == nullptr) return;
  const std::int64_t work = 2 * scoring_work(data_, tree.feature.size());
  control_->owe(work - std::exchange(owed_, work));
}

Cost Incumbent::grow_node(const RowSet& rows, std::size_t depth, int hope, Watch& watch,
                          Tree& tree) {
  std::vector<std::int64_t> counts(data_.n_sums());
  const std::int64_t distinct = data_.count(rows, counts);
  const std::int32_t at = add_node(tree);
  owe(tree);
  const bool varies = data_.varies(rows, distinct);
  const Cost leaf = posterior_.leaf(counts) + (varies ? posterior_.stop(depth) : Cost(0));
  const bool may_split =
      varies && tree.feature.size() + 2 <= most_nodes_ &&
      (options_.max_depth < 0 || depth < static_cast<std::size_t>(options_.max_depth));
  const auto work = static_cast<std::int64_t>(data_.n_columns()) * (distinct / 32 + 16);
  if (!may_split) return leaf;
  watch.count(work);
  Cost base, leaves;  // of all splits of the node; of the best one, with its test
  std::uint32_t column = no_column;
  if (data_.ordered().n_columns() > 0) {
    PartBounds found;
    if (!expander_.look(rows, depth, watch, found)) return leaf;
    base = posterior_.split(depth) + posterior_.log_weight(found.varying);
    if (found.best != no_test) {
      leaves = posterior_.test_costs()[found.best] + found.leaves[0] + found.leaves[1];
      if (found.lower < leaf) column = found.best;
    }
  } else {
    if (!view_.load(rows, watch)) return leaf;
    base = posterior_.split(depth) + posterior_.log_weight(view_.varying());
    column = choose(depth, base, leaf, watch, leaves);
  }
  hope = base + leaves < leaf ? patience : hope - 1;
  if (column == no_column || hope < 0) return leaf;

  Cost cost = base + posterior_.test_costs()[column];
  RowSet part;
  for (int side = 0; side < 2; ++side) {
    data_.part(rows, column, side, part);
    const auto child = static_cast<std::int32_t>(tree.feature.size());
    cost += grow_node(part, depth + 1, hope, watch, tree);
    (side == 0 ? tree.left : tree.right)[static_cast<std::size_t>(at)] = child;
  }
  if (cost < leaf) {
    tree.feature[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(data_.original(column));
    return cost;
  }
  make_leaf(tree, at);
  owe(tree);
  return leaf;
}

std::uint32_t Incumbent::choose(std::size_t depth, Cost base, Cost leaf, Watch& watch,
                                Cost& leaves) {
  const auto work = static_cast<std::int64_t>(20 * view_.total().classes.size() + 40);
  std::uint32_t best = no_column;
  Cost least = Cost::infinity();
  for (std::size_t c = 0; c < view_.columns().size(); ++c) {
    if (watch.stop(work)) return no_column;
    Cost likelihood = posterior_.test_costs()[view_.columns()[c].dataset];
    Cost bound = base + likelihood;
    bool valid = Dataset::may_test(data_.use(view_.columns()[c].dataset), depth);
    for (int side = 0; side < 2; ++side) {
      view_.count_side(c, side, counts_);
      const Bracket bracket = bounds_.bracket(counts_, depth + 1);
      valid = valid && counts_.weight >= options_.min_samples_leaf;
      likelihood += bracket.upper;
      bound += bracket.lower;
    }
    if (!valid || bound >= leaf || likelihood >= least) continue;
    least = likelihood;
    best = view_.columns()[c].dataset;
  }
  leaves = least;
  return best;
}

}  // namespace maptree
