// NodeView: one node's rows, repacked so that only they are touched while its children are
// bounded, and its columns, one per partition of these rows.
//
// The rows of each segment become half words of their own (a run), columns lie side by side:
// words[w * stride + column], so that one vector instruction handles the same half word of many.
// Columns are taken relative to the first row: its value is 0 in every column. Equal and
// complementary columns are then equal words, and a constant column is empty.
//
// Use: view.load(rows, watch), then columns() and count_side(); arrange(order, watch) makes the
// words to scan.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "control/control.hpp"
#include "control/options.hpp"
#include "data/dataset.hpp"
#include "model/bounds.hpp"
#include "scan/expansion.hpp"
#include "scan/pair_kernel.hpp"

namespace maptree {

// Calls visit(first, last) for parts of `n` columns, whole blocks of `lanes` each of which takes
// about this much work, so that the clock can be read between them. False when stopped.
template <class Visit>
bool in_parts(std::size_t n, std::int64_t block_work, Watch& watch, Visit&& visit) {
  constexpr std::int64_t part_work = 250'000;
  const auto blocks = static_cast<std::size_t>(std::max<std::int64_t>(part_work / block_work, 1));
  for (std::size_t first = 0; first < n; first += blocks * lanes) {
    const std::size_t last = std::min(n, first + blocks * lanes);
    if (watch.poll(static_cast<std::int64_t>((last - first) / lanes) * block_work)) return false;
    visit(first, last);
  }
  return true;
}

class NodeView {
 public:
  NodeView(const Dataset& data, const Bounds& bounds, const Options& options);

  struct Column {
    std::uint32_t dataset = 0;      // the column of the dataset, the heaviest of its equals
    std::int32_t multiplicity = 0;  // of the caller's columns that part these rows alike, in weight
    bool flipped = false;           // value 1 here is value 0 there
  };

  // Repacks the rows and finds the columns that vary on them. False when stopped: then the view is
  // void.
  bool load(const RowSet& rows, Watch& watch);
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  // W: the weight of all columns that vary.
  [[nodiscard]] std::int64_t varying() const { return varying_; }
  // Of the classes that the rows have, where there are many; else of all, as it takes less time.
  [[nodiscard]] const SetCounts& total() const { return total_; }
  // B5: the least that a split of any part with a given number of distinct rows pays for its test.
  [[nodiscard]] Cost test_cost_on(std::int32_t rows) const {
    const auto at = static_cast<std::size_t>(rows);
    return weighted_ ? test_cost_on_[at] : bounds_.least_test_cost(varying_on_[at]);
  }
  // For the floors that go with it.
  [[nodiscard]] std::vector<std::int64_t>& part_floor() { return part_floor_; }
  // Counts of the rows where column c has value `side` (relative to the first row).
  void count_side(std::size_t c, int side, SetCounts& out) const;

  // Puts the columns in this order and returns what the pair kernel needs but the tables; columns
  // keep their numbers in `columns()`, the scan's are positions in `order`.
  // Null when stopped.
  PairScan* arrange(std::span<const std::uint32_t> order, Watch& watch);
  // What rows with amounts cost, for the scan that arrange() made.
  void set_costs(const SumCosts& costs) { amounts_.scan.costs = costs; }
  [[nodiscard]] std::size_t n_half_words() const { return slots_.size() / 32; }
  // How many rows of pairs are scanned at once: their counts of many classes would take much
  // memory.
  [[nodiscard]] std::size_t n_at_once() const { return n_at_once_; }
  // What it takes to count a block of `lanes` columns.
  [[nodiscard]] std::int64_t work_of_counts() const {
    return static_cast<std::int64_t>(2 * (n_half_words() + 8 * runs_.size()) +
                                     4 * total_.classes.size());
  }
  [[nodiscard]] std::size_t bytes() const;
  // What bytes() will be, known before the view is made.
  [[nodiscard]] static std::size_t bytes_for(const Dataset& data, const Options& options);
  // Columns of a scan, filled up to whole lanes.
  [[nodiscard]] static std::size_t stride_of(std::size_t n_columns) {
    return (n_columns + lanes - 1) / lanes * lanes;
  }

 private:
  struct Buffers {  // PairCounts with their memory
    std::vector<std::int32_t> classes, distinct, rest;
    std::vector<std::int64_t> groups;
    PairCounts counts;
    void reserve(std::size_t n_classes, std::size_t stride, bool grouped);
    // To zeros. False when stopped.
    [[nodiscard]] bool reset(std::size_t n_classes, std::size_t stride, bool grouped, Watch& watch);
  };

  // A scan of these words that counts, without tables or results.
  [[nodiscard]] PairScan describe(const std::vector<std::uint32_t>& words,
                                  std::size_t stride) const;
  // These return false when stopped.
  bool pack_rows(const RowSet& rows, Watch& watch);
  void add_pattern(const Segment& segment, PairRun& run);
  bool transpose_rows(Watch& watch);
  bool count_columns(Watch& watch);
  bool find_columns(Watch& watch);
  bool find_varying_parts(Watch& watch);
  bool find_test_costs(Watch& watch);
  bool sum_columns(Watch& watch);
  bool arrange_amounts(std::span<const std::uint32_t> order, Watch& watch);
  [[nodiscard]] bool same_words(std::size_t a, std::size_t b) const;

  const Dataset& data_;
  const Bounds& bounds_;
  const PairKernel& kernel_;
  bool compact_;
  bool fold_columns_;
  bool all_classes_;  // are numbered as they are; else those that the rows have
  bool grouped_;      // some node may have impure groups
  bool weighted_;     // Dataset::weighted
  std::size_t n_at_once_;

  std::vector<std::uint32_t> slots_;  // rows by half word; no_slot where there is none
  std::vector<PairRun> runs_;
  std::vector<std::int32_t> numbers_;  // of the classes here
  std::vector<std::int32_t> place_;    // by class: where it is in numbers_, -1: nowhere
  Pattern patterns_;                   // of the runs, by these places
  const std::uint8_t* first_row_ = nullptr;
  bool folded_ = false;
  std::size_t raw_stride_ = 0;
  std::vector<std::uint32_t> raw_;  // all columns of the dataset
  Buffers raw_one_;
  std::vector<std::int32_t> ones_;  // rows where a column is 1, by column
  std::vector<std::uint32_t> hash_;
  std::vector<std::uint32_t> table_;
  std::vector<Column> columns_;
  std::int64_t varying_ = 0;
  SetCounts total_;
  // By distinct rows of a part: what columns weigh that are known to vary, the heaviest of them,
  // and the least cost of a test; the last two where weights are not all 1.
  std::vector<std::int32_t> varying_on_, heaviest_on_;
  std::vector<Cost> test_cost_on_;
  std::vector<std::int64_t> part_floor_;

  std::vector<std::uint32_t> words_;  // the arranged columns
  std::vector<std::int32_t> multiplicity_;
  Buffers one_, both_;
  std::vector<std::int64_t> lower_[2], upper_[2];
  std::vector<std::int32_t> varying_of_[2];
  PairScan scan_;

  // Where rows have amounts (pair_kernel.hpp).
  struct AmountBuffers {
    std::vector<std::int64_t> values[2], listed[2];  // by place; of some rows
    std::vector<std::uint32_t> places;               // of these
    std::vector<std::int64_t> raw[2], one[2], both[2];
    std::vector<std::uint8_t> rows;  // the arranged columns, by place
    PairAmounts scan;
  };
  AmountBuffers amounts_;
};

}  // namespace maptree
