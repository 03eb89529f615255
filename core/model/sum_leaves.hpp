// SumLeaves: the leaf models of numbers and counts (docs/design/outcomes.md), as a table for
// SumCosts.
//
// Costs are given less `offset`, which is the same for every tree: a floor of what each row (a
// number) or each event (a count) adds to a leaf, whatever leaf it is in. So no leaf costs less
// than 0, which is all that is known of the likelihood of trees that split (result B8 of
// docs/design/bounds.md).
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "control/control.hpp"
#include "data/dataset.hpp"
#include "memory/page_memory.hpp"
#include "model/cost.hpp"
#include "model/sum_costs.hpp"

namespace maptree {

// u = z / steps ~ N(mean, v), mean ~ N(0, v / kappa), v ~ Inverse-Gamma(nu / 2, nu lambda / 2).
// Amounts of a row: z, z^2.
struct NumberLeaves {
  double kappa = 0.1;
  double nu = 3;
  double lambda = 0.1;
  double steps = 256;
};

// y ~ Poisson(rate e / units), rate ~ Gamma(shape, `rate`). Amounts of a row: y, e.
struct CountLeaves {
  double shape = 1;
  double rate = 1;
  double units = 1;
};

using LeafModel = std::variant<std::monostate, NumberLeaves, CountLeaves>;  // none: classes

class SumLeaves {
 public:
  // Throws std::invalid_argument for parameters out of range, or where costs would be too large.
  // Where the watch says stop it is not complete().
  SumLeaves(const LeafModel& model, const Dataset& data, Watch& watch);
  static void check(const LeafModel& model, const Dataset& data);
  [[nodiscard]] static std::size_t bytes_for(const Dataset& data, const LeafModel& model);
  // Minus the log density of all rows in one leaf, in nats: without tables, offset included.
  [[nodiscard]] static double lone_leaf(const LeafModel& model, const Dataset& data);

  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] const SumCosts& costs() const { return costs_; }
  [[nodiscard]] Cost leaf(std::int64_t n, std::int64_t a, std::int64_t b) const {
    const auto rows = static_cast<std::int32_t>(n);
    std::int64_t out;
    costs_.costs<1>(&rows, &a, &b, &out);
    return Cost(out);
  }
  [[nodiscard]] Cost offset() const { return offset_; }
  [[nodiscard]] std::size_t bytes() const { return table_.capacity() * sizeof(std::int64_t); }

 private:
  [[nodiscard]] bool fill(const NumberLeaves& model, const Dataset& data, Watch& watch);
  [[nodiscard]] bool fill(const CountLeaves& model, const Dataset& data, Watch& watch);
  [[nodiscard]] bool fill(std::monostate, const Dataset&, Watch&) { return true; }

  bool complete_ = false;
  PageVector<std::int64_t> table_;
  SumCosts costs_;
  Cost offset_;
};

// B8: the least sum of squares about their mean that n of these rows have, for n = 1, 2, ...: for
// some n in `at`, rising, with the values in `squares`. It does not fall with n. False when
// stopped.
bool closest_rows(std::span<const Dataset::Value> values, std::vector<std::int64_t>& at,
                  std::vector<double>& squares, Watch& watch);

}  // namespace maptree
