// BestTree: what a search asks of those who look for trees. They hold the best one that is known.
#pragma once

#include <cstddef>
#include <cstdint>

#include "control/control.hpp"
#include "model/tree.hpp"

namespace maptree {

class BestTree {
 public:
  virtual ~BestTree() = default;
  BestTree() = default;
  BestTree(const BestTree&) = delete;
  BestTree& operator=(const BestTree&) = delete;

  // Takes a tree from elsewhere, and its cost, if it is of use.
  virtual void offer(const Tree& tree, Cost cost) = 0;
  // Does about this much work; less where it is exhausted or the watch says stop.
  virtual void improve(std::int64_t work, Watch& watch) = 0;

  [[nodiscard]] virtual Cost cost() const = 0;
  [[nodiscard]] virtual Tree tree() const = 0;
  [[nodiscard]] virtual std::size_t n_leaves() const = 0;
  // No cheaper tree is known that the search may not return.
  [[nodiscard]] virtual bool is_cheapest_known() const { return true; }
  // A cheaper tree was found that is too large for the memory.
  [[nodiscard]] virtual bool too_large() const = 0;
  // Nothing is left to try.
  [[nodiscard]] virtual bool exhausted() const = 0;
  [[nodiscard]] virtual std::int64_t work() const = 0;       // done so far,
  [[nodiscard]] virtual std::int64_t last_gain() const = 0;  // until the last better tree
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  // The most that bytes() could still grow by, the tree's growth to twice its size included.
  [[nodiscard]] virtual std::size_t growth() const = 0;
};

}  // namespace maptree
