// Leaf shares: how the leaves that a node may have are shared out between the sides of a split.
//
// A tree of at most k leaves that splits its root has at most s leaves on side 0 and k - s on side
// 1, for one s of 1 to k - 1. So a split is k - 1 of them, each with two children of its own, and
// what is proved of every share is proved of the split.
#pragma once

#include <cstdint>

#include "control/control.hpp"
#include "model/posterior.hpp"
#include "scan/expansion.hpp"

namespace maptree {

// Of any tree whose root is at this depth, where no leaf is deeper than the limit.
[[nodiscard]] inline std::uint64_t most_leaves(std::uint32_t limit, std::size_t depth) {
  const std::size_t levels = limit > depth ? limit - depth : 0;
  return levels < 63 ? std::uint64_t{1} << levels : UINT64_MAX;
}

// Of the side of a split of a node that may have `leaves`.
[[nodiscard]] inline std::uint32_t leaves_of_side(const Tests& split, int side,
                                                  std::uint32_t leaves) {
  if (leaves == any_leaves) return any_leaves;
  return side == 0 ? split.share : leaves - split.share;
}

// Takes every split and span apart by its shares, those that have one aside, with the bounds of
// that few leaves; without shares that cost `upper` or more. False when the watch said stop.
bool share_leaves(Expansion& found, std::uint32_t leaves, std::uint32_t limit, std::size_t depth,
                  Cost upper, TestCosts test_costs, Watch& watch);

}  // namespace maptree
