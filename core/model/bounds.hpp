// Bounds: admissible lower bounds on the cost of a set of rows, from its counts alone.
//
// What is known of a set at depth d: class counts c, number D of distinct rows, and its impure
// groups (identical rows of several classes): `rest` = c without them, `groups` = sum of their
// maximum likelihood costs. Then
//   lone leaf   >= leaf(c) + (D > 1 ? stop_lower(d) : 0)
//   any split   >= floor(d, D) + max(groups + sum_k pure_k(rest_k), sum_k pure_k(c_k))
// The theorems and their proofs are in docs/design/bounds.md; in short
//   B1 perfect split    leaves of one class each are the cheapest way to part the classes (P1, P2)
//   B2 distinct rows    D distinct rows vary in at least ceil(log2 D) columns, which the test of a
//                       split is one of, and can stop for nothing only where D = 1
//   B3 structure        floor: the cheapest skeleton of a tree over D distinct rows
//   B4 equivalent rows  a leaf that holds an impure group pays at least its entropy
//   B5 varying columns  a part larger than the commoner value of a column has both values of it
// Without distinct-row knowledge (a switch), D counts rows and only D = 1 is informative.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "control/options.hpp"
#include "model/cost.hpp"
#include "model/posterior.hpp"

namespace maptree {

inline constexpr std::size_t transfer_cap = 8;  // levels between which bounds are transferred
inline constexpr std::int32_t floor_cap = 64;   // floor(d, D) is the same for all D >= floor_cap
inline constexpr std::size_t level_cap = 4096;  // all deeper levels have bounds in common

struct LevelBounds {
  std::array<std::int64_t, floor_cap + 1> floor;  // by min(D, floor_cap); infinite for D <= 1
  std::array<Cost, transfer_cap + 1> transfer;    // by levels (Bounds::transferred)
  Cost shrink;                                    // Bounds::shrink_slack
};

// What is counted of a set of rows (see above).
struct SetCounts {
  std::vector<std::int32_t> classes;
  std::vector<std::int32_t> rest;
  std::span<const std::int32_t> numbers;  // of these classes; empty: they are all there are
  std::int64_t groups = 0;
  std::int32_t weight = 0;    // sum of classes
  std::int32_t distinct = 0;  // rows, where they are not folded
  std::int64_t amounts[2] = {0, 0};

  void clear(std::size_t n_classes);
  // Adds `rows` distinct rows of this pattern each.
  void add(std::span<const ClassWeight> pattern, std::int32_t rows, std::int64_t group_floor);
};

struct Bracket {
  Cost lower;  // of the optimum
  Cost upper;  // of the lone leaf
};

class Bounds {
 public:
  Bounds(const Posterior& posterior, const Dataset& data, const Options& options);

  [[nodiscard]] const LevelBounds& level(std::size_t depth) const {
    return levels_[depth < levels_.size() ? depth : levels_.size() - 1];
  }
  // What a lone leaf with D > 1 pays at least and at most.
  [[nodiscard]] Cost stop_lower(std::size_t depth) const {
    return distinct_ ? posterior_.stop(depth) : Cost(0);
  }
  [[nodiscard]] Cost stop_upper(std::size_t depth) const { return posterior_.stop(depth); }
  // Whether trees may only have so many levels.
  [[nodiscard]] bool limited() const { return max_depth_ >= 0; }
  // Whether a node at this depth may be split.
  [[nodiscard]] bool may_split(std::size_t depth) const {
    return max_depth_ < 0 || depth < static_cast<std::size_t>(max_depth_);
  }
  // The bounds of the header comment for one set, given the least that its split pays for a test;
  // the pair kernel computes the same for many.
  [[nodiscard]] Bracket bracket(const SetCounts& set, std::size_t depth, Cost test = Cost(0)) const;
  // floor(d, D) for D = `rows` where a split pays at least that for its test.
  [[nodiscard]] std::int64_t floor(std::size_t depth, std::int32_t rows, Cost test) const {
    const auto r = static_cast<std::size_t>(std::min(rows, floor_cap));
    return level(depth).floor[r] + std::max<std::int64_t>(0, test.units() - counted_[r]);
  }
  // B5: the least that a split pays for its test, log(W / w), where columns of this weight in all
  // are known to vary, the heaviest of them of weight `heaviest`, and any other that may vary is of
  // weight `other` at most.
  [[nodiscard]] Cost least_test_cost(std::int64_t weight, std::int64_t heaviest,
                                     std::int64_t other) const;
  // The same where all weights are 1.
  [[nodiscard]] Cost least_test_cost(std::int64_t weight) const {
    return posterior_.log_weight(weight);
  }
  // B6: the least that a split of so many distinct rows pays for its test, as far as ordered
  // columns tell; one of the terms of `floor` for up to floor_cap rows.
  [[nodiscard]] Cost spanned_cost(std::size_t rows) const;
  // T: a lower bound on the trees that split some rows at `depth`, from one on all trees on the
  // same rows at the depth `from`, nearer the root.
  [[nodiscard]] Cost transferred(Cost lower, std::size_t from, std::size_t depth) const {
    return depth - from > transfer_cap ? Cost(0) : lower + level(depth).transfer[depth - from];
  }
  // M: the optimum of a set of rows at this depth is at most so much above that of any larger set,
  // where min_samples_leaf is 1.
  [[nodiscard]] Cost shrink_slack(std::size_t depth) const { return level(depth).shrink; }
  // A lower bound on every tree.
  [[nodiscard]] Cost root_lower() const { return root_lower_; }
  // Sum of group floors per row of each segment; zero for segments of one class.
  [[nodiscard]] Cost group_floor(std::size_t segment) const { return group_floor_[segment]; }
  [[nodiscard]] std::size_t bytes() const {
    return levels_.size() * sizeof(LevelBounds) + group_floor_.size() * sizeof(Cost);
  }
  [[nodiscard]] static std::size_t bytes_for(const Dataset& data) {
    return std::min(Posterior::depths_for(data), level_cap + 1) * sizeof(LevelBounds) +
           data.segments().size() * sizeof(Cost);
  }

 private:
  const Posterior& posterior_;
  std::int32_t min_leaf_;
  std::int64_t max_depth_;
  bool distinct_;  // rows are told apart
  const Dataset& data_;
  const std::int64_t heaviest_;  // of the weights of tests
  // By min(D, floor_cap): what of `floor` is paid for a test; infinite where no more may be
  // charged.
  std::array<std::int64_t, floor_cap + 1> counted_;
  std::vector<LevelBounds> levels_;
  std::vector<Cost> group_floor_;
  Cost root_lower_;
};

}  // namespace maptree
