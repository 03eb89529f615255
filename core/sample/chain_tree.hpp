// ChainTree: the state of a Markov chain over trees, with the rows at every node.
//
// A change is made in two parts: an Edit builds what would be new below one node, apart from the
// tree and up to a limit of cost, and is then committed or dropped. So a rejected change leaves no
// trace, and what it built is used again for the next one.
//
// I1: cost() is the sum of the costs of all nodes, exactly what score() says of the tree.
// I2: both sides of every split have rows.
// I3: inner nodes know their varying columns; leaves find theirs when they are asked for.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "model/posterior.hpp"
#include "model/tree.hpp"
#include "sample/varying.hpp"

namespace maptree {

class ChainTree {
 public:
  enum class Id : std::uint32_t { none = UINT32_MAX };
  static constexpr std::int32_t leaf_column = -1;

  // The lone leaf; or the given tree, over the caller's columns: throws std::invalid_argument where
  // it is none, tests a column that is constant, or has a split with all rows on one side.
  ChainTree(const Dataset& data, const Posterior& posterior);
  ChainTree(const Dataset& data, const Posterior& posterior, const Tree& tree);

  [[nodiscard]] Cost cost() const { return cost_; }
  // In preorder. Growable leaves have a column that varies; prunable nodes have two leaves below
  // them; lower nodes are inner ones that are not the root.
  [[nodiscard]] const std::vector<Id>& growable() const { return growable_; }
  [[nodiscard]] const std::vector<Id>& prunable() const { return prunable_; }
  [[nodiscard]] const std::vector<Id>& inner() const { return inner_; }
  [[nodiscard]] const std::vector<Id>& lower() const { return lower_; }

  [[nodiscard]] Id parent(Id id) const { return at(id).parent; }
  [[nodiscard]] Id child(Id id, int side) const { return at(id).child[side]; }
  [[nodiscard]] std::int32_t column(Id id) const { return at(id).column; }
  [[nodiscard]] bool is_leaf(Id id) const { return at(id).column == leaf_column; }
  [[nodiscard]] bool is_growable(Id id) const { return is_leaf(id) && at(id).divisible; }
  // W; -1 where the watch said stop.
  std::int64_t varying_weight(Id id, Watch& watch);
  // The column that has `at` of these weights before it, or a part of its own (varying.hpp).
  [[nodiscard]] std::int32_t varying_column(Id id, std::size_t weight) const {
    return column_at(*data_, at(id).varying, weight);
  }
  [[nodiscard]] std::int32_t test_weight(std::int32_t column) const {
    return data_->test_weight(static_cast<std::size_t>(column));
  }

  struct Edit {
    Id at = Id::none;
    std::int32_t column = leaf_column;  // what `at` will test
    Id child[2] = {Id::none, Id::none};
    Cost cost;  // of the whole tree, once committed
  };
  // Each returns false, and drops what it built, where the tree would not be valid or would cost
  // more than the limit, or the watch said stop.
  bool grow(Edit& edit, Id leaf, std::int32_t column, Cost limit, Watch& watch);
  bool prune(Edit& edit, Id inner, Cost limit);
  // The node tests another column, and those of its children that are inner and tested
  // `replaced`, if any, test what it tested before.
  bool change(Edit& edit, Id inner, std::int32_t column, std::int32_t replaced, Cost limit,
              Watch& watch);
  void commit(const Edit& edit);
  void drop(const Edit& edit);

  // Features in preorder, the caller's, and class counts node by node.
  void write(std::vector<std::int32_t>& feature, std::vector<std::int64_t>& counts) const;
  // The most that its nodes, and those that it keeps for later, may take.
  [[nodiscard]] std::size_t bytes() const;
  // States all invariants.
  [[nodiscard]] bool is_ok() const;

 private:
  struct Node {
    Id parent = Id::none;
    Id child[2] = {Id::none, Id::none};
    std::int32_t column = leaf_column;
    std::uint32_t depth = 0;
    bool divisible = false;            // two distinct rows: some column varies
    std::int64_t varying_weight = -1;  // not known
    Cost likelihood;                   // of its rows, were it a leaf
    Cost own;                          // what the node itself pays, as leaf or inner node
    RowSet rows;
    ColumnSet varying;
    std::vector<std::int64_t> counts;
  };

  // One side of the parent's rows, with the rule and the children of another node.
  struct Copy {
    Id id, like;
    std::int32_t rule;
    Id parent;
    std::int32_t column;
    int side;
  };

  [[nodiscard]] Node& at(Id id) { return nodes_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] const Node& at(Id id) const { return nodes_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] Id take();
  void give_back(Id id);
  void give_back_below(Id id);
  [[nodiscard]] Cost sum_below(Id id);
  [[nodiscard]] Cost as_leaf(const Node& node) const;
  [[nodiscard]] Cost as_inner(const Node& node, std::int32_t column) const;
  // What an inner node pays in addition to split(d): log W / w, which is never below 0.
  [[nodiscard]] Cost test_cost(const Node& node, std::int32_t column) const;

  // One side of the parent's rows as a leaf. False: no rows.
  bool make_side(Id id, Id parent, std::int32_t column, int side, Watch& watch);
  bool copy_below(Edit& edit, std::int32_t replaced, Cost limit, Watch& watch);
  bool add_varying(Edit& edit, Cost limit, Watch& watch);
  void read(const Tree& tree);
  void list();

  const Dataset* data_;
  const Posterior* posterior_;
  std::deque<Node> nodes_;  // the first is the root
  std::vector<Id> free_;
  Cost cost_;
  std::vector<Id> growable_, prunable_, inner_, lower_;
  std::vector<Copy> copies_;  // that wait to be made
  std::vector<Id> open_;      // nodes that wait: trees can be deeper than the stack
};

}  // namespace maptree
