// Store: what the provers have learnt of subproblems, in bounded memory.
//
// A node is a set of rows at a depth, under a limit on the depth of the whole tree (or none). Its
// bounds and those of its splits outlive every descent, so that no look is taken twice; but all of
// it can be found again, so all of it may be dropped: collect() drops what was cheapest to find.
// There are no links upwards. A split's own bounds are as good as those of its children were when
// they were last looked at, which is always sound.
//
// Invariants
//   lower <= cheapest tree below the node <= upper, and `upper` is the cost of a tree that can be
//   read off: a leaf; or the split `best` with, on each side, the child of that split or the leaf
//   or split `below`, whichever is cheaper. collect() keeps what is needed for that.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "arena.hpp"
#include "cost.hpp"
#include "expand.hpp"
#include "row_set.hpp"

namespace maptree {

enum class NodeId : std::uint32_t { none = UINT32_MAX };

inline constexpr std::uint32_t no_limit = UINT32_MAX;

struct SplitRecord {
  Cost lower[2];
  NodeId child[2] = {NodeId::none, NodeId::none};
  std::uint32_t column = no_column;
  std::uint32_t unused = 0;

  [[nodiscard]] Cost total() const { return lower[0] + lower[1]; }
  [[nodiscard]] bool attached() const { return child[0] != NodeId::none; }
};
static_assert(sizeof(SplitRecord) == 32);

// Splits are kept in chains of blocks of one size: what one node gives back serves any other.
struct SplitBlock {
  static constexpr std::size_t capacity = 8;
  SplitRecord splits[capacity];
  SplitBlock* next = nullptr;
};

struct StoreKey {
  RowKey rows;
  std::uint32_t depth = 0;
  std::uint32_t limit = no_limit;  // on the depth of the tree: bounds hold for such trees only
  bool operator==(const StoreKey&) const = default;
};

struct StoreNode {
  StoreKey key;
  Cost lower, upper;
  Cost base;  // split(d) + log |V|, once expanded
  SplitBlock* splits = nullptr;
  std::uint32_t n_splits = 0;
  std::uint32_t best = no_column;
  std::uint32_t below[2] = {no_column, no_column};
  std::uint32_t weight = 0;  // of its rows
  std::uint32_t effort = 0;  // looks taken for it and below it; halved by every collection
  float price = 0;           // looks per nat that it was last raised by
  NodeId next = NodeId::none;
  bool expanded = false;
  bool busy = false;    // somebody looks at it
  bool alive = true;
  bool marked = false;  // collect() keeps it

  [[nodiscard]] bool solved() const { return lower == upper; }
  // Calls visit(split) for each of them, in the order of their columns.
  template <class Visit>
  void for_each_split(Visit&& visit) const {
    std::uint32_t left = n_splits;
    for (SplitBlock* block = splits; left > 0; block = block->next)
      for (std::size_t i = 0; i < SplitBlock::capacity && left > 0; ++i, --left)
        visit(block->splits[i]);
  }
};
static_assert(sizeof(StoreNode) <= 104);

class Store {
 public:
  Store();

  [[nodiscard]] StoreNode& operator[](NodeId id) { return node(static_cast<std::uint32_t>(id)); }
  [[nodiscard]] const StoreNode& operator[](NodeId id) const {
    return node(static_cast<std::uint32_t>(id));
  }
  [[nodiscard]] std::size_t n_nodes() const { return n_alive_; }
  [[nodiscard]] std::size_t n_made() const { return n_made_; }
  [[nodiscard]] std::size_t bytes() const;
  // What of bytes() nodes and splits use now; the rest can be used again.
  [[nodiscard]] std::size_t live() const {
    return n_alive_ * sizeof(StoreNode) + (n_blocks_ - n_free_blocks_) * sizeof(SplitBlock);
  }
  // The most that opening a node of `n_splits` splits and making a few could add.
  [[nodiscard]] std::size_t growth(std::size_t n_splits) const;

  // The node of this key, new with these bounds or old with the better of both.
  NodeId intern(const StoreKey& key, Cost lower, Cost leaf, std::uint32_t weight);
  // Records what an expansion found: splits that are bounded below the node's upper are kept.
  void open(NodeId id, const Expansion& found);
  // Gives back what a solved node does not need.
  void close(NodeId id);

  // Drops the nodes that took the least effort, until live() has come down to about `target`.
  // `pinned` nodes stay, and the children of their splits. False when stop(work) said true: then
  // nothing of the store is in order any more but the nodes themselves.
  bool collect(std::span<const NodeId> pinned, std::size_t target,
               const std::function<bool(std::int64_t)>& stop);
  // Drops every node under this limit.
  void forget(std::uint32_t limit);

 private:
  static constexpr std::size_t block_nodes = 512;
  static constexpr std::size_t slack = 64;  // nodes that several provers may make meanwhile

  [[nodiscard]] StoreNode& node(std::uint32_t n) { return blocks_[n / block_nodes][n % block_nodes]; }
  [[nodiscard]] const StoreNode& node(std::uint32_t n) const {
    return blocks_[n / block_nodes][n % block_nodes];
  }
  [[nodiscard]] NodeId& bucket(const StoreKey& key) {
    return buckets_[(key.rows.low + key.limit) & (buckets_.size() - 1)];
  }
  void rehash(std::size_t size);
  void mark_tree(NodeId id);
  bool sweep(const std::function<bool(std::int64_t)>& stop);
  SplitBlock* new_block();
  void free_splits(StoreNode& node);

  Arena node_memory_{sizeof(StoreNode)};
  Arena split_memory_{sizeof(SplitBlock)};
  SplitBlock* free_block_ = nullptr;
  std::size_t n_blocks_ = 0;
  std::size_t n_free_blocks_ = 0;
  std::vector<StoreNode*> blocks_;
  std::uint32_t n_slots_ = 0;
  NodeId free_ = NodeId::none;
  std::vector<NodeId> buckets_;
  std::vector<NodeId> to_mark_;
  std::size_t n_alive_ = 0;
  std::size_t n_made_ = 0;
};

}  // namespace maptree
