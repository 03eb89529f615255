// Expansion: what one look at a node's rows tells of all its splits.
#pragma once

#include <cstdint>
#include <vector>

#include "model/cost.hpp"

namespace maptree {

inline constexpr std::uint32_t no_column = UINT32_MAX;

// A split, or a span of thresholds of one column that have a bound in common.
struct Tests {
  std::uint32_t column = no_column;  // the test; of a span, the first
  std::uint32_t extent : 30 = 0;     // of a span: how many tests the last is after the first
  // Of a span: whether its ends are yet to be looked at. Else they are splits of their own.
  std::uint32_t first_open : 1 = 0, last_open : 1 = 0;

  [[nodiscard]] bool is_span() const { return extent > 0; }
  [[nodiscard]] std::uint32_t last() const { return column + extent; }
  // The test that makes a side: of a span, the low side of the first and the high side of the last.
  [[nodiscard]] std::uint32_t test_of_side(int side) const { return side == 1 ? column : last(); }
  bool operator==(const Tests&) const = default;
};

// The bounds of the two children of a split, side 0 and 1 as in the dataset. Those of a span bound
// all of its thresholds (docs/design/bounds.md, result M). What the split itself pays is the node's
// base and its test's cost (TestCosts; of a span, the least), and is not in these.
struct SplitBounds : Tests {
  Cost lower[2];
  Cost upper[2];  // of a leaf or one more split; a hint where rows are not folded
};

struct Expansion {
  std::int64_t varying = 0;  // W, the weight of the tests that vary
  Cost leaf;
  Cost base;  // split(d) + log W, what every split pays; beside it, its test's cost
  std::vector<SplitBounds> splits;
  // Of the spans that were given, those that `splits` take the place of.
  std::vector<std::uint32_t> parted;
  // The cheapest split by upper bounds, where these are known (pair expansion), and its cost.
  std::uint32_t best = no_column;
  Cost best_cost;
  Cost best_upper[2];
  std::uint32_t best_below[2] = {no_column, no_column};  // a child's own split; none: a leaf
  Cost best_leaf[2][2];                                  // of the two leaves below that
};

}  // namespace maptree
