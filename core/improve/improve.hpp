// Improver: holds the best tree so far, and searches for a better one.
//
// Every node of the tree is a place to search for a cheaper subtree on its rows, with one unit of
// effort more than the last time (look_ahead.hpp). The root is one of them, so everything is in
// reach. The next look-ahead is for the node that has had the least work for the size of its
// subtree: small subtrees soon get far-sighted ones, large ones get their share.
//
// Work is counted in units of roughly a nanosecond. Neither clock nor chance decides anything, so
// many short calls find what one long call finds.
//
// Use: improver.offer(tree, cost); while (!improver.exhausted()) improver.improve(work, stop);
#pragma once

#include <cstdint>
#include <vector>

#include "improve/best_tree.hpp"
#include "improve/look_ahead.hpp"
#include "model/tree.hpp"
#include "scan/expand.hpp"

namespace maptree {

class Improver final : public BestTree {
 public:
  // Begins with the lone leaf. Look-aheads take `max_bytes` at most, the tree not included; no tree
  // of more than `most_nodes` is held.
  Improver(const Dataset& data, const Posterior& posterior, Expander& expander,
           std::size_t max_bytes, std::size_t most_nodes = SIZE_MAX);

  // If it is cheaper than the one held, and not too large.
  void offer(const Tree& tree, Cost cost) override;
  void improve(std::int64_t work, Watch& watch) override;

  [[nodiscard]] Cost cost() const override { return best_.cost(); }
  [[nodiscard]] Tree tree() const override;
  [[nodiscard]] std::size_t n_leaves() const override { return (best_.parts.size() + 1) / 2; }
  [[nodiscard]] bool too_large() const override { return too_large_; }
  // No tree is cheaper.
  [[nodiscard]] bool proved() const { return spots_[0].solved; }
  [[nodiscard]] bool exhausted() const override { return exhausted_; }
  [[nodiscard]] std::int64_t work() const override { return work_; }
  [[nodiscard]] std::int64_t last_gain() const override { return last_gain_; }
  [[nodiscard]] std::size_t bytes() const override;
  [[nodiscard]] std::size_t growth() const override;

 private:
  // A node of the tree held, at the same position as in best_.parts.
  struct Spot {
    std::int64_t spent = 0;
    std::uint32_t end = 0;  // its subtree goes up to here
    int effort = -1;        // of the last look-ahead
    bool solved = false;
  };

  // Takes the tree for the one held; nodes that both have keep their account.
  void hold(Subtree&& tree);
  [[nodiscard]] bool choose();
  void start();
  void conclude();
  [[nodiscard]] std::size_t tree_bytes() const;
  std::int32_t build(std::size_t& at, Tree& tree) const;

  const Dataset& data_;
  const Posterior& posterior_;
  const std::size_t most_nodes_;
  LookAhead look_ahead_;
  Subtree best_;
  std::vector<Spot> spots_;
  std::size_t spot_ = 0;   // the one that a look-ahead is for,
  bool running_ = false;   // while there is one,
  bool outdated_ = false;  // and whether the tree was replaced meanwhile
  bool exhausted_ = false;
  bool too_large_ = false;
  std::int64_t work_ = 0;
  std::int64_t last_gain_ = 0;
  std::int64_t start_work_ = 0;  // work_ when the look-ahead began, and
  std::int64_t enough_ = 0;      // when it is given up
};

}  // namespace maptree
