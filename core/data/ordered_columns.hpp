// OrderedColumns: numbers, dates and ordered categories as ranks, with all their thresholds.
//
// Threshold t of a column is the test "rank <= t"; a column of m ranks has m - 1 of them. Rows
// where the value is missing have the highest rank, so that "is missing" is the last threshold. On
// a set of rows a threshold varies if the least rank is at most t and the greatest above it: of a
// column these are the thresholds from the least rank of the set up to its greatest.
//
// Tests have weights (the prior of posterior.hpp). Thresholds between two neighbouring ranks of a
// set part it alike; only the heaviest of them can be in a best tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "control/control.hpp"
#include "data/row_set.hpp"
#include "memory/page_memory.hpp"

namespace maptree {

// What a caller hands over.
struct OrderedColumn {
  std::span<const std::uint32_t> ranks;  // one a row, below n_ranks
  std::uint32_t n_ranks = 0;
};

class OrderedColumns {
 public:
  using Code = std::uint16_t;  // of a weight

  OrderedColumns() = default;
  // Throws std::invalid_argument where a rank is out of range.
  OrderedColumns(std::span<const OrderedColumn> columns, std::size_t n_rows);

  [[nodiscard]] std::size_t n_columns() const { return n_ranks_.size(); }
  [[nodiscard]] std::uint32_t n_thresholds() const { return first_.back(); }
  [[nodiscard]] std::uint32_t n_ranks(std::size_t column) const { return n_ranks_[column]; }
  // How many of the ranks some row has; at most all, before least_varying() has looked at all rows.
  [[nodiscard]] std::uint32_t n_used(std::size_t column) const { return n_used_[column]; }
  // Thresholds are numbered through all columns; this is the first of a column.
  [[nodiscard]] std::uint32_t first(std::size_t column) const { return first_[column]; }
  [[nodiscard]] std::size_t column_of(std::uint32_t threshold) const;

  // Room for the ranks of so many slots, and who has which.
  void place(std::size_t n_slots);
  void set(std::size_t column, std::size_t slot, std::uint32_t rank) {
    ranks_[column * n_slots_ + slot] = rank;
  }
  [[nodiscard]] const std::uint32_t* ranks(std::size_t column) const {
    return &ranks_[column * n_slots_];
  }

  // `out` becomes the rows of `from` on one side of a threshold: side 1 is "rank <= t".
  void part(const RowSet& from, std::uint32_t threshold, int side, RowSet& out) const;
  // Weights of all thresholds, in their order. Without a call they are 1.
  void weigh(std::span<const std::int32_t> weights);
  [[nodiscard]] bool weighted() const { return !codes_.empty(); }
  // The weights that there are, the heaviest first; by number of all thresholds, their place in it.
  [[nodiscard]] const std::vector<std::int32_t>& weights() const { return weights_; }
  [[nodiscard]] Code code(std::uint32_t threshold) const { return codes_[threshold]; }
  [[nodiscard]] std::int64_t heaviest_weight() const { return weights_.empty() ? 1 : weights_[0]; }
  template <class Visit>
  void for_each_weight(Visit&& visit) const {  // and how many thresholds have it
    if (!weighted() && n_thresholds() > 0) visit(std::int64_t{1}, std::size_t{n_thresholds()});
    for (std::size_t c = 0; c < weights_.size(); ++c)
      visit(std::int64_t{weights_[c]}, how_many_[c]);
  }
  // Of the heaviest of thresholds [first, last), which are numbered through all columns.
  [[nodiscard]] Code least_code(std::uint32_t first, std::uint32_t last) const;
  // Sum of the weights of the thresholds [low, high) of a column.
  [[nodiscard]] std::int64_t weight_between(std::size_t column, std::uint32_t low,
                                            std::uint32_t high) const {
    if (!weighted()) return static_cast<std::int64_t>(high) - static_cast<std::int64_t>(low);
    return weight_before(first_[column] + high) - weight_before(first_[column] + low);
  }
  // Of the thresholds [low, high) of a column the heaviest, the first of equals; where weights are
  // not given, the one in the middle.
  [[nodiscard]] std::uint32_t heaviest(std::size_t column, std::uint32_t low,
                                       std::uint32_t high) const;
  [[nodiscard]] std::int64_t varying(const RowSet& rows) const;
  // By the number of rows in a set of these: the least weight of thresholds that vary on any such
  // set (bounds.md, B6). False when stopped.
  bool least_varying(const RowSet& rows, std::vector<std::int64_t>& out, Watch& watch);
  [[nodiscard]] std::size_t bytes() const;
  // What weights add to bytes(), known before they are given.
  [[nodiscard]] std::size_t bytes_of_weights() const;

 private:
  // Sums of weights and least codes are kept by blocks of thresholds.
  static constexpr std::uint32_t sum_block = 16, code_block = 64;
  [[nodiscard]] std::int64_t weight_before(std::uint32_t threshold) const;

  std::size_t n_slots_ = 0;
  std::vector<std::uint32_t> n_ranks_, n_used_;
  std::vector<std::uint32_t> first_{0};  // by column, and their number
  PageVector<std::uint32_t> ranks_;      // by column and slot
  std::vector<std::int32_t> weights_;
  std::vector<std::size_t> how_many_;     // thresholds, by code
  std::vector<Code> codes_;               // by threshold
  std::vector<std::uint32_t> sums_;       // of the thresholds before a block
  std::vector<std::vector<Code>> least_;  // of 2^i blocks from a block on, by i
};

}  // namespace maptree
