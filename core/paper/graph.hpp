// AND/OR graph. An OR node is a subproblem (a set of rows at a depth), named by an index; its AND
// children are splits, kept as records inside it.
//
//   I1  lower(n) <= optimum(n) <= upper(n), always; lower never falls, upper never rises.
//   I2  lower(n) = min(upper(n), base + least split), once expanded; a split's total is its test's
//       cost and its children's bounds. Splits that the expander left out are bounded below by
//       upper(n).
//   I3  upper(n) is reached by a tree: a leaf, or `best` and the trees of its children.
//   I4  a split's lower[side] is its child's.
//
// Nodes are found again by the key of their rows and by depth. Nothing is given back: the search of
// the paper keeps every node it has made.
//
// Use: OrId root = graph.intern(...); graph.open(root, ...); graph.attach(...);
// graph.propagate();
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

enum class OrId : std::uint32_t { none = UINT32_MAX };

struct Split {
  Cost lower[2];
  OrId child[2] = {OrId::none, OrId::none};
  std::uint32_t column = no_column;
  std::uint32_t unused = 0;

  [[nodiscard]] bool attached() const { return child[0] != OrId::none; }
};
static_assert(sizeof(Split) == 32);

// What names a subproblem.
struct NodeKey {
  RowKey rows;
  std::uint32_t depth = 0;
  bool operator==(const NodeKey&) const = default;
};

struct OrNode {
  RowKey rows;
  std::uint32_t depth = 0;
  std::uint32_t digest = 0;  // of RowSums
  Cost lower, upper;
  Cost base;  // split(d) + log W, once expanded
  Split* splits = nullptr;
  std::uint32_t n_splits = 0;
  std::uint32_t least = 0;         // the split with the least bound, while not solved
  std::uint32_t best = no_column;  // the split behind `upper`; none: a leaf
  std::uint32_t parents = UINT32_MAX;
  std::uint32_t next = UINT32_MAX;  // in its bucket of the table
  std::uint32_t weight : 29 = 0;    // of its rows
  std::uint32_t expanded : 1 = 0;
  std::uint32_t dirty : 1 = 0;        // changed, parents not told yet
  std::uint32_t upper_moved : 1 = 0;  // part of that change

  [[nodiscard]] bool solved() const { return lower == upper; }
  [[nodiscard]] NodeKey key() const { return {rows, depth}; }
  [[nodiscard]] RowSums sums() const { return {weight, digest}; }
};
static_assert(sizeof(OrNode) == 80 && max_total_weight < 1 << 29);

class Graph {
 public:
  explicit Graph(TestCosts test_costs);

  [[nodiscard]] const OrNode& operator[](OrId id) const { return at(id); }
  [[nodiscard]] std::int64_t n_nodes() const { return static_cast<std::int64_t>(nodes_.size()); }
  [[nodiscard]] std::size_t bytes() const;
  // The most that one expansion of up to `n_splits` splits could add to bytes().
  [[nodiscard]] std::size_t growth(std::size_t n_splits) const;
  // What bytes() can be after the first one.
  [[nodiscard]] static std::size_t first_bytes(std::size_t n_splits);

  // What is known of a node before it is expanded. `below` is the split behind `upper`, to be
  // followed by two leaves; none: a leaf.
  struct Known {
    Cost lower, upper;
    std::uint32_t below = no_column;
  };
  // The node of this key, made with these bounds if it is new, else with the better of both. Throws
  // KeyCollision where it has other sums.
  OrId intern(const NodeKey& key, const RowSums& sums, const Known& known);

  // Records what an expansion found.
  void open(OrId id, const Expansion& found);
  // Joins a split and its two children.
  void attach(OrId parent, std::uint32_t split, OrId child0, OrId child1);
  // Carries all changes to the root, deepest nodes first.
  void propagate();

  // The position of a column among a node's splits.
  [[nodiscard]] std::uint32_t find_split(OrId id, std::uint32_t column) const;

  // States all invariants that can be seen from inside; for debug builds and tests.
  [[nodiscard]] bool is_ok() const;

 private:
  struct Link {
    OrId parent;
    std::uint32_t split;
    std::uint32_t next;
  };

  [[nodiscard]] OrNode& at(OrId id) { return *nodes_[static_cast<std::uint32_t>(id)]; }
  [[nodiscard]] const OrNode& at(OrId id) const { return *nodes_[static_cast<std::uint32_t>(id)]; }
  void mark(OrId id);
  [[nodiscard]] Cost total(const Split& split) const {
    return split.lower[0] + split.lower[1] + test_costs_[split.column];
  }
  [[nodiscard]] Cost find_least(OrNode& node) const;
  void refresh(OrId id, std::uint32_t split, Cost before, bool upper_moved);
  void grow_table();

  const TestCosts test_costs_;
  Arena node_memory_{sizeof(OrNode)};
  Arena split_memory_{4 * sizeof(Split)};
  std::vector<OrNode*> nodes_;
  std::vector<Link> links_;
  std::vector<std::uint32_t> buckets_;
  std::vector<std::vector<OrId>> dirty_;  // by depth
  std::size_t dirty_bytes_ = 0;
};

}  // namespace maptree
