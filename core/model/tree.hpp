// Tree: a decision tree as flat arrays, in preorder, and its cost.
#pragma once

#include <cstdint>
#include <vector>

#include "model/posterior.hpp"

namespace maptree {

struct Tree {
  std::vector<std::int32_t> feature;  // the caller's column, -1 at a leaf
  std::vector<std::int32_t> left;     // child where the column is 0, -1 at a leaf
  std::vector<std::int32_t> right;    // child where the column is 1, -1 at a leaf
  // The sums of an outcome (class counts), node by node; empty while a search goes on: with many
  // classes and many nodes they take more memory than all else.
  std::vector<std::int64_t> counts;
};

// Builds a tree top down: add_node in preorder, then set the children of inner nodes.
std::int32_t add_node(Tree& tree);
// Drops all that was added after a node, which becomes a leaf.
void make_leaf(Tree& tree, std::int32_t node);

// Costs of a tree, node by node, straight from the definition: shares nothing with the search but
// the tables.
struct TreeScores {
  std::vector<Cost> subtree;  // of the tree below each node; the first is the tree's cost
  std::vector<Cost> as_leaf;  // were the node a leaf
};

[[nodiscard]] TreeScores score(const Tree& tree, const Dataset& data, const Posterior& posterior);
// The same, and fills in its counts.
[[nodiscard]] TreeScores score_and_count(Tree& tree, const Dataset& data,
                                         const Posterior& posterior);
// About how much work either is, for a tree of this many nodes.
[[nodiscard]] std::int64_t scoring_work(const Dataset& data, std::size_t n_nodes);

}  // namespace maptree
