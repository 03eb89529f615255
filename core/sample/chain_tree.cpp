#include "sample/chain_tree.hpp"

#include <cassert>
#include <stdexcept>
#include <string>
#include <utility>

namespace maptree {

namespace {

constexpr ChainTree::Id root{0};

}  // namespace

ChainTree::ChainTree(const Dataset& data, const Posterior& posterior)
    : data_(&data), posterior_(&posterior) {
  assert(data.rows_folded());
  Node& node = nodes_.emplace_back();
  node.rows = data.all_rows();
  node.counts.resize(static_cast<std::size_t>(data.n_classes()));
  node.divisible = data.count(node.rows, node.counts) > 1;
  node.likelihood = posterior.leaf(node.counts);
  cost_ = node.own = as_leaf(node);
  node.varying = all_columns(data);
  node.varying_weight = weight_of(data, node.varying);
  list();
}

ChainTree::ChainTree(const Dataset& data, const Posterior& posterior, const Tree& tree)
    : ChainTree(data, posterior) {
  read(tree);
  list();
  assert(is_ok());
}

void ChainTree::read(const Tree& tree) {
  const std::size_t n = tree.feature.size();
  if (n == 0 || tree.left.size() != n || tree.right.size() != n)
    throw std::invalid_argument("the initial tree needs one entry a node in feature, left, right");
  std::vector<std::int32_t> column_of(data_->n_features(), leaf_column);
  for (std::size_t c = 0; c < data_->n_columns(); ++c)
    column_of[data_->original(c)] = static_cast<std::int32_t>(c);
  const auto name = [](std::size_t node) { return "node " + std::to_string(node); };

  Watch never;
  std::vector<std::pair<std::size_t, Id>> open = {{0, root}};
  std::size_t n_seen = 0;
  std::vector<bool> seen(n, false);
  while (!open.empty()) {
    const auto [t, id] = open.back();
    open.pop_back();
    if (seen[t]) throw std::invalid_argument("the initial tree has two parents for " + name(t));
    seen[t] = true;
    ++n_seen;
    const std::int32_t feature = tree.feature[t];
    if (feature < 0) continue;
    if (static_cast<std::size_t>(feature) >= column_of.size())
      throw std::invalid_argument("the initial tree tests column " + std::to_string(feature) +
                                  " at " + name(t) + ", and there are " +
                                  std::to_string(column_of.size()) + " columns");
    const std::int32_t column = column_of[static_cast<std::size_t>(feature)];
    Edit edit;
    if (column == leaf_column || varying_weight(id, never) == 0 ||
        !grow(edit, id, column, Cost::infinity(), never))
      throw std::invalid_argument(
          "the initial tree tests column " + std::to_string(feature) + " at " + name(t) +
          ", where it is the same in all rows: prune that split, or start from another tree");
    commit(edit);
    if (!cost_.finite())
      throw std::invalid_argument(
          "the initial tree is so improbable under this prior that its log posterior cannot be "
          "computed: start from a smaller tree, or pass a smaller beta");
    const std::int32_t child[] = {tree.left[t], tree.right[t]};
    for (int side = 0; side < 2; ++side) {
      // A child after its parent: so nothing is met twice on a path.
      if (child[side] <= static_cast<std::int32_t>(t) || static_cast<std::size_t>(child[side]) >= n)
        throw std::invalid_argument("the initial tree has a child out of place at " + name(t));
      open.emplace_back(child[side], at(id).child[side]);
    }
  }
  if (n_seen != n) throw std::invalid_argument("the initial tree has nodes out of reach");
}

std::int64_t ChainTree::varying_weight(Id id, Watch& watch) {
  Node& node = at(id);
  if (node.varying_weight < 0)
    node.varying_weight =
        find_varying(*data_, node.rows, at(node.parent).varying, node.varying, watch);
  return node.varying_weight;
}

Cost ChainTree::as_leaf(const Node& node) const {
  return node.likelihood + (node.divisible ? posterior_->stop(node.depth) : Cost(0));
}

Cost ChainTree::as_inner(const Node& node, std::int32_t column) const {
  return posterior_->split(node.depth) + test_cost(node, column);
}

Cost ChainTree::test_cost(const Node& node, std::int32_t column) const {
  return posterior_->log_weight(node.varying_weight) +
         posterior_->test_costs()[static_cast<std::size_t>(column)];
}

bool ChainTree::make_side(Id id, Id parent, std::int32_t column, int side, Watch& watch) {
  Node& node = at(id);
  const Node& above = at(parent);
  if (watch.poll(static_cast<std::int64_t>(2 * above.rows.n_stored() + above.counts.size())))
    return false;
  node.parent = parent;
  node.child[0] = node.child[1] = Id::none;
  node.column = leaf_column;
  node.depth = above.depth + 1;
  node.varying_weight = -1;
  node.rows.assign_side(above.rows, data_->column(static_cast<std::size_t>(column)), side);
  node.counts.resize(above.counts.size());
  const std::int64_t n_distinct = data_->count(node.rows, node.counts);
  if (n_distinct == 0) return false;
  node.divisible = n_distinct > 1;
  node.likelihood = posterior_->leaf(node.counts);
  node.own = as_leaf(node);
  return true;
}

bool ChainTree::grow(Edit& edit, Id leaf, std::int32_t column, Cost limit, Watch& watch) {
  edit = {leaf, column, {take(), take()}, cost_};
  const Node& node = at(leaf);
  assert(node.varying_weight > 0);
  edit.cost += as_inner(node, column) - node.own;
  for (int side = 0; side < 2; ++side) {
    if (edit.cost > limit || !make_side(edit.child[side], leaf, column, side, watch)) {
      drop(edit);
      return false;
    }
    edit.cost += at(edit.child[side]).own;
  }
  if (edit.cost <= limit) return true;
  drop(edit);
  return false;
}

bool ChainTree::prune(Edit& edit, Id inner, Cost limit) {
  const Node& node = at(inner);
  edit = {inner, leaf_column, {Id::none, Id::none}, cost_};
  edit.cost += as_leaf(node) - node.own - at(node.child[0]).own - at(node.child[1]).own;
  return edit.cost <= limit;
}

bool ChainTree::change(Edit& edit, Id inner, std::int32_t column, std::int32_t replaced, Cost limit,
                       Watch& watch) {
  edit = {inner, column, {take(), take()}, cost_ - sum_below(inner)};
  edit.cost += as_inner(at(inner), column) - at(inner).own;
  if (copy_below(edit, replaced, limit, watch) && add_varying(edit, limit, watch)) return true;
  drop(edit);
  return false;
}

// Copies of the subtrees below a node for what are now its rows. Adds up what their nodes pay, but
// for their tests: which columns vary takes longest to find.
bool ChainTree::copy_below(Edit& edit, std::int32_t replaced, Cost limit, Watch& watch) {
  copies_.clear();
  for (const int side : {1, 0}) {
    const Id like = at(edit.at).child[side];
    std::int32_t rule = at(like).column;
    if (rule != leaf_column && rule == replaced) rule = at(edit.at).column;
    copies_.push_back({edit.child[side], like, rule, edit.at, edit.column, side});
  }
  while (!copies_.empty()) {
    const Copy copy = copies_.back();
    copies_.pop_back();
    if (!make_side(copy.id, copy.parent, copy.column, copy.side, watch)) return false;
    Node& node = at(copy.id);
    const bool is_inner = copy.rule != leaf_column;
    if (is_inner && !node.divisible) return false;
    edit.cost += is_inner ? posterior_->split(node.depth) : node.own;
    if (edit.cost > limit) return false;
    if (!is_inner) continue;
    node.column = copy.rule;
    for (const int side : {1, 0}) {
      const Id like = at(copy.like).child[side];
      node.child[side] = take();
      copies_.push_back({node.child[side], like, at(like).column, copy.id, copy.rule, side});
    }
  }
  return true;
}

// The rest of what the inner nodes pay.
bool ChainTree::add_varying(Edit& edit, Cost limit, Watch& watch) {
  open_.assign({edit.child[1], edit.child[0]});
  while (!open_.empty()) {
    const Id id = open_.back();
    open_.pop_back();
    if (is_leaf(id)) continue;
    if (varying_weight(id, watch) < 0) return false;
    Node& node = at(id);
    node.own = as_inner(node, node.column);
    edit.cost += test_cost(node, node.column);
    if (edit.cost > limit) return false;
    open_.insert(open_.end(), {node.child[1], node.child[0]});
  }
  return true;
}

void ChainTree::commit(const Edit& edit) {
  give_back_below(edit.at);
  Node& node = at(edit.at);
  node.column = edit.column;
  for (int side = 0; side < 2; ++side) node.child[side] = edit.child[side];
  node.own = edit.column == leaf_column ? as_leaf(node) : as_inner(node, node.column);
  cost_ = edit.cost;
  list();
}

void ChainTree::drop(const Edit& edit) {
  for (const Id child : edit.child)
    if (child != Id::none) give_back(child);
}

ChainTree::Id ChainTree::take() {
  if (free_.empty()) {
    nodes_.emplace_back();
    return Id{static_cast<std::uint32_t>(nodes_.size() - 1)};
  }
  const Id id = free_.back();
  free_.pop_back();
  // A subtree that was given up half-way has nodes that were never filled in.
  Node& node = at(id);
  node.child[0] = node.child[1] = Id::none;
  node.column = leaf_column;
  return id;
}

void ChainTree::give_back(Id id) {
  give_back_below(id);
  free_.push_back(id);
}

void ChainTree::give_back_below(Id id) {
  open_.assign(1, id);
  while (!open_.empty()) {
    Node& node = at(open_.back());
    open_.pop_back();
    for (Id& child : node.child) {
      if (child == Id::none) continue;
      open_.push_back(child);
      free_.push_back(std::exchange(child, Id::none));
    }
  }
}

Cost ChainTree::sum_below(Id id) {
  Cost sum;
  open_.assign(1, id);
  while (!open_.empty()) {
    const Node& node = at(open_.back());
    open_.pop_back();
    for (const Id child : node.child) {
      if (child == Id::none) continue;
      sum += at(child).own;
      open_.push_back(child);
    }
  }
  return sum;
}

void ChainTree::list() {
  growable_.clear();
  prunable_.clear();
  inner_.clear();
  lower_.clear();
  open_.assign(1, root);
  while (!open_.empty()) {
    const Id id = open_.back();
    open_.pop_back();
    const Node& node = at(id);
    if (node.column == leaf_column) {
      if (node.divisible) growable_.push_back(id);
      continue;
    }
    inner_.push_back(id);
    if (id != root) lower_.push_back(id);
    if (is_leaf(node.child[0]) && is_leaf(node.child[1])) prunable_.push_back(id);
    open_.insert(open_.end(), {node.child[1], node.child[0]});
  }
}

void ChainTree::write(std::vector<std::int32_t>& feature, std::vector<std::int64_t>& counts) const {
  feature.clear();
  counts.clear();
  std::vector<Id> open = {root};
  while (!open.empty()) {
    const Node& node = at(open.back());
    open.pop_back();
    counts.insert(counts.end(), node.counts.begin(), node.counts.end());
    if (node.column == leaf_column) {
      feature.push_back(-1);
      continue;
    }
    feature.push_back(
        static_cast<std::int32_t>(data_->original(static_cast<std::size_t>(node.column))));
    open.push_back(node.child[1]);
    open.push_back(node.child[0]);
  }
}

std::size_t ChainTree::bytes() const {
  const std::size_t node = sizeof(Node) + data_->n_words() * sizeof(Word) +
                           at(root).counts.size() * sizeof(std::int64_t) +
                           at(root).varying.size() * sizeof(Word);
  return nodes_.size() * node;
}

bool ChainTree::is_ok() const {
  Cost sum;
  bool ok = true;
  std::vector<Id> open = {root};
  std::size_t n = 0;
  while (!open.empty()) {
    const Id id = open.back();
    const Node& node = at(id);
    open.pop_back();
    ++n;
    sum += node.own;
    if (node.column == leaf_column) {
      ok = ok && node.own == as_leaf(node) && node.child[0] == Id::none;
      continue;
    }
    ok = ok && node.varying_weight > 0 && node.own == as_inner(node, node.column);
    for (const Id child : node.child) {
      ok = ok && child != Id::none && at(child).parent == id && at(child).depth == node.depth + 1;
      if (!ok) return false;
      open.push_back(child);
    }
    for (std::size_t k = 0; k < node.counts.size(); ++k)
      ok = ok && node.counts[k] == at(node.child[0]).counts[k] + at(node.child[1]).counts[k];
  }
  return ok && sum == cost_ && n + free_.size() == nodes_.size();
}

}  // namespace maptree
