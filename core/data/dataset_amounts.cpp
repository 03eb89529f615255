// Dataset where the outcome is not a class: amounts of rows are read, sorted and placed.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "data/dataset.hpp"

namespace maptree {

void Dataset::read_amounts(const RowClasses& classes) {
  // So that sums over all rows, and their squares, are exact in doubles.
  constexpr double most = 0x1p50;
  double sums[2] = {0, 0};  // of sizes
  for (std::size_t r = 0; r < n_rows_; ++r) {
    const std::int64_t weight = classes.weights.empty() ? 1 : classes.weights[r];
    const Amounts& row = classes.amounts[r];
    if (row.of[1] < 0)
      throw std::invalid_argument("row " + std::to_string(r) + ": its second amount is below 0");
    for (std::size_t s = 0; s < 2; ++s) {
      sums[s] += static_cast<double>(weight) * std::abs(static_cast<double>(row.of[s]));
      if (sums[s] > most) throw std::invalid_argument("amounts sum to more than 2^50");
      amount_totals_.of[s] += weight * row.of[s];
    }
  }
}

bool Dataset::sort_values(const RowClasses& classes, Watch& watch) {
  constexpr std::size_t some = 4096;
  std::vector<Value> read;
  // Sorts in what was read: whenever that doubles, so that it takes little more than one sort.
  const auto sort_in = [&] {
    const auto before = static_cast<std::ptrdiff_t>(values_.size());
    std::ranges::sort(read, {}, &Value::value);
    values_.insert(values_.end(), read.begin(), read.end());
    read.clear();
    std::ranges::inplace_merge(values_, values_.begin() + before, {}, &Value::value);
    std::size_t n = 0;
    for (const Value& row : values_) {
      if (n > 0 && values_[n - 1].value == row.value)
        values_[n - 1].weight += row.weight;
      else
        values_[n++] = row;
    }
    values_.resize(n);
  };
  for (std::size_t r = 0; r < n_rows_; ++r) {
    if (watch.poll(40)) return false;
    const std::int64_t weight = classes.weights.empty() ? 1 : classes.weights[r];
    if (weight > 0) read.push_back({classes.amounts[r].of[0], weight});
    if (read.size() >= std::max(some, values_.size())) sort_in();
  }
  sort_in();
  values_.shrink_to_fit();
  return true;
}

bool Dataset::place_amounts(const RowClasses& classes, const Placement& placed, Watch& watch) {
  amounts_.resize(n_words_ * word_bits);  // zeros
  std::size_t i = 0;
  for (std::size_t r = 0; r < n_rows_; ++r) {
    if (watch.poll(8)) return false;
    for (std::size_t copy = classes.copies(r); copy > 0; --copy, ++i) {
      Amounts& to = amounts_[placed.slot[placed.first[i]]];
      for (std::size_t s = 0; s < 2; ++s) to.of[s] += classes.weight(r) * classes.amounts[r].of[s];
    }
  }
  return true;
}

std::vector<std::int64_t> Dataset::totals() const {
  std::vector<std::int64_t> out = class_totals_;
  if (has_amounts_) out.insert(out.end(), amount_totals_.of, amount_totals_.of + 2);
  return out;
}

}  // namespace maptree
