// Incumbent: a good tree at once, so that short limits have something to return.
//
// Greedy growth with the posterior as the judge: at every node the split whose two leaves are the
// likeliest, as long as the bounds leave it a chance against the lone leaf and the last levels
// brought something; on the way back a split is kept only where it costs less than the leaf. A few
// node views, no graph.
#pragma once

#include <cstdint>
#include <vector>

#include "model/bounds.hpp"
#include "model/tree.hpp"
#include "scan/expand.hpp"

namespace maptree {

class Incumbent {
 public:
  // The expander's memory is used, which others use at other times. The tree has `most_nodes` at
  // most.
  Incumbent(const Dataset& data, const Posterior& posterior, const Bounds& bounds,
            const Options& options, Expander& expander, std::size_t most_nodes = SIZE_MAX)
      : data_(data),
        posterior_(posterior),
        bounds_(bounds),
        options_(options),
        expander_(expander),
        view_(expander.view()),
        most_nodes_(most_nodes) {}

  // The greedy tree and its cost. Where the watch says stop, what is not grown yet stays a leaf.
  // What it takes to score it, when it is offered and at the end, is owed to the control, if any.
  Cost grow(Watch& watch, Tree& tree, Control* control = nullptr);
  [[nodiscard]] std::int64_t owed() const { return owed_; }

 private:
  void owe(const Tree& tree);
  // `hope`: on how many levels more a split need not pay at once.
  Cost grow_node(const RowSet& rows, std::size_t depth, int hope, Watch& watch, Tree& tree);
  // The likeliest split of the view's rows that may beat `leaf`, and what its test and its leaves
  // cost; none: no_column.
  std::uint32_t choose(std::size_t depth, Cost base, Cost leaf, Watch& watch, Cost& leaves);

  const Dataset& data_;
  const Posterior& posterior_;
  const Bounds& bounds_;
  const Options& options_;
  Expander& expander_;
  NodeView& view_;
  const std::size_t most_nodes_;
  SetCounts counts_;
  Control* control_ = nullptr;
  std::int64_t owed_ = 0;  // work
};

}  // namespace maptree
