// Expander: an expansion, which is what one pass over a node's rows tells of all its splits.
//
// Pair expansion counts every pair of the node's columns once. That gives, without creating
// a node: W of all children exactly; for all children a lower bound one level deeper than their
// own counts give; and the best tree of depth two. For that a grandchild's leaf cost must be exact,
// and it is: the number of distinct rows tells whether it could be split. (Without row folding stop
// is left out of its lower bound, and children get no better upper bound than their own leaf.)
// With pair expansion off, children get the bound of their own counts: the paper's expansion.
// Where columns are ordered their thresholds are bounded by spans (span_expand.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/bounds.hpp"
#include "scan/expansion.hpp"
#include "scan/node_view.hpp"
#include "scan/span_expand.hpp"

namespace maptree {

// How many splits an expansion has room for from the start: all columns, and more spans of
// thresholds than most have.
[[nodiscard]] inline std::size_t usual_splits(const Dataset& data) {
  return data.n_columns() + std::min<std::size_t>(4096, data.ordered().n_thresholds());
}

class Expander {
 public:
  Expander(const Dataset& data, const Posterior& posterior, const Bounds& bounds,
           const Options& options);

  // `upper` is a cost known to be reached on these rows: splits bounded above it need no scan.
  // False when the watch said stop: then the result is void.
  bool expand(const RowSet& rows, std::size_t depth, Cost upper, Watch& watch, Expansion& out) {
    return expand(*root_bounds_, rows, depth, upper, watch, out);
  }
  // Under other bounds: those of trees that are not deeper than some limit. The tree that is found
  // has `leaves` at most, two or more; bounds are of all trees. Where columns are ordered, splits
  // are bounded as far as the goal needs it, and `spans` that were found before are parted further.
  bool expand(const Bounds& bounds, const RowSet& rows, std::size_t depth, Cost upper, Watch& watch,
              Expansion& out, Cost goal = Cost::infinity(), std::span<const SplitBounds> spans = {},
              std::uint32_t leaves = any_leaves, Keep keep = Keep::below_leaf);
  // Whether bounds of the sides of a span, once raised, raise its own.
  [[nodiscard]] bool may_raise_spans(const Bounds& bounds, std::size_t depth) const {
    return spans_ && spans_->may_raise(bounds, depth);
  }
  // The likeliest split of some rows and what is known of them, where columns are ordered.
  bool look(const RowSet& rows, std::size_t depth, Watch& watch, PartBounds& out) {
    return spans_->look(*root_bounds_, rows, depth, watch, out);
  }
  [[nodiscard]] std::size_t bytes() const {
    return (spans_ ? spans_->bytes() : 0) + view_.bytes() + children_.capacity() * sizeof(Child) +
           order_.capacity() * sizeof(std::uint32_t) +
           test_cost_.capacity() * sizeof(std::int64_t) +
           (mixed_.capacity() + pure_.capacity()) * sizeof(mixed_[0]);
  }
  // What bytes() will be, known before the expander is made.
  [[nodiscard]] static std::size_t bytes_for(const Dataset& data, const Options& options) {
    return (data.ordered().n_columns() > 0 ? SpanExpander::bytes_for(data) : 0) +
           NodeView::bytes_for(data, options) +
           data.n_columns() * (sizeof(Child) + sizeof(std::uint32_t)) +
           (data.weighted() || data.restricted()
                ? NodeView::stride_of(data.n_columns()) * sizeof(std::int64_t)
                : 0) +
           2 * static_cast<std::size_t>(data.n_classes()) * sizeof(std::int64_t*);
  }
  // Scratch memory that others may use between expansions.
  [[nodiscard]] NodeView& view() { return view_; }

 private:
  struct Child {
    Bracket bracket[2];  // by side of the view
    Cost likelihood[2];  // of a leaf, without stop
    Cost least_leaf[2];  // with it, as far as that is sure
    Cost bound;          // of the split, from them
    bool valid = false;  // both sides are large enough, and it may be tested here
  };

  void find_tables();
  // What a leaf with these counts and amounts costs, without stop.
  [[nodiscard]] Cost likelihood(std::span<const std::int32_t> counts, std::int64_t weight,
                                const std::int64_t (&amounts)[2]) const;
  [[nodiscard]] bool may_test(const NodeView::Column& column, std::size_t depth) const {
    return Dataset::may_test(data_.use(column.dataset), depth);
  }
  bool bound_children(std::size_t depth, Watch& watch, const Expansion& out);
  // Of splits that are bounded by `upper`.
  bool scan_pairs(std::size_t depth, Cost upper, std::uint32_t leaves, Watch& watch,
                  Expansion& out);
  [[nodiscard]] std::uint32_t split_below(const PairScan& scan, std::size_t p, int side,
                                          std::size_t depth, Cost target, Cost (&leaf)[2],
                                          Watch& watch);

  const Posterior& posterior_;
  const TestCosts test_costs_;
  const Dataset& data_;
  const bool costs_differ_;  // of tests: by weight, or because some may not be tested
  const Bounds* root_bounds_;
  const Bounds* bounds_;  // of the expansion under way
  const Options& options_;
  const bool rows_folded_;
  const PairKernel& kernel_;
  NodeView view_;
  std::vector<const std::int64_t*> mixed_, pure_;  // tables, by class of the view
  std::vector<Child> children_;
  std::vector<std::uint32_t> order_;
  std::vector<std::int64_t> test_cost_;  // in that order, where they differ
  SetCounts counts_;
  std::optional<SpanExpander> spans_;  // where columns are ordered
};

}  // namespace maptree
