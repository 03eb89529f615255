// Prover: raises the lower bound of a proof, depth first, with a budget passed down.
//
// To show that a node costs no less than some goal, every split of it must be shown to. The split
// of the least bound is taken up, and the bounds of its two children are raised in turns, a nat at
// a time, until their sum reaches what is asked; each turn goes to the child where a nat was
// cheaper the last time. That is best-first order, with no queue and no links upwards: all it needs
// is what the Store remembers, and the Store may forget.
//
// A proof may be limited to trees of some depth, or of so many leaves. Its bounds then hold for
// these trees only, and so do its nodes in the store. Where leaves are limited, a split is one for
// each way to share them out between its sides (leaf_shares.hpp).
//
// Several provers, one a thread, may share one Desk and its Store. What is shared is touched under
// the desk's lock, which is let go while rows are counted: nearly all of the time. A node that
// another prover is expanding is passed by; there is always another one that must be refuted as
// well.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "model/tree.hpp"
#include "prove/store.hpp"
#include "scan/expand.hpp"

namespace maptree {

// What is to be proved: that no tree within the limits is cheaper than some goal.
struct Proof {
  // Raise the bound of the root evenly, for its own sake; or a split at a time, up to the goal.
  enum class Pace { evenly, by_splits };
  Proof(const Dataset& data, const Posterior& posterior, const Options& options,
        std::uint32_t depth_limit, Pace its_pace = Pace::evenly,
        std::uint32_t most_leaves = any_leaves);

  std::uint32_t limit;
  std::uint32_t leaves;
  Pace pace;
  bool transfer;  // Options::depth_transfer
  Bounds bounds;
  Cost known;  // a lower bound from elsewhere
  NodeId root = NodeId::none;
  std::int64_t work = 0;
  int users = 0;  // provers at work on it

  [[nodiscard]] Cost least() const { return std::max(known, bounds.root_lower()); }
  // Work that is still to be done until `lower` is `goal`, as far as can be told: bounds rise by
  // about the same for every doubling of the work.
  [[nodiscard]] double forecast(Cost lower, Cost goal) const;
  void note(Cost lower);  // after every piece of work

 private:
  std::int64_t noted_work_[2] = {0, 0};
  Cost noted_[2];
};

// What provers share.
struct Desk {
  explicit Desk(TestCosts test_costs) : store(test_costs) {}

  std::mutex mutex;
  std::condition_variable changed;  // somebody has ended an expansion
  Store store;
  std::int64_t expansions = 0;
  std::int64_t max_expansions = -1;
  bool out_of_memory = false;
  bool out_of_expansions = false;
  std::int64_t collections = 0;
  std::vector<const std::vector<NodeId>*> pinned;  // the nodes that each prover stands on
  std::vector<NodeId> roots;                       // of all proofs: named from outside the store

  bool broken = false;  // a collection did not end, or a prover failed: the search must end
  // Makes room for the splits of one more node, and for two nodes; false: there is none.
  bool make_room(std::size_t n_splits, Watch& watch);
};

class Prover {
 public:
  Prover(const Dataset& data, const Posterior& posterior, Expander& expander, Desk& desk);
  ~Prover();
  Prover(const Prover&) = delete;
  Prover& operator=(const Prover&) = delete;

  // Raises the proof's bound towards `goal` with about this much work, and says how much it was.
  // Called and left with the lock held; the proof outlives the call.
  std::int64_t advance(std::unique_lock<std::mutex>& lock, Proof& proof, Cost goal,
                       std::int64_t work, Watch& watch);

  // The same for any rows at any depth and trees of at most so many leaves, of which `lower` is
  // known to be a lower bound: raises it until it reaches `goal` or the cost of the cheapest tree.
  // Says what is known of them then; less was reached where it had to stop. With the lock held.
  struct Standing {
    Cost lower, upper;
    float price = 0;  // expansions per nat that it was last raised by

    [[nodiscard]] bool solved() const { return lower == upper; }
  };
  Standing raise_rows(std::unique_lock<std::mutex>& lock, Proof& proof, const RowSet& rows,
                      const RowKey& key, std::size_t depth, std::uint32_t leaves, Cost lower,
                      Cost goal, Watch& watch);
  // How far a bound is raised at once.
  [[nodiscard]] Cost next_goal(const Proof& proof, Cost lower, Cost goal) const;

  // The tree behind the upper bound of the proof's root, or a cheaper one; with the lock held.
  void read_tree(const Proof& proof, Tree& tree);
  [[nodiscard]] std::size_t bytes() const;
  // What bytes() will be once it stands on the root.
  [[nodiscard]] static std::size_t bytes_for(const Dataset& data) {
    const std::size_t n_splits = usual_splits(data);
    return 2 * data.n_words() * sizeof(Word) + n_splits * sizeof(SplitBounds) +
           (data.ordered().n_columns() > 0
                ? n_splits * (sizeof(SplitBounds) + sizeof(std::uint32_t))
                : 0);
  }

 private:
  enum class Outcome { reached, taken, stopped };  // taken: what is left is in others' hands

  Outcome raise(NodeId id, std::size_t depth, Cost target);
  Outcome raise_split(NodeId id, SplitRecord& split, std::size_t depth, Cost goal);
  // Opens a node, or parts those of its spans that cannot reach the goal.
  Outcome expand(NodeId id, std::size_t depth, Cost goal);
  void find_spans(const StoreNode& node, std::size_t depth, Cost goal);
  void transfer(StoreNode& node);
  bool attach(StoreNode& node, SplitRecord& split, std::size_t depth);
  [[nodiscard]] StoreKey key_of(const RowKey& rows, std::size_t depth, std::uint32_t leaves,
                                std::int64_t distinct) const;
  void build(NodeId id, const RowSet& rows, std::size_t depth, Tree& tree);
  Cost below_cost(std::uint32_t column, const RowSet& rows, std::size_t depth);
  void build_below(std::uint32_t column, Tree& tree);
  [[nodiscard]] RowSet& rows_at(std::size_t depth);
  [[nodiscard]] bool must_halt() const {
    return stopped_ || watch_->stopped() || watch_->work() >= work_end_;
  }

  struct Measure {
    Cost leaf;
    RowSums sums;
    std::int64_t distinct;
  };
  Measure measure(const RowSet& rows, std::size_t depth);

  const Dataset& data_;
  const Posterior& posterior_;
  Expander& expander_;
  Desk& desk_;
  Store& store_;
  // Of the call under way.
  Proof* proof_ = nullptr;
  std::unique_lock<std::mutex>* lock_ = nullptr;
  Watch* watch_ = nullptr;
  std::int64_t work_end_ = 0;
  bool stopped_ = false;  // for another reason than the watch's
  std::int64_t expansions_ = 0;

  std::vector<RowSet> path_;  // by depth
  std::vector<NodeId> pins_;  // the nodes on it
  RowSet part_;
  std::vector<std::int64_t> counts_;
  Expansion expansion_;
  std::vector<SplitBounds> spans_;  // that are to be parted
};

}  // namespace maptree
