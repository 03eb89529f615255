#include "paper/best_first.hpp"

#include <algorithm>
#include <cassert>

namespace maptree {

BestFirst::BestFirst(const Dataset& data, const Posterior& posterior, const Bounds& bounds,
                     Expander& expander, const Options& options)
    : data_(data),
      posterior_(posterior),
      expander_(expander),
      options_(options),
      graph_(posterior.test_costs()) {
  path_.resize(2);
  expansion_.splits.reserve(data.n_columns());
  path_[0].rows = data_.all_rows();
  path_[0].key = data_.key(path_[0].rows);
  const Measure root = measure(path_[0], 0);
  // The lone leaf is a tree, so there is always one to return.
  root_ = graph_.intern(root.key, root.sums, {bounds.root_lower(), root.leaf});
  ++subproblems_;
}

// Down to a node that is not expanded, leaving its rows on the path.
void BestFirst::select() {
  OrId id = root_;
  for (std::size_t depth = 0; graph_[id].expanded; ++depth) {
    assert(!graph_[id].solved() && graph_[id].least < graph_[id].n_splits);
    const Split& split = graph_[id].splits[graph_[id].least];
    const int side = choose_side(split);
    step(depth, split.column, side);
    id = split.child[side];
  }
  selected_ = id;
}

void BestFirst::step(std::size_t depth, std::uint32_t column, int side) {
  if (path_.size() < depth + 2) path_.resize(depth + 2);
  data_.part(path_[depth].rows, column, side, path_[depth + 1].rows);
}

// The larger gap; the 1-side on ties.
int BestFirst::choose_side(const Split& split) const {
  double value[2];
  for (int side = 0; side < 2; ++side) {
    const OrNode& child = graph_[split.child[side]];
    value[side] = child.upper.nats() - child.lower.nats();  // infinite where not expanded (paper)
    // Never into what is solved already.
    if (child.solved()) value[side] = -1;
  }
  return value[0] > value[1] ? 0 : 1;
}

BestFirst::Measure BestFirst::measure(const Subset& set, std::size_t depth) {
  counts_.resize(data_.n_sums());
  const std::int64_t distinct = data_.count(set.rows, counts_);
  Measure out;
  out.key = {set.key, static_cast<std::uint32_t>(depth)};
  out.sums = RowSums::of(counts_, distinct, data_.n_classes());
  const bool varies = data_.varies(set.rows, distinct);
  out.leaf = posterior_.leaf(counts_) + (varies ? posterior_.stop(depth) : Cost(0));
  return out;
}

// Makes or finds the two children of a split. `best` are upper bounds from an expansion.
void BestFirst::attach(OrId id, std::uint32_t s, std::size_t depth, const Expansion* best) {
  const Split split = graph_[id].splits[s];
  OrId child[2];
  // One key gives the other: the children part the rows.
  data_.part(path_[depth].rows, split.column, 1, part_.rows);
  RowKey keys[2];
  keys[1] = data_.key(part_.rows);
  keys[0] = key_of_rest(graph_[id].rows, keys[1]);
  for (int side = 1; side >= 0; --side) {
    if (side == 0) data_.part(path_[depth].rows, split.column, 0, part_.rows);
    part_.key = keys[side];
    const Measure m = measure(part_, depth + 1);
    Graph::Known known{split.lower[side], m.leaf, no_column};
    if (!options_.pair_expansion) known.upper = Cost::infinity();  // as in the paper
    if (best != nullptr && best->best_upper[side] < known.upper) {
      known.upper = best->best_upper[side];
      known.below = best->best_below[side];
    }
    const std::int64_t before = graph_.n_nodes();
    child[side] = graph_.intern(m.key, m.sums, known);
    subproblems_ += graph_.n_nodes() - before;
  }
  graph_.attach(id, s, child[0], child[1]);
}

bool BestFirst::expand(Watch& watch) {
  const OrId id = selected_;
  const std::size_t depth = graph_[id].depth;
  if (!expander_.expand(path_[depth].rows, depth, graph_[id].upper, watch, expansion_))
    return false;
  graph_.open(id, expansion_);
  if (graph_[id].best != no_column)
    attach(id, graph_.find_split(id, graph_[id].best), depth, &expansion_);
  for (std::uint32_t s = 0; s < graph_[id].n_splits; ++s)
    if (!graph_[id].splits[s].attached()) attach(id, s, depth, nullptr);
  graph_.propagate();
  return true;
}

void BestFirst::read_tree(Tree& tree) { build(root_, tree); }

// The tree behind the upper bound of a node (I3 of the graph).
std::int32_t BestFirst::build(OrId id, Tree& tree) {
  const std::int32_t at = add_node(tree);
  const OrNode& node = graph_[id];
  if (node.best == no_column) return at;
  tree.feature[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(data_.original(node.best));
  for (int side = 0; side < 2; ++side) {
    const std::int32_t child =
        node.expanded ? build(node.splits[graph_.find_split(id, node.best)].child[side], tree)
                      : add_node(tree);
    (side == 0 ? tree.left : tree.right)[static_cast<std::size_t>(at)] = child;
  }
  return at;
}

}  // namespace maptree
