// Schedule: which proof is worked on next.
//
// Two proofs are under way: that no tree at all is cheaper than the best one known, and that no
// tree of depth D is; when the latter is there, D grows. The bound of everything rises by about as
// much for every doubling of the work, so what it still needs can be told. When that is in sight,
// it comes first, for it makes the other proof needless; until then the other one does. Whichever
// is second keeps a share, for the bound of one and the depth of the other are worth something at
// any time. Shares are counted work; no clock decides anything.
//
// All but the constructor and lock() need the lock.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "prove/prover.hpp"

namespace maptree {

class Schedule {
 public:
  Schedule(const Dataset& data, const Posterior& posterior, const Options& options,
           std::int64_t max_expansions);

  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(desk_.mutex); }
  [[nodiscard]] Desk& desk() { return desk_; }
  [[nodiscard]] const Desk& desk() const { return desk_; }

  // From now on all proofs are of trees of at most so many leaves. While none is known to be
  // cheaper that has more, a proof of all trees is as good, and does without shares of leaves.
  void limit_leaves(std::uint32_t leaves);
  // The cost of the best tree known: what there is to prove.
  void set_goal(Cost goal);
  // Has the prover do about this much work.
  void work(Prover& prover, std::unique_lock<std::mutex>& lock, std::int64_t work, Watch& watch);
  // A tree that a proof came upon and that is cheaper than the goal.
  bool read_cheaper(Prover& prover, Tree& tree);

  // Nothing is left to do, or no means to do it.
  [[nodiscard]] bool is_over() const;
  // Of every tree.
  [[nodiscard]] Cost lower() const;
  // No tree of this depth or less is cheaper than the goal.
  [[nodiscard]] std::int64_t proved_depth() const { return proved_depth_; }
  // The proof of everything would take very much more work than was done, as far as can be told.
  [[nodiscard]] bool out_of_sight() const;
  // Counted, of all provers.
  [[nodiscard]] std::int64_t work_done() const { return whole_work_ + graded_work_; }
  [[nodiscard]] std::size_t bytes() const;
  // What bytes() will be at first, known before the schedule is made.
  [[nodiscard]] static std::size_t bytes_for(const Dataset& data, const Options& options);

 private:
  [[nodiscard]] const StoreNode& root(const Proof& proof) const { return desk_.store[proof.root]; }
  [[nodiscard]] bool is_open(const Proof& proof) const;
  // Trees of so few leaves are not deeper than what is proved.
  [[nodiscard]] bool is_deep_enough() const {
    return whole_->leaves != any_leaves && proved_depth_ + 1 >= whole_->leaves;
  }
  [[nodiscard]] Proof& choose();
  void settle();
  void retire(std::unique_ptr<Proof> proof);
  void drop_done();

  const Dataset& data_;
  const Posterior& posterior_;
  const Options& options_;
  Desk desk_;
  Cost goal_ = Cost::infinity();
  std::unique_ptr<Proof> whole_;              // of everything
  std::unique_ptr<Proof> graded_;             // by depth; none: no need
  std::vector<std::unique_ptr<Proof>> done_;  // that a prover may still stand on
  std::int64_t proved_depth_ = 0;
  // Of the last proof by depth: less, where the root's expansion has come to prove more since the
  // proof was begun, as a cheaper tree was found.
  std::int64_t graded_depth_ = 0;
  std::int64_t whole_work_ = 0;
  std::int64_t graded_work_ = 0;
};

}  // namespace maptree
