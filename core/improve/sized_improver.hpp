// SizedImprover: searches for the best tree of at most so many leaves.
//
// Look-aheads know nothing of a limit on leaves: what one side of a split may spend depends on the
// other. A price of leaves, which every split pays, leaves the sides independent, and the cheapest
// tree under a price is the cheapest of its own size. So an Improver works under some price, and of
// every tree that it finds all prunings are looked at: the best one of each size is kept, up to
// twice the size that is asked for. These tell the next price: where the sizes on both sides of the
// one asked for cost the same, or where it is the cheapest of all (docs/design/sizes.md).
//
// Work is counted; neither clock nor chance decides anything.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "control/options.hpp"
#include "improve/best_tree.hpp"
#include "improve/improve.hpp"
#include "model/bounds.hpp"

namespace maptree {

class SizedImprover final : public BestTree {
 public:
  // Whether trees of fewer leaves are sought for their own sake.
  enum class Aim { best, every_size };
  // Look-aheads take `max_bytes` at most. Begins with the lone leaf.
  SizedImprover(const Dataset& data, const Posterior& posterior, const Options& options,
                std::size_t most_leaves, std::size_t max_bytes, Aim aim = Aim::best);
  // Of the memory that its own expander and tables take.
  [[nodiscard]] static std::size_t bytes_for(const Dataset& data, const Options& options);

  // Any tree is of use, by its prunings.
  void offer(const Tree& tree, Cost cost) override;
  void improve(std::int64_t work, Watch& watch) override;

  [[nodiscard]] Cost cost() const override { return known_[best_].cost; }
  [[nodiscard]] Tree tree() const override { return known_[best_].tree; }
  [[nodiscard]] std::size_t n_leaves() const override { return best_ + 1; }
  [[nodiscard]] bool is_cheapest_known() const override;
  [[nodiscard]] bool too_large() const override { return false; }
  [[nodiscard]] bool exhausted() const override { return exhausted_; }
  [[nodiscard]] std::int64_t work() const override { return work_; }
  [[nodiscard]] std::int64_t last_gain() const override { return last_gain_; }
  [[nodiscard]] std::size_t bytes() const override;
  [[nodiscard]] std::size_t growth() const override;

  // The best tree known of exactly so many leaves; infinite where there is none.
  [[nodiscard]] std::size_t n_sizes() const { return known_.size(); }
  [[nodiscard]] Cost cost_of(std::size_t leaves) const { return known_[leaves - 1].cost; }
  [[nodiscard]] const Tree& tree_of(std::size_t leaves) const { return known_[leaves - 1].tree; }
  // A price at which a tree of so many leaves may be the cheapest, as far as trees are known: the
  // least, a middle or the greatest one.
  enum class Place { middle, least, greatest };
  [[nodiscard]] Cost price_for(std::size_t leaves, Place place) const;

 private:
  struct Known {
    Cost cost = Cost::infinity();
    Tree tree;
  };
  // An Improver under a price, and what it needs.
  struct Priced {
    Priced(const SizedImprover& of, Cost its_price);
    Cost price;
    Posterior posterior;
    Bounds bounds;
    Expander expander;
    Improver improver;
    Cost seen = Cost::infinity();  // the cost of its last tree whose prunings were looked at
  };

  void take_prunings(const Tree& tree);
  // As far as is known, the best of all trees is small enough: without a price it is improved as if
  // leaves were not limited.
  [[nodiscard]] bool is_free() const;
  void open(Cost price, Watch& watch);
  [[nodiscard]] bool open_next(Watch& watch);

  const Dataset& data_;
  const Posterior& posterior_;
  const Options& options_;
  const std::size_t most_leaves_;
  const std::size_t max_bytes_;
  const Aim aim_;
  std::vector<Known> known_;  // by leaves - 1
  std::size_t best_ = 0;      // of known_, within the limit
  std::unique_ptr<Priced> priced_;
  std::int64_t allowance_ = 0;  // work without a gain, under one price
  std::size_t turn_ = 0;        // which price is next
  bool gained_ = true;          // a tree of a size that is sought, since the first turn
  std::vector<Cost> ended_;     // prices under which nothing is left to try
  std::vector<Cost> of_round_;  // prices that this round has had
  bool exhausted_ = false;
  std::int64_t work_ = 0;
  std::int64_t last_gain_ = 0;
};

}  // namespace maptree
