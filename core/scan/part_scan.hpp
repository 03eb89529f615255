// PartScan: the bounds of the two parts that a split makes of a node's rows, from all their own
// splits: every threshold of every ordered column and every other column, one level down.
//
// Rows are visited in the order of a column, and each is added to the low side of its own part;
// what the classes of both sides cost is kept up to date by table steps, whatever the number of
// classes. So one pass over a column gives the bounds of all its thresholds in both parts.
//
// Where a node has few classes their counts before every row of an order are made first, all those
// of a part in one number. Thresholds are then bounded as spans are: those between two cuts have
// more rows below than the first and more above than the second, and what a side costs does not
// fall with more rows. So most cuts are passed over, in a bisection that starts with all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "control/options.hpp"
#include "model/bounds.hpp"
#include "scan/ordered_view.hpp"

namespace maptree {

inline constexpr std::uint32_t no_test = UINT32_MAX;

struct PartBounds {
  Cost lower;  // of every tree on the part
  Cost loose;  // the same without min_samples_leaf: does not fall with more rows
  Cost leaf;
  Cost upper;                    // of the leaf, or of the best split, its test and two leaves
  std::uint32_t best = no_test;  // that split, whether it pays or not
  Cost leaves[2];                // of its sides
  std::int64_t weight = 0;
  std::int64_t varying = 0;

  // The split behind `upper`; none: it is the leaf.
  [[nodiscard]] std::uint32_t below() const { return upper < leaf ? best : no_test; }
};

class PartScan {
 public:
  PartScan(const Dataset& data, const Posterior& posterior, const Options& options);

  // Of parts whose root is at `depth`.
  void start(const OrderedView& view, const Bounds& bounds, std::size_t depth);
  // `side`: by place, which of the two parts a row is in. A part that is empty has no bounds.
  // False when stopped.
  bool scan(std::span<const std::uint8_t> side, Watch& watch, PartBounds (&out)[2]);
  // The ordered columns by how well their best cuts part all rows into two leaves, the best first.
  // False when stopped.
  struct BestCut {
    std::int64_t cost;
    std::uint32_t column, cut;  // of the view
  };
  bool find_best_cuts(Watch& watch, std::vector<BestCut>& out);
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] static std::size_t bytes_for(const Dataset& data);

 private:
  struct Best {
    std::int64_t lower, loose, upper;
    std::uint32_t column;  // of the view's ordered columns, then of the others
    // Places of rows on either side of the threshold; or, where counted_, where its cut is.
    std::uint32_t from, to;
    std::int64_t leaves[2];
  };
  // A part, what of it is on the low side, and what both sides cost.
  struct Part {
    std::vector<std::int32_t> classes, rest, low, low_rest;
    std::int64_t groups = 0;
    std::int32_t weight = 0, distinct = 0;
    std::int64_t mixed = 0, pure = 0, apart = 0;  // of all of it

    std::int64_t mixed_of[2], pure_of[2], apart_of[2];  // by side: 1 is low
    std::int32_t low_weight = 0, low_distinct = 0;
    Best best;
  };

  void count(std::span<const std::uint8_t> side);
  void add_varying(std::uint32_t column, std::span<const std::uint8_t> side);
  template <bool LeavesOnly, bool Grouped>
  void scan_ordered(std::uint32_t column, std::span<const std::uint8_t> side);
  // In counted_parts.cpp:
  [[nodiscard]] static std::size_t words_needed(const Dataset& data);  // of a row, at most
  void choose_counters();
  void find_span_codes();
  void find_few_leaves();
  void make_ones(std::span<const std::uint8_t> side);
  template <std::size_t Words>
  void sum_rows(std::uint32_t column);
  template <bool LeavesOnly, std::size_t K, unsigned Bits, std::size_t Words>
  void scan_counted(std::uint32_t column);
  template <bool LeavesOnly>
  void scan_spans(std::uint32_t column);
  // What a threshold costs, by code; nothing where all weights are 1.
  [[nodiscard]] std::int64_t test_cost(OrderedColumns::Code code) const {
    return of_codes_ == nullptr ? 0 : of_codes_[code].units();
  }
  template <bool LeavesOnly, bool Grouped>
  void scan_binary(std::uint32_t column);
  template <bool LeavesOnly, bool Grouped>
  bool scan_all(std::span<const std::uint8_t> side, Watch& watch);
  template <bool LeavesOnly, bool Grouped>
  static void add(Part& part, const PartScan& tables, std::int32_t k, std::int32_t weight,
                  bool group);
  void reset(Part& part) const;
  template <bool LeavesOnly, bool Grouped>
  void evaluate(Part& part, std::uint32_t column, std::uint32_t from, std::uint32_t to,
                std::int64_t test) const;
  void finish(const Part& part, std::span<const std::uint8_t> side, int s, PartBounds& out) const;

  const Dataset& data_;
  const Posterior& posterior_;
  const Options& options_;
  const OrderedView* view_ = nullptr;
  const Bounds* bounds_ = nullptr;
  std::size_t depth_ = 0;
  bool may_split_ = false, leaves_only_ = false;
  std::int64_t stop_lower_ = 0, stop_upper_ = 0;
  std::vector<std::int64_t> floor_;  // by distinct rows
  // B7, where it is used: by rows what the first split pays, what another one pays, and up to how
  // many rows no split pays.
  bool few_leaves_ = false;
  std::vector<std::int64_t> first_split_;
  std::int64_t second_split_ = 0;
  std::int32_t lone_rows_ = 0;
  const std::int64_t* rising_ = nullptr;
  std::vector<const std::int64_t*> mixed_, pure_;
  std::vector<Word> mask_;  // places of part 1
  std::vector<std::uint8_t> everywhere_;
  const Cost* of_codes_ = nullptr;

  // Counting by several counters in a word: one a class, and one for rows where these do not all
  // count one. Both parts are in one word where there is room.
  bool counted_ = false, unit_rows_ = false;
  unsigned counter_bits_ = 0;
  std::size_t n_counters_ = 0, n_words_ = 0;  // of a part; of both parts
  std::vector<std::uint64_t> ones_;           // of a row, by place
  std::vector<std::uint64_t> sums_;           // of all rows before one, by place in an order
  // By cut: the least code of those that a bisection has it in the middle of.
  std::vector<OrderedColumns::Code> span_codes_;
  std::uint32_t last_best_[2] = {};  // columns
  Part parts_[2];
  std::int64_t varying_[2] = {};
};

}  // namespace maptree
