// BestFirst: the search of the paper, over a graph of subproblems.
//
// Descend from the root by the least lower bound to a node that is not yet expanded, expand it,
// make all its children, carry the new bounds up, until the root's bounds meet. With the options of
// the paper it takes the paper's steps one by one. It needs every node it has made; the Prover,
// which does not, is faster.
//
// Use: while (search.lower() < search.upper()) { search.select(); search.expand(stop); }
#pragma once

#include <cstdint>
#include <vector>

#include "control/options.hpp"
#include "model/tree.hpp"
#include "paper/graph.hpp"
#include "scan/expand.hpp"

namespace maptree {

class BestFirst {
 public:
  BestFirst(const Dataset& data, const Posterior& posterior, const Bounds& bounds,
            Expander& expander, const Options& options);

  // Goes down to a node that is not expanded. The root is not solved.
  void select();
  // Expands that node and carries up what it told. False when the watch said stop.
  bool expand(Watch& watch);

  [[nodiscard]] Cost lower() const { return graph_[root_].lower; }
  [[nodiscard]] Cost upper() const { return graph_[root_].upper; }
  [[nodiscard]] bool root_expanded() const { return graph_[root_].expanded; }
  // The tree behind the upper bound.
  void read_tree(Tree& tree);
  [[nodiscard]] std::int64_t subproblems() const { return subproblems_; }
  [[nodiscard]] std::size_t bytes() const {
    return graph_.bytes() + (path_.size() + 1) * data_.n_words() * sizeof(Word) +
           expansion_.splits.capacity() * sizeof(SplitBounds);
  }
  // What bytes() will be at first, known before the search is made.
  [[nodiscard]] static std::size_t bytes_for(const Dataset& data) {
    return Graph::first_bytes(data.n_columns()) + 3 * data.n_words() * sizeof(Word) +
           data.n_columns() * sizeof(SplitBounds);
  }
  // The most that one more expansion could add to bytes(): two sets of rows on the path.
  [[nodiscard]] std::size_t growth() const {
    return graph_.growth(data_.n_columns()) + 2 * data_.n_words() * sizeof(Word);
  }
  [[nodiscard]] bool is_ok() const { return graph_.is_ok(); }

 private:
  // A set of rows on the current path, and its key.
  struct Subset {
    RowSet rows;
    RowKey key;
  };
  struct Measure {
    NodeKey key;
    RowSums sums;
    Cost leaf;
  };

  void step(std::size_t depth, std::uint32_t column, int side);
  [[nodiscard]] int choose_side(const Split& split) const;
  Measure measure(const Subset& set, std::size_t depth);
  void attach(OrId id, std::uint32_t s, std::size_t depth, const Expansion* best);
  std::int32_t build(OrId id, Tree& tree);

  const Dataset& data_;
  const Posterior& posterior_;
  Expander& expander_;
  const Options& options_;
  Graph graph_;
  OrId root_ = OrId::none;
  OrId selected_ = OrId::none;
  std::vector<Subset> path_;  // by depth
  Subset part_;
  std::vector<std::int64_t> counts_;
  Expansion expansion_;
  std::int64_t subproblems_ = 0;
};

}  // namespace maptree
