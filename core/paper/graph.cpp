#include "paper/graph.hpp"

#include <algorithm>
#include <cassert>

namespace maptree {

namespace {

constexpr std::uint32_t nothing = UINT32_MAX;
constexpr std::size_t first_buckets = 1024;

}  // namespace

Graph::Graph(TestCosts test_costs) : test_costs_(test_costs), buckets_(first_buckets, nothing) {}

std::size_t Graph::bytes() const {
  return node_memory_.bytes() + split_memory_.bytes() + nodes_.capacity() * sizeof(OrNode*) +
         links_.capacity() * sizeof(Link) + buckets_.capacity() * sizeof(std::uint32_t) +
         dirty_bytes_;
}

std::size_t Graph::growth(std::size_t n_splits) const {
  // A vector that is full doubles, and both copies live for a moment.
  const auto doubled = [](const auto& v, std::size_t more) {
    return v.size() + more <= v.capacity() ? 0 : 2 * (v.size() + more) * sizeof(v[0]);
  };
  const std::size_t n_new = 2 * n_splits;
  std::size_t bytes = split_memory_.growth(n_splits * sizeof(Split)) +
                      node_memory_.growth(n_new * sizeof(OrNode)) + doubled(nodes_, n_new) +
                      doubled(links_, n_new);
  if (nodes_.size() + n_new > buckets_.size()) bytes += 2 * buckets_.size() * sizeof(std::uint32_t);
  return bytes;
}

std::size_t Graph::first_bytes(std::size_t n_splits) {
  const std::size_t n_nodes = 2 * n_splits + 1;
  return Arena(sizeof(OrNode)).growth(n_nodes * sizeof(OrNode)) +
         Arena(4 * sizeof(Split)).growth(n_splits * sizeof(Split)) +
         2 * n_nodes * (sizeof(OrNode*) + sizeof(Link)) +
         2 * std::max(first_buckets, n_nodes) * sizeof(std::uint32_t);
}

OrId Graph::intern(const NodeKey& key, const RowSums& sums, const Known& known) {
  std::size_t bucket = key.rows.low & (buckets_.size() - 1);
  for (std::uint32_t n = buckets_[bucket]; n != nothing; n = nodes_[n]->next) {
    OrNode& node = *nodes_[n];
    if (!(node.key() == key)) continue;
    check_same(node.sums(), sums);
    const OrId id{n};
    // Another parent may have known more.
    if (known.lower > node.lower) {
      node.lower = std::min(known.lower, node.upper);
      mark(id);
    }
    if (known.upper < node.upper && !node.expanded) {
      node.upper = known.upper;
      node.best = known.below;
      node.upper_moved = 1;
      mark(id);
    }
    return id;
  }
  if (nodes_.size() >= buckets_.size()) {
    grow_table();
    bucket = key.rows.low & (buckets_.size() - 1);
  }
  const auto n = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(new (node_memory_.allocate(sizeof(OrNode))) OrNode{});
  OrNode& node = *nodes_[n];
  node.rows = key.rows;
  node.depth = key.depth;
  node.weight = sums.weight & ((1u << 29) - 1);
  node.digest = sums.digest;
  node.lower = std::min(known.lower, known.upper);
  node.upper = known.upper;
  node.best = known.below;
  node.next = buckets_[bucket];
  buckets_[bucket] = n;
  return OrId{n};
}

void Graph::grow_table() {
  buckets_.assign(2 * buckets_.size(), nothing);
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    std::uint32_t& bucket = buckets_[nodes_[n]->rows.low & (buckets_.size() - 1)];
    nodes_[n]->next = bucket;
    bucket = n;
  }
}

void Graph::open(OrId id, const Expansion& found) {
  OrNode& node = at(id);
  assert(!node.expanded);
  node.expanded = true;
  node.base = found.base;
  const Cost upper_before = node.upper;
  if (found.leaf <= node.upper) {
    node.upper = found.leaf;
    node.best = no_column;
  }
  // Also where it was known: now its children hold the rest.
  if (found.best != no_column && found.best_cost <= node.upper) {
    node.upper = found.best_cost;
    node.best = found.best;
  }
  node.n_splits = static_cast<std::uint32_t>(found.splits.size());
  if (node.n_splits > 0) {
    node.splits = static_cast<Split*>(split_memory_.allocate(node.n_splits * sizeof(Split)));
    Split* to = node.splits;
    for (const SplitBounds& split : found.splits) {
      new (to) Split{};
      to->column = split.column;
      to->lower[0] = split.lower[0];
      to->lower[1] = split.lower[1];
      ++to;
    }
  }
  if (node.upper != upper_before) node.upper_moved = 1;
  mark(id);
  node.lower = std::max(node.lower, find_least(node));
}

// Notes the split with the least bound, the first of equals, and returns what it allows (I2).
Cost Graph::find_least(OrNode& node) const {
  Cost least = Cost::infinity();
  for (std::uint32_t s = 0; s < node.n_splits; ++s) {
    const Cost here = total(node.splits[s]);
    if (here < least) {
      least = here;
      node.least = s;
    }
  }
  return std::min(node.upper, node.base + least);
}

void Graph::attach(OrId parent, std::uint32_t split, OrId child0, OrId child1) {
  Split& record = at(parent).splits[split];
  assert(!record.attached());
  for (int side = 0; side < 2; ++side) {
    const OrId id = side == 0 ? child0 : child1;
    OrNode& child = at(id);
    record.child[side] = id;
    links_.push_back({parent, split, child.parents});
    child.parents = static_cast<std::uint32_t>(links_.size() - 1);
    record.lower[side] = child.lower;
  }
  refresh(parent, split, Cost(0), true);
}

void Graph::mark(OrId id) {
  OrNode& node = at(id);
  if (node.dirty) return;
  node.dirty = true;
  if (dirty_.size() <= node.depth) dirty_.resize(node.depth + 1);
  std::vector<OrId>& level = dirty_[node.depth];
  dirty_bytes_ -= level.capacity() * sizeof(OrId);
  level.push_back(id);
  dirty_bytes_ += level.capacity() * sizeof(OrId);
}

// A split of this node changed: the node may have, too (I2, I3). `before` is what the split's bound
// was: only if it was a least one can the node's bound have moved, and most are not.
void Graph::refresh(OrId id, std::uint32_t split, Cost before, bool upper_moved) {
  OrNode& node = at(id);
  if (!upper_moved && node.base + before > node.lower) return;
  bool moved = false;
  if (upper_moved) {
    const Split& changed = node.splits[split];
    const Cost upper = node.base + test_costs_[changed.column] + at(changed.child[0]).upper +
                       at(changed.child[1]).upper;
    if (upper < node.upper) {
      node.upper = upper;
      node.best = changed.column;
      node.upper_moved = 1;
      moved = true;
    }
  }
  const Cost least = find_least(node);
  if (least > node.lower) {
    node.lower = least;
    moved = true;
  }
  if (moved) mark(id);
}

void Graph::propagate() {
  for (std::size_t d = dirty_.size(); d-- > 0;) {
    // Marking only reaches parents, which lie one level up: this level does not grow meanwhile.
    for (const OrId id : dirty_[d]) {
      OrNode& node = at(id);
      if (!node.dirty) continue;
      const bool upper_moved = node.upper_moved;
      node.dirty = node.upper_moved = 0;
      for (std::uint32_t l = node.parents; l != nothing; l = links_[l].next) {
        const Link link = links_[l];
        Split& split = at(link.parent).splits[link.split];
        const Cost before = total(split);
        split.lower[split.child[1] == id ? 1 : 0] = node.lower;
        refresh(link.parent, link.split, before, upper_moved);
      }
    }
    dirty_[d].clear();
  }
}

std::uint32_t Graph::find_split(OrId id, std::uint32_t column) const {
  const OrNode& node = at(id);
  for (std::uint32_t s = 0; s < node.n_splits; ++s)
    if (node.splits[s].column == column) return s;
  assert(false && "no such split");
  return nothing;
}

bool Graph::is_ok() const {
  for (const OrNode* node : nodes_) {
    if (node->lower > node->upper) return false;
    bool has_best = node->best == no_column || !node->expanded;
    for (std::uint32_t s = 0; s < node->n_splits; ++s) {
      const Split& split = node->splits[s];
      has_best = has_best || split.column == node->best;
      if (!split.attached()) continue;
      for (int side = 0; side < 2; ++side) {
        const OrNode& child = at(split.child[side]);
        if (child.depth != node->depth + 1) return false;
        if (!child.dirty && split.lower[side] != child.lower) return false;
      }
    }
    if (!has_best) return false;
  }
  return true;
}

}  // namespace maptree
