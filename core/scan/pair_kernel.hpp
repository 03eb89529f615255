// Pair kernel: the inner loop of the search. For one column i of a node it counts i AND j for all
// later columns j, and from the counts of the four grandchildren bounds every tree of depth two.
//
// Plain arrays and function pointers: one algorithm (kernels/pair_scan.hpp) is compiled for several
// instruction sets (kernels/*.cpp) and chosen at run time. All compute the same integers.
//
// For a column j and a side s, "child (j, s)" is the set of the node's rows where j has value s.
#pragma once

#include <cstddef>
#include <cstdint>

#include "control/options.hpp"
#include "data/class_weight.hpp"
#include "model/sum_costs.hpp"

namespace maptree {

// Columns are padded to whole lanes with empty columns, which never are a valid split.
inline constexpr std::size_t lanes = 16;
inline constexpr std::size_t rows_at_once = 4;

// Consecutive half words whose rows share a pattern of class weights.
struct PairRun {
  std::uint32_t first = 0, last = 0;     // half words [first, last)
  std::int32_t unit_class = -1;          // >= 0: one row of that class
  const ClassWeight* pattern = nullptr;  // by class of the scan
  std::size_t n_classes = 0;             // of the pattern
  std::int64_t group_floor = 0;
};

// What is counted of a set of rows. Arrays are [class * stride + column].
struct PairCounts {
  std::int32_t* classes = nullptr;
  std::int32_t* distinct = nullptr;  // only where PairScan::folded
  std::int32_t* rest = nullptr;      // only where grouped: classes without impure groups
  std::int64_t* groups = nullptr;    // only where grouped: sum of group floors
};

// Of rows that have amounts (docs/design/outcomes.md). Both of a row are in one number where all
// sums of the node fit into one: the second times 2^shift plus the first.
struct PairAmounts {
  const std::uint8_t* rows = nullptr;  // by place: bit j % 8 of byte j / 8 is column j
  std::size_t row_bytes = 0;
  const std::int64_t* values[2] = {};  // by place; only the first, where shift > 0
  unsigned shift = 0;
  const std::int64_t* one[2] = {};  // of child (j, 1)
  std::int64_t total[2] = {};
  std::int64_t* both[2] = {};  // scratch as PairScan::both
  // Scratch: the places of the rows where a column is one, and their values.
  std::uint32_t* places = nullptr;
  std::int64_t* listed[2] = {};
  SumCosts costs;
};

// Parts the sums of `lanes` columns.
inline void unpack_amounts(unsigned shift, std::int64_t* first, std::int64_t* second) {
  const unsigned rest = 64 - shift;
  for (std::size_t l = 0; l < lanes; ++l) {
    const std::int64_t packed = first[l];
    const auto low = static_cast<std::int64_t>(static_cast<std::uint64_t>(packed) << rest) >> rest;
    first[l] = low;
    second[l] = (packed - low) >> shift;
  }
}

struct PairScan {
  // The node's columns, half word by half word: words[w * stride + column].
  const std::uint32_t* words = nullptr;
  std::size_t stride = 0;  // multiple of `lanes`
  const PairRun* runs = nullptr;
  std::size_t n_runs = 0;
  int n_classes = 0;
  bool folded = false;   // some row stands for several: distinct rows are counted apart
  bool grouped = false;  // some of these are impure groups: so are these
  // The grandchildren are leaves: `upper` is all there is to know, `lower` is not written, and
  // neither `rest` nor `groups` of `both` is counted.
  bool leaves_only = false;

  PairCounts one;    // of child (j, 1)
  PairCounts total;  // of the node, with stride 1
  PairCounts both;   // scratch for rows_at_once columns i, zero at first: rows where i and j are 1
  const std::int32_t* multiplicity = nullptr;
  const std::int64_t* test_cost = nullptr;  // of a split on a column; null: all are 0

  // Tables (posterior.hpp, bounds.hpp) for the depth of the grandchildren.
  const std::int64_t* rising = nullptr;
  const std::int64_t* const* mixed = nullptr;
  const std::int64_t* const* pure = nullptr;
  const std::int64_t* two_class = nullptr;  // null unless it covers all counts of this node
  std::int32_t two_class_stride = 0;
  const std::int64_t* floor = nullptr;
  std::int32_t floor_cap = 0;
  std::int64_t stop_lower = 0, stop_upper = 0;
  std::int32_t min_leaf = 1;

  // Results for child (j, s), to be started at infinity and zero: the least sum over its splits of
  // the two grandchildren's lower bounds and leaf costs and the test's cost, and its W.
  std::int64_t* lower[2] = {};
  std::int64_t* upper[2] = {};
  std::int32_t* varying[2] = {};

  const PairAmounts* amounts = nullptr;  // null where the outcome is a class
};

// `first` and `last` are multiples of `lanes`: columns [first, last), so that the clock can be read
// between parts of a scan.
struct PairKernel {
  const char* name;
  // Handles the pairs (i, j) of `n` columns from `i` on, each with all j > i of the part.
  void (*scan_rows)(const PairScan&, std::size_t i, std::size_t n, std::size_t first,
                    std::size_t last);
  // Counts every column of the part over the node's runs (fills `out` as PairScan::one).
  void (*count_columns)(const PairScan&, const PairCounts& out, std::size_t first,
                        std::size_t last);
  // Fills the first row of PairScan::both for column i and every j of the part.
  void (*count_with)(const PairScan&, std::size_t i, std::size_t first, std::size_t last);
  // For `lanes` columns, whose bits begin at rows[row_bytes * places[i]]: the sums of values[i]
  // over all i where the bit is one.
  void (*sum_rows)(const std::uint8_t* rows, std::size_t row_bytes, const std::uint32_t* places,
                   const std::int64_t* values, std::size_t n, std::int64_t* sums);
};

// The kernel asked for; `automatic` is the best this processor can run.
// Throws std::invalid_argument where the processor or the build does not have it.
[[nodiscard]] const PairKernel& pair_kernel(Kernel kernel);
[[nodiscard]] bool kernel_available(Kernel kernel);

}  // namespace maptree
