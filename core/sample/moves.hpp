// Moves: the proposals of Chipman, George and McCulloch (1998), as a Metropolis-Hastings step.
//
//   grow    a growable leaf, each equally likely, and a column of its V, by weight, become a split
//   prune   a prunable node, each equally likely, becomes a leaf
//   change  an inner node and a column of its V, by weight: the node tests that column instead
//   swap    an inner node and its inner parent change columns; where both children of the parent
//           test the same column, both get the parent's
//
// A proposal T' is accepted with probability min(1, P(T') q(T', T) / (P(T) q(T, T'))). Grow and
// prune undo each other; change and swap undo themselves, for what they choose among (nodes, and V
// at a node whose rows stay) is the same before and after: q of swap is symmetric, and that of
// change differs by the weights of the two columns.
//
// What is drawn comes through `Choices` (below(n): one of n; exponential(): what is accepted), so
// that a test can take every way instead of one.
#pragma once

#include <cmath>
#include <cstdint>

#include "sample/chain_tree.hpp"

namespace maptree {

enum class Move { grow, prune, change, swap };
inline constexpr std::size_t n_moves = 4;  // each equally likely

// An edit of the tree, or nothing.
struct Proposal {
  ChainTree::Id at = ChainTree::Id::none;  // none: impossible
  std::int32_t column = ChainTree::leaf_column;
  std::int32_t replaced = ChainTree::leaf_column;  // of its children; swap only
  double log_ratio = 0;                            // log q(T', T) / q(T, T')
};

template <class Choices>
Proposal propose(Move move, ChainTree& tree, Choices& choices, Watch& watch) {
  using Id = ChainTree::Id;
  const auto one_of = [&](const std::vector<Id>& ids) {
    return ids.empty() ? Id::none : ids[choices.below(ids.size())];
  };
  const auto count = [](const std::vector<Id>& ids) { return static_cast<double>(ids.size()); };
  // One over the probability that a column is drawn at a node: |V| where all weights are 1.
  const auto rarity = [&](Id id, std::int32_t column) {
    return static_cast<double>(tree.varying_weight(id, watch)) /
           static_cast<double>(tree.test_weight(column));
  };
  Proposal proposal;
  switch (move) {
    case Move::grow: {
      const Id leaf = one_of(tree.growable());
      if (leaf == Id::none) break;
      const std::int64_t weight = tree.varying_weight(leaf, watch);
      if (weight < 0) break;
      proposal.at = leaf;
      proposal.column = tree.varying_column(leaf, choices.below(static_cast<std::size_t>(weight)));
      // The leaf becomes prunable, and its parent ceases to be where it was.
      const Id parent = tree.parent(leaf);
      const bool was_prunable = parent != Id::none && tree.is_leaf(tree.child(parent, 0)) &&
                                tree.is_leaf(tree.child(parent, 1));
      const double n_prunable = count(tree.prunable()) + (was_prunable ? 0 : 1);
      proposal.log_ratio =
          std::log(count(tree.growable()) * rarity(leaf, proposal.column) / n_prunable);
      break;
    }
    case Move::prune: {
      proposal.at = one_of(tree.prunable());
      if (proposal.at == Id::none) break;
      double n_growable = count(tree.growable()) + 1;
      for (int side = 0; side < 2; ++side)
        if (tree.is_growable(tree.child(proposal.at, side))) n_growable -= 1;
      proposal.log_ratio = std::log(count(tree.prunable()) /
                                    (n_growable * rarity(proposal.at, tree.column(proposal.at))));
      break;
    }
    case Move::change: {
      proposal.at = one_of(tree.inner());
      if (proposal.at == Id::none) break;
      const auto weight = static_cast<std::size_t>(tree.varying_weight(proposal.at, watch));
      proposal.column = tree.varying_column(proposal.at, choices.below(weight));
      const std::int32_t column = tree.column(proposal.at);
      if (tree.test_weight(column) != tree.test_weight(proposal.column))
        proposal.log_ratio = std::log(static_cast<double>(tree.test_weight(column)) /
                                      static_cast<double>(tree.test_weight(proposal.column)));
      break;
    }
    case Move::swap: {
      const Id child = one_of(tree.lower());
      if (child == Id::none) break;
      proposal.at = tree.parent(child);
      proposal.column = proposal.replaced = tree.column(child);
      break;
    }
  }
  return proposal;
}

// Builds what is proposed, if it costs no more than the limit.
inline bool build(const Proposal& proposal, Move move, ChainTree& tree, ChainTree::Edit& edit,
                  Cost limit, Watch& watch) {
  switch (move) {
    case Move::grow:
      return tree.grow(edit, proposal.at, proposal.column, limit, watch);
    case Move::prune:
      return tree.prune(edit, proposal.at, limit);
    case Move::change:
    case Move::swap:
      return tree.change(edit, proposal.at, proposal.column, proposal.replaced, limit, watch);
  }
  return false;
}

// One step with a given move; true where it was accepted. The choice that decides comes before the
// proposal is built: most are given up as soon as a part of them costs too much.
template <class Choices>
bool step(Move move, ChainTree& tree, Choices& choices, Watch& watch) {
  const Proposal proposal = propose(move, tree, choices, watch);
  if (proposal.at == ChainTree::Id::none) return false;
  if (move == Move::change && proposal.column == tree.column(proposal.at)) return true;
  const Cost limit = tree.cost() + Cost::nearest(choices.exponential() + proposal.log_ratio);
  ChainTree::Edit edit;
  if (!build(proposal, move, tree, edit, limit, watch)) return false;
  tree.commit(edit);
  return true;
}

}  // namespace maptree
