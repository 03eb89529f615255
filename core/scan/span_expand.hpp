// SpanExpander: one expansion where columns are ordered, by spans of thresholds.
//
// The low side of a threshold grows with the threshold, the high side shrinks. A bound that does
// not fall when rows are added (docs/design/bounds.md, result M) therefore bounds a whole span of
// thresholds [a, b] at once, by the low side of a and the high side of b. A span whose bound
// reaches the goal needs no look at its thresholds. One that cannot reach it, because trees are
// known for both that cost less, is parted: the cut in its middle is scanned (part_scan.hpp), which
// gives that threshold's own bounds, one level down, and better ones to the spans on either side.
// Where depth is limited, spans that may reach the goal but do not yet are left to the prover,
// which raises the bounds of their two sides as it does those of a split.
//
// The first cuts to be scanned are those that part the node best on their own. That finds a good
// tree soon, and what is left of large nodes can wait: an expansion ends after so much work.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scan/expansion.hpp"
#include "scan/part_scan.hpp"

namespace maptree {

class SpanExpander {
 public:
  SpanExpander(const Dataset& data, const Posterior& posterior, const Bounds& bounds,
               const Options& options);

  // Bounds the splits of a node until every span reaches the goal or may reach it, or for so long
  // as one expansion may take. `spans` are those that are known, to be parted further; without any
  // it begins with all columns. The tree that is found has `leaves` at most. With Keep::all spans
  // are parted down to single thresholds wherever they are below the goal, whatever trees are
  // known. False when stopped.
  bool expand(const Bounds& bounds, const RowSet& rows, std::size_t depth, Cost upper, Cost goal,
              std::span<const SplitBounds> spans, Watch& watch, Expansion& out,
              std::uint32_t leaves = any_leaves, Keep keep = Keep::below_leaf);
  // Whether bounds of the two sides of a span, once raised by a proof, raise that of the span.
  [[nodiscard]] bool may_raise(const Bounds& bounds, std::size_t depth) const;
  // What one scan tells of some rows: above all, the likeliest split. False when stopped.
  bool look(const Bounds& bounds, const RowSet& rows, std::size_t depth, Watch& watch,
            PartBounds& out);
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] static std::size_t bytes_for(const Dataset& data);

 private:
  // Thresholds by their cuts. The low side of the first cut and the high side of the last bound all
  // of them. An end that is not open is a split of its own by now.
  struct Span {
    Cost total;                 // the bound, without the node's base
    Cost test;                  // of it, the least cost of a test
    std::uint32_t column;       // of the view
    std::uint32_t first, last;  // cuts
    bool first_open, last_open;
    Cost lower[2];        // of the high side of the last cut, and of the low side of the first
    Cost upper[2];        // costs that trees on these reach; 0 where that is not known
    std::uint32_t given;  // the span it is a part of,
    std::uint32_t share;  // and how that one shares out leaves (Tests)

    // Cuts to look at.
    [[nodiscard]] std::uint32_t begin() const { return first + (first_open ? 0 : 1); }
    [[nodiscard]] std::uint32_t end() const { return last + (last_open ? 1 : 0); }
    bool operator<(const Span& other) const { return total > other.total; }  // least on top
  };

  // Whether the sides of a span bound it, however far they are raised.
  [[nodiscard]] bool sides_tell(const Bounds& bounds, std::size_t depth) const;
  bool begin(const RowSet& rows, std::size_t depth, Watch& watch, Expansion& out);
  bool look_at_leaves(const Bounds& bounds, std::size_t depth, Watch& watch, Expansion& out);
  void add_given(std::span<const SplitBounds> spans);
  void push(Span span);
  bool part_columns(Watch& watch, Expansion& out);
  bool part(const Span& span, std::uint32_t cut, Watch& watch, Expansion& out);
  bool try_binary(Watch& watch, Expansion& out);
  void note(SplitBounds& split, const PartBounds (&parts)[2], Expansion& out);
  [[nodiscard]] std::uint32_t test_of(const Span& span, std::uint32_t cut) const;
  [[nodiscard]] bool is_allowed(const Span& span) const;
  [[nodiscard]] SplitBounds record(const Span& span) const;
  void record_parts(const Span& span, Expansion& out) const;

  const Dataset& data_;
  const Posterior& posterior_;
  const Options& options_;
  OrderedView view_;
  PartScan scan_;
  std::vector<std::uint8_t> side_;
  std::vector<Span> heap_, left_;
  std::vector<PartScan::BestCut> best_cuts_;
  std::int64_t scans_left_ = 0;
  std::uint32_t leaves_ = any_leaves;
  std::size_t depth_ = 0;
  Cost best_;   // of the trees found, without the base
  Cost slack_;  // result M: what a bound may fall by when rows are added
};

}  // namespace maptree
