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
  OrderedColumns() = default;
  // Throws std::invalid_argument where a rank is out of range.
  OrderedColumns(std::span<const OrderedColumn> columns, std::size_t n_rows);

  [[nodiscard]] std::size_t n_columns() const { return n_ranks_.size(); }
  [[nodiscard]] std::uint32_t n_thresholds() const { return first_.back(); }
  [[nodiscard]] std::uint32_t n_ranks(std::size_t column) const { return n_ranks_[column]; }
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
  // Sum of the weights of the thresholds [low, high) of a column.
  [[nodiscard]] std::int64_t weight_between(std::size_t /*column*/, std::uint32_t low,
                                            std::uint32_t high) const {
    return static_cast<std::int64_t>(high) - static_cast<std::int64_t>(low);
  }
  // Of the thresholds [low, high) of a column the heaviest; of equals the one in the middle.
  [[nodiscard]] std::uint32_t heaviest(std::size_t /*column*/, std::uint32_t low,
                                       std::uint32_t high) const {
    return low + (high - 1 - low) / 2;
  }
  [[nodiscard]] std::int64_t varying(const RowSet& rows) const;
  // By the number of rows in a set of these: the least weight of thresholds that vary on any such
  // set (bounds.md, B6). False when stopped.
  bool least_varying(const RowSet& rows, std::vector<std::int64_t>& out, Watch& watch) const;
  [[nodiscard]] std::size_t bytes() const {
    return ranks_.capacity() * sizeof(std::uint32_t) +
           (n_ranks_.capacity() + first_.capacity()) * sizeof(std::uint32_t);
  }

 private:
  std::size_t n_slots_ = 0;
  std::vector<std::uint32_t> n_ranks_;
  std::vector<std::uint32_t> first_{0};  // by column, and their number
  PageVector<std::uint32_t> ranks_;      // by column and slot
};

}  // namespace maptree
