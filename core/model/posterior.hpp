// Posterior: the prior over trees and the Dirichlet-multinomial likelihood of leaves, as tables.
//
// cost(tree) = sum over inner nodes of split(d) + log_weight(W) - log_weight(w)
//            + sum over leaves of (W > 0 ? stop(d) : 0) + leaf(counts),
// w the weight of the node's test and W the sum of the weights of all tests that vary on its rows:
// their number |V| where all weights are 1.
//
// Every table entry is rounded once, and in such a way that the two inequalities the bounds rest on
// hold exactly between the rounded numbers, with no slack (docs/design/bounds.md):
//   P1  leaf(c) >= sum_k pure_k(c_k)              mixing classes never pays
//   P2  pure_k(a + b) <= pure_k(a) + pure_k(b)    parting one class never pays
// For this pure_k and rising are sums of rounded steps, the steps kept monotone:
//   pure_k(c)  = sum_{t<c} log((t + R) / (t + rho_k))    concave
//   rising(n)  = sum_{t<n} log(t + R)                    convex
//   leaf(c)    = sum_k pure_k(c_k) + rising(n) - sum_k rising(c_k)
// with R = sum rho, which is -log(B(c + rho) / B(rho)) up to rounding.
//
// A price of leaves (priced) is added to every split. It prefers small trees: a tree of k leaves
// costs k - 1 times as much more. All bounds stand as they are (docs/design/sizes.md).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "control/control.hpp"
#include "data/dataset.hpp"
#include "memory/page_memory.hpp"
#include "model/cost.hpp"
#include "model/sum_leaves.hpp"

namespace maptree {

inline constexpr double min_rho = 1e-9;  // beyond these a step of the tables is not exact enough
inline constexpr double max_rho = 1e9;
inline constexpr double max_beta =
    1e6;  // beyond it the cost of a split could leave the range of Cost
inline constexpr double most_paid_for_leaves = 1e8;  // nats, by one tree; the same

struct Prior {
  double alpha = 0.95;      // p_split(d) = alpha * (1 + d)^-beta; 0 < alpha < 1
  double beta = 0.5;        // 0 to max_beta
  std::vector<double> rho;  // one per class, min_rho to max_rho
  LeafModel leaves = {};    // where the outcome is not a class; then there is one, of any rho
};

// What a split pays for its own test, in addition to the `base` that all splits of its node pay:
// minus the log of the test's weight. A view of a table of the posterior.
class TestCosts {
 public:
  TestCosts() = default;  // all weights are 1
  // Of columns, and of thresholds by the code of their weight (ordered_columns.hpp).
  explicit TestCosts(std::span<const Cost> of_columns, const OrderedColumns* ordered = nullptr,
                     std::span<const Cost> of_codes = {})
      : weighted_(!of_columns.empty() || !of_codes.empty()),
        n_columns_(of_columns.size()),
        of_columns_(of_columns.data()),
        of_codes_(of_codes.data()),
        ordered_(ordered) {}

  // By test of the dataset.
  [[nodiscard]] Cost operator[](std::size_t test) const {
    if (!weighted_) return Cost(0);
    if (test < n_columns_) return of_columns_[test];
    return of_codes_[ordered_->code(static_cast<std::uint32_t>(test - n_columns_))];
  }
  // The least of several tests, from the first to the last: one, or thresholds of one column.
  [[nodiscard]] Cost least(std::size_t first, std::size_t last) const {
    if (!weighted_ || first == last) return (*this)[first];
    const auto at = static_cast<std::uint32_t>(first - n_columns_);
    return of_codes_[ordered_->least_code(at, at + static_cast<std::uint32_t>(last - first) + 1)];
  }
  [[nodiscard]] const Cost* of_codes() const { return of_codes_; }

 private:
  bool weighted_ = false;
  std::size_t n_columns_ = 0;
  const Cost* of_columns_ = nullptr;
  const Cost* of_codes_ = nullptr;
  const OrderedColumns* ordered_ = nullptr;
};

class Posterior {
 public:
  // Throws std::invalid_argument for a prior out of range. The tables grow with the weight of the
  // rows; where the watch says stop while they are filled, they are not complete().
  Posterior(const Prior& prior, const Dataset& data, Watch& watch = no_watch());
  static void check(const Prior& prior, const Dataset& data);
  // Adds this to what every split pays: in place, or in a copy that shares the large tables.
  void add_price(Cost price);
  [[nodiscard]] Posterior priced(Cost price) const;
  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] static std::size_t depths_for(const Dataset& data) {
    return std::min(data.n_tests(), data.n_distinct_rows()) + 3;
  }
  // What the tables will take, known before they are made.
  [[nodiscard]] static std::size_t bytes_for(const Dataset& data, const LeafModel& leaves = {});

  [[nodiscard]] int n_classes() const { return static_cast<int>(tables_->start.size()); }
  [[nodiscard]] Cost split(std::size_t depth) const { return split_[clamp(depth)]; }
  [[nodiscard]] Cost stop(std::size_t depth) const { return stop_[clamp(depth)]; }
  // log of a sum of weights of tests. A table has those that are sums of ones; others are rounded
  // one by one, and rise with the sum up to max_test_weight (docs/design/bounds.md, section 1).
  [[nodiscard]] Cost log_weight(std::int64_t sum) const {
    const auto at = static_cast<std::size_t>(sum);
    return at < log_weight_.size() ? Cost(log_weight_[at])
                                   : Cost::nearest(std::log(static_cast<double>(sum)));
  }
  [[nodiscard]] TestCosts test_costs() const {
    return TestCosts(test_costs_, &data_.ordered(), code_costs_);
  }
  // By the sums that Dataset::count gives.
  [[nodiscard]] Cost leaf(std::span<const std::int64_t> sums) const;
  // Its part for the amounts of rows; 0 where the outcome is a class.
  [[nodiscard]] Cost of_amounts(std::int64_t n, const std::int64_t (&amounts)[2]) const {
    return sum_leaves_ ? sum_leaves_->leaf(n, amounts[0], amounts[1]) : Cost(0);
  }
  [[nodiscard]] const SumCosts* sum_costs() const {
    return sum_leaves_ ? &sum_leaves_->costs() : nullptr;
  }
  // What is to be added to the cost of every tree.
  [[nodiscard]] Cost offset() const { return sum_leaves_ ? sum_leaves_->offset() : Cost(0); }
  [[nodiscard]] Cost pure(int k, std::int64_t count) const { return Cost(pure_table(k)[count]); }
  // A lower bound on what a group of identical rows adds to any leaf: its maximum likelihood
  // cost, rounded below by more than all roundings of the tables it is compared with.
  [[nodiscard]] Cost group_floor(const Pattern& group) const;

  // The raw tables, for the kernels: leaf(c) = rising[n] - sum_k mixed_k[c_k].
  [[nodiscard]] const std::int64_t* rising_table() const { return tables_->rising.data(); }
  [[nodiscard]] const std::int64_t* mixed_table(int k) const {
    return tables_->mixed.data() + tables_->start[static_cast<std::size_t>(k)];
  }
  [[nodiscard]] const std::int64_t* pure_table(int k) const {
    return tables_->pure.data() + tables_->start[static_cast<std::size_t>(k)];
  }
  // With two classes: leaf and pure cost of small counts side by side, so that the kernels find
  // both with two look-ups instead of five. Entry 2 * (c_0 * stride + c_1): pure; the next: leaf.
  struct TwoClassTable {
    std::vector<std::int64_t> entries;
    std::int32_t stride = 0;     // odd: a power of two would crowd a few sets of the cache
    std::int32_t limit[2] = {};  // counts below these are in the table
  };
  [[nodiscard]] const TwoClassTable& two_class_table() const { return tables_->two_class; }
  // Depths are at most this: no path tests a column twice, nor parts more rows than there are.
  [[nodiscard]] std::size_t max_depth() const { return split_.size() - 1; }
  [[nodiscard]] std::size_t bytes() const;
  // Of it, what is not shared with others of another price.
  [[nodiscard]] std::size_t own_bytes() const;

 private:
  // By count, and therefore large.
  struct Tables {
    using Table = PageVector<std::int64_t>;
    Table rising;
    std::vector<std::size_t> start;  // of a class in the next two, which hold one after the other
    Table pure;
    Table mixed;  // rising - pure
    TwoClassTable two_class;
  };
  [[nodiscard]] bool fill_counts(const Prior& prior, std::span<const std::int64_t> class_total,
                                 Watch& watch);
  void fill_two_class_table();
  [[nodiscard]] std::size_t clamp(std::size_t d) const {
    return d < split_.size() ? d : max_depth();
  }

  const Dataset& data_;
  bool complete_ = true;
  std::vector<Cost> split_;
  std::vector<Cost> stop_;
  std::vector<std::int64_t> log_weight_;
  std::vector<Cost> test_costs_;  // by column of the dataset; empty: all weights are 1
  std::vector<Cost> code_costs_;  // by code of a weight of thresholds
  std::shared_ptr<Tables> tables_ = std::make_shared<Tables>();
  std::shared_ptr<const SumLeaves> sum_leaves_;  // where the outcome is not a class
};

// What the lone leaf costs, where there was no time or memory for the tables. Rounded on its own:
// not to be compared with costs from them. Nothing is to be added to it.
[[nodiscard]] Cost lone_leaf_cost(const Prior& prior, const Dataset& data);

}  // namespace maptree
