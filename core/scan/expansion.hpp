// Expansion: what one look at a node's rows tells of all its splits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "control/options.hpp"
#include "model/cost.hpp"

namespace maptree {

inline constexpr std::uint32_t no_column = UINT32_MAX;

// How many leaves a tree may have, where that is limited.
inline constexpr std::uint32_t any_leaves = 255;

// A split, or a span of thresholds of one column that have a bound in common.
struct Tests {
  // In test builds few, so that small problems have spans that do not fit, too.
#if defined(MAPTREE_SMALL_BLOCKS)
  static constexpr unsigned extent_bits = 3;
#else
  static constexpr unsigned extent_bits = 23;
#endif
  std::uint32_t column = no_column;        // the test; of a span, the first
  std::uint32_t extent : extent_bits = 0;  // of a span: how many tests the last is after the first
  // Where leaves are limited: how many of its node's are for side 0, the rest being for side 1.
  std::uint32_t share : 7 = 0;
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
  // Bounds of the trees of at most one and two leaves on a side; 0 where nothing is known.
  Cost few[2][2];

  // What trees of at most so many leaves on a side cost at least.
  [[nodiscard]] Cost lower_of(int side, std::uint32_t leaves) const {
    return leaves > 2 ? lower[side] : std::max(lower[side], few[side][leaves - 1]);
  }
};

// Side 0 or 1 of a split: the leaf, or the cheapest split with two leaves, if that is cheaper.
struct Below {
  Cost leaf;
  Cost two;  // at most `leaf`
};
// Which of them make the cheapest tree of at most so many leaves, two or more: whether a side is
// split.
struct SmallTree {
  Cost cost;  // of both sides
  bool split[2];
};
[[nodiscard]] inline SmallTree cheapest_of(const Below (&sides)[2], std::uint32_t leaves) {
  const bool pays[2] = {sides[0].two < sides[0].leaf, sides[1].two < sides[1].leaf};
  if (leaves >= 4) return {sides[0].two + sides[1].two, {pays[0], pays[1]}};
  const Cost first = sides[0].two + sides[1].leaf, second = sides[0].leaf + sides[1].two;
  if (leaves == 3 && first <= second && pays[0]) return {first, {true, false}};
  if (leaves == 3 && pays[1]) return {second, {false, true}};
  return {sides[0].leaf + sides[1].leaf, {false, false}};
}

// Which splits an expansion is about: those that may be cheaper than the node's leaf, which is all
// that a best tree needs; or all that are bounded by `upper`, whatever the leaf costs.
enum class Keep { below_leaf, all };

struct Expansion {
  std::int64_t varying = 0;  // W, the weight of the tests that vary
  Cost leaf;
  Cost base;  // split(d) + log W, what every split pays; beside it, its test's cost
  std::vector<SplitBounds> splits;
  // Of the splits that were left out for what they cost at least, the least that any costs.
  Cost rest = Cost::infinity();
  // Of the spans that were given, those that `splits` take the place of.
  std::vector<std::uint32_t> parted;
  // The cheapest split by upper bounds, where these are known (pair expansion), and its cost.
  std::uint32_t best = no_column;
  std::uint32_t best_share = 0;  // how it shares out leaves (Tests)
  Cost best_cost;
  Cost best_upper[2];
  std::uint32_t best_below[2] = {no_column, no_column};  // a child's own split; none: a leaf
  Cost best_leaf[2][2];                                  // of the two leaves below that
};

}  // namespace maptree
