// Store: what the provers have learnt of subproblems, in bounded memory.
//
// A node is a set of rows at a depth, under a limit on the depth of the whole tree (or none), and
// on the number of its own leaves (or none: any_leaves). Its bounds and those of its splits outlive
// every descent, so that nothing is expanded twice; but all of it can be found again, so all of it
// may be dropped: collect() drops splits that are not needed for some time, as their bounds are far
// above the node's, then nodes that were cheapest to find. There are no links upwards. A split's
// own bounds are as good as those of its children were when they were last read, which is always
// sound.
//
// Invariants
//   lower <= cheapest tree below the node <= upper, and `upper` is the cost of a tree that can be
//   read off: a leaf; or the split `best` with, on each side, the child of that split or the leaf
//   or split `below`, whichever is cheaper. collect() keeps what is needed for that.
//   A node's splits are in such an order that none after a fresh one has a lower total: they are
//   sorted when they are found, and bounds only rise. So the least is found among the first few.
//   A function that throws, as there is no memory, has changed nothing that can be seen.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/packed_table.hpp"
#include "data/row_keys.hpp"
#include "memory/arena.hpp"
#include "model/cost.hpp"
#include "scan/expand.hpp"

namespace maptree {

enum class NodeId : std::uint32_t { none = UINT32_MAX, forgotten = UINT32_MAX - 1 };

inline constexpr std::uint32_t no_limit = (1u << 24) - 1;
[[nodiscard]] inline std::uint32_t depth_limit(const Options& options) {
  return options.max_depth < 0 || options.max_depth >= no_limit
             ? no_limit
             : static_cast<std::uint32_t>(options.max_depth);
}

struct SplitRecord : Tests {
  NodeId child[2] = {NodeId::none, NodeId::none};
  Cost lower[2];

  [[nodiscard]] bool attached() const { return child[0] != NodeId::none; }
  // Of a span that was parted: its parts are there, and it says nothing any more.
  void retire() { lower[0] = lower[1] = Cost::infinity(); }
  // Never attached, nor passed by those of a later expansion.
  [[nodiscard]] bool fresh() const { return child[1] == NodeId::none; }
  void forget_children() {
    child[0] = NodeId::none;
    child[1] = NodeId::forgotten;
  }
};
static_assert(sizeof(SplitRecord) == 32);

// Splits in the order in which they are taken up: by what they cost at least, in addition to their
// node's base.
struct Place {
  Cost total;
  std::uint32_t column = 0;
  std::uint32_t share = 0;
  auto operator<=>(const Place&) const = default;
};
template <class Split>
[[nodiscard]] Place place_of(const Split& split, TestCosts test_costs) {
  return {split.lower[0] + split.lower[1] + test_costs.least(split.column, split.last()),
          split.column, split.share};
}

inline constexpr std::uint32_t no_cell = UINT32_MAX;

// Test builds take memory in small pieces, so that small problems meet the limits, too.
#if defined(MAPTREE_SMALL_BLOCKS)
inline constexpr bool small_chunks = true;
#else
inline constexpr bool small_chunks = false;
#endif

struct StoreKey {
  StoreKey() = default;
  StoreKey(const RowKey& its_rows, std::uint32_t its_depth, std::uint32_t depth_limit = no_limit,
           std::uint32_t most_leaves = any_leaves)
      : rows(its_rows),
        depth(its_depth),
        limit(depth_limit & no_limit),
        leaves(most_leaves & any_leaves) {}

  RowKey rows;
  std::uint32_t depth = 0;
  // Bounds hold only for trees that are not deeper than this in all, and have at most so many
  // leaves below this node.
  std::uint32_t limit : 24 = no_limit;
  std::uint32_t leaves : 8 = any_leaves;
  bool operator==(const StoreKey&) const = default;
};

struct StoreNode {
  StoreKey key;
  Cost lower, upper;
  Cost base;                       // split(d) + log W, once expanded
  Cost rest = Cost::infinity();    // the least total of the splits that were dropped
  std::uint32_t splits = no_cell;  // the first of a chain of blocks
  std::uint32_t n_splits = 0;
  std::uint32_t best = no_column;
  std::uint32_t best_share = 0;  // of the split `best` (Tests)
  std::uint32_t below[2] = {no_column, no_column};
  std::uint32_t digest = 0;  // of RowSums
  std::uint32_t effort = 0;  // expansions of it and below it; halved by every collection
  float price = 0;           // expansions per nat that it was last raised by
  NodeId next = NodeId::none;
  std::uint32_t weight : 29 = 0;  // of its rows
  std::uint32_t expanded : 1 = 0;
  std::uint32_t busy : 1 = 0;    // being expanded
  std::uint32_t marked : 1 = 0;  // collect() keeps it

  [[nodiscard]] bool solved() const { return lower == upper; }
  [[nodiscard]] bool is_best(const SplitRecord& split) const {
    return split.column == best && split.share == best_share && !split.is_span();
  }
  [[nodiscard]] RowSums sums() const { return {weight, digest}; }
};
static_assert(max_total_weight < 1 << 29);
static_assert(sizeof(StoreNode) == 104);

class Store {
 public:
  explicit Store(TestCosts test_costs);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  // What bytes() is at first.
  [[nodiscard]] static std::size_t first_bytes() { return first_buckets * sizeof(NodeId); }

  [[nodiscard]] StoreNode& operator[](NodeId id) {
    return cell(static_cast<std::uint32_t>(id)).node;
  }
  [[nodiscard]] const StoreNode& operator[](NodeId id) const {
    const auto n = static_cast<std::uint32_t>(id);
    return chunks_[n / chunk_cells]->cells[n % chunk_cells].node;
  }
  [[nodiscard]] TestCosts test_costs() const { return test_costs_; }
  [[nodiscard]] Place place(const SplitRecord& split) const { return place_of(split, test_costs_); }
  // Calls visit(split) for each split of a node, in order, until it says true.
  template <class Visit>
  void find_split(const StoreNode& of, Visit&& visit) {
    std::uint32_t left = of.n_splits;
    for (std::uint32_t c = of.splits; left > 0;) {
      Block& block = cell(c).block;
      for (std::size_t i = 0; i < block_splits && left > 0; ++i, --left)
        if (visit(block.splits[i])) return;
      c = block.next;
    }
  }
  template <class Visit>
  void for_each_split(const StoreNode& of, Visit&& visit) {
    find_split(of, [&](SplitRecord& split) {
      visit(split);
      return false;
    });
  }
  [[nodiscard]] std::size_t n_nodes() const { return n_alive_; }
  [[nodiscard]] std::size_t n_made() const { return n_made_; }
  [[nodiscard]] std::size_t bytes() const;
  // What of bytes() nodes and splits use now; the rest can be used again.
  [[nodiscard]] std::size_t live() const { return (n_cells_ - free_.size()) * sizeof(Cell); }
  // What bytes() may come to; the table heeds it, has_room() tells it: for making two nodes, or for
  // opening one of `n_splits` splits.
  void set_limit(std::size_t bytes) { limit_ = bytes; }
  [[nodiscard]] bool has_room(std::size_t n_splits) const {
    const std::size_t more = cells_growth(n_splits);
    return more == 0 || bytes() + more <= limit_;
  }
  // The most that opening a node of `n_splits` splits and making two could add, the table included.
  [[nodiscard]] std::size_t growth(std::size_t n_splits) const;

  // Memory that is made ready without the lock of those who share the store (Arena).
  [[nodiscard]] bool wants_spare() const {
    return memory_.wants_spare() && bytes() + memory_.spare_bytes() <= limit_;
  }
  void take_spare(Arena::Chunk chunk) {
    if (wants_spare()) memory_.take_spare(std::move(chunk));
  }

  // Calls visit(node) for each node of these rows under this limit, at any depth, that may have as
  // many leaves or more.
  template <class Visit>
  void for_each_depth(const StoreKey& key, Visit visit) {
    for (NodeId id = buckets_[bucket_of(key)]; id != NodeId::none; id = (*this)[id].next) {
      const StoreKey& other = (*this)[id].key;
      if (other.rows == key.rows && other.limit == key.limit && other.leaves >= key.leaves)
        visit((*this)[id]);
    }
  }
  // The node of this key, new with these bounds or old with the better of both. Throws KeyCollision
  // where the old one has other sums.
  NodeId intern(const StoreKey& key, Cost lower, Cost leaf, const RowSums& sums);
  // Records what an expansion found, whose splits are sorted by their place: those that are bounded
  // below the node's upper are kept. Where the node has been expanded before, those that were
  // dropped come back.
  void open(NodeId id, const Expansion& found);
  // Records what spans of an open node were parted into.
  void part(NodeId id, const Expansion& found, std::span<const SplitBounds> spans);
  // Gives back what a solved node does not need.
  void close(NodeId id);

  // Drops splits bounded by more than `margin` above their node; then, if need be, the nodes that
  // took the least effort, until live() has come down to about `target`.
  // `pinned` nodes stay, and the children of their splits. False when the watch said stop: then
  // nothing of the store is in order any more but the nodes themselves.
  bool collect(std::span<const NodeId> pinned, std::size_t target, Cost margin, Watch& watch);
  // Nodes under a smaller limit are of no use any more: they are the first to be dropped.
  void set_least_limit(std::uint32_t limit) { least_limit_ = limit; }

 private:
  // All memory is cells of one size, for a node or for a block of splits: what was given back
  // serves any purpose.
  static constexpr std::size_t block_splits = 3;
  struct Block {
    SplitRecord splits[block_splits];
    std::uint32_t next = no_cell;  // the block after it
  };
  union Cell {
    Cell() {}
    StoreNode node;
    Block block;
  };
  static_assert(sizeof(Cell) == 104);
  static constexpr std::size_t chunk_cells = small_chunks ? 16 : 512;
  struct Chunk {
    Cell cells[chunk_cells];
    bool is_node[chunk_cells] = {};
  };
  static constexpr std::size_t first_buckets = small_chunks ? 16 : 1024;
  static constexpr std::size_t slack = 2;  // nodes that may be made before the next question

  [[nodiscard]] Cell& cell(std::uint32_t n) {
    return chunks_[n / chunk_cells]->cells[n % chunk_cells];
  }
  [[nodiscard]] bool& is_node(std::uint32_t n) {
    return chunks_[n / chunk_cells]->is_node[n % chunk_cells];
  }
  // Linear hashing: the table grows by a bucket at a time, which parts one of the old ones. To
  // double it at once would take longer than a time limit may be overrun.
  [[nodiscard]] std::size_t bucket_of(const StoreKey& key) const {
    const std::size_t at = (key.rows.low + key.limit) & (2 * half_ - 1);
    return at < buckets_.size() ? at : at - half_;
  }
  [[nodiscard]] bool table_may_grow() const;
  [[nodiscard]] std::size_t table_growth() const {
    return 2 * buckets_.capacity() * sizeof(NodeId);
  }
  [[nodiscard]] std::size_t cells_growth(std::size_t n_splits) const;
  void add_bucket();
  void trim(StoreNode& node, Cost margin);
  void mark_tree(NodeId id);
  bool sweep(Watch& watch);
  // Afterwards new_cell() succeeds that often.
  void reserve_cells(std::size_t n);
  std::uint32_t new_cell();
  SplitRecord& add_split(StoreNode& node, std::uint32_t& block);
  void add_split(StoreNode& node, std::uint32_t& block, const SplitBounds& split);
  void reopen(StoreNode& node, const Expansion& found, const std::vector<std::uint64_t>& there);
  void free_chain(std::uint32_t& first);
  [[nodiscard]] std::uint32_t last_block(const StoreNode& node);
  bool forget_spans(StoreNode& node);
  static void take_best(StoreNode& node, const Expansion& found);
  // What such a cell is filled with: as a split it has no children, which invites to attach some.
  static constexpr unsigned char given_back = 0xff;
  void give_back(std::uint32_t n);
  [[nodiscard]] bool is_untouched(std::uint32_t n) const;

  const TestCosts test_costs_;
  Arena memory_{sizeof(Chunk), small_chunks ? 2048 : std::size_t{1} << 16};
  std::vector<Chunk*> chunks_;
  std::uint32_t n_cells_ = 0;
  std::vector<std::uint32_t> free_;
  std::vector<NodeId> buckets_;  // more than half_, at most twice as many
  std::size_t half_;
  std::size_t limit_ = SIZE_MAX;
  std::uint32_t least_limit_ = 0;
  std::size_t n_alive_ = 0;
  std::size_t n_made_ = 0;
};

}  // namespace maptree
