// Dataset: the immutable training data, folded and packed for the search.
//
// Columns: equal and complementary columns split alike, so one of them is searched and its
// `multiplicity` keeps |V| right. Constant columns split nothing and are dropped.
// Rows: identical rows never part, so they are one row with a class count each (its `pattern`).
// Rows of equal pattern form a segment, and a segment starts at a word boundary: one AND and
// popcount over a segment, times its pattern, gives all class counts at once. Without duplicate
// rows there is one segment per class: "rows sorted by class".
// The number of *distinct* rows of a set is then a plain popcount, which tells exactly whether
// a set can be split at all (two or more) and feeds the bounds.
//
// Rows are held twice: by column (to intersect sets) and by row (to compact a node, expand.hpp).
// Invariants: every row has weight >= 1; every column takes both values; slots without row are 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "row_set.hpp"

namespace maptree {

// Total weight (rows counted with repetition) that the fixed-point tables can hold.
inline constexpr std::int64_t max_total_weight = std::int64_t{1} << 25;

// The caller's data: bit r % 8 of byte r / 8 of a column is row r's value.
struct PackedTable {
  const std::uint8_t* columns = nullptr;
  std::size_t n_rows = 0;
  std::size_t n_columns = 0;
  std::size_t bytes_per_column = 0;
};

struct Folding {
  bool rows = true;
  bool columns = true;
};

struct Segment {
  std::size_t first_word = 0;
  std::size_t n_words = 0;
  std::size_t n_rows = 0;            // distinct rows; they fill the first slots
  std::vector<std::int32_t> counts;  // the pattern: weight of each class in each of its rows
  std::int32_t weight = 0;           // sum of counts
  int unit_class = -1;               // k where the pattern is one row of class k, else -1
  bool impure = false;               // more than one class: such rows can never be told apart
};

class Dataset {
 public:
  // weights may be empty (every row counts once). Throws std::invalid_argument on the caller's
  // mistakes: labels or weights out of range, no row of positive weight, too much weight; and
  // std::length_error, before it is taken, if more than `memory_limit` bytes would be needed.
  Dataset(const PackedTable& table, std::span<const std::int32_t> labels,
          std::span<const std::int64_t> weights, int n_classes, Folding folding = {},
          std::size_t memory_limit = SIZE_MAX);

  [[nodiscard]] int n_classes() const { return n_classes_; }
  [[nodiscard]] std::size_t n_rows() const { return n_rows_; }  // the caller's
  [[nodiscard]] std::size_t n_features() const { return n_features_; }
  [[nodiscard]] std::size_t n_columns() const { return multiplicity_.size(); }
  [[nodiscard]] std::size_t n_distinct_rows() const { return n_distinct_rows_; }
  [[nodiscard]] std::size_t n_words() const { return n_words_; }
  [[nodiscard]] std::int64_t total_weight() const { return total_weight_; }
  [[nodiscard]] bool rows_folded() const { return rows_folded_; }

  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }
  [[nodiscard]] const Word* column(std::size_t c) const { return &by_column_[c * n_words_]; }
  // A row as half words: bit c % 32 of element c / 32 is column c.
  [[nodiscard]] const std::uint32_t* row(std::size_t slot) const {
    return &by_row_[slot * halves_per_row_];
  }
  [[nodiscard]] std::size_t halves_per_row() const { return halves_per_row_; }
  [[nodiscard]] int multiplicity(std::size_t c) const { return multiplicity_[c]; }
  // The caller's column that a folded column stands for (the first of its equals).
  [[nodiscard]] std::uint32_t original(std::size_t c) const { return original_[c]; }
  [[nodiscard]] RowKey key(std::size_t slot) const { return keys_[slot]; }

  [[nodiscard]] RowSet all_rows() const;
  [[nodiscard]] RowKey key(const RowSet& rows) const;
  // Class counts of a set; returns the number of its distinct rows.
  std::int64_t count(const RowSet& rows, std::span<std::int64_t> counts) const;
  // Sum of multiplicities of the columns that are not constant on the set: |V|.
  [[nodiscard]] std::int64_t varying_columns(const RowSet& rows) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  void choose_columns(const PackedTable& table, const std::vector<Word>& live, bool fold);
  void place_rows(const std::vector<std::uint32_t>& raw, std::span<const std::int32_t> labels,
                  std::span<const std::int64_t> weights, bool fold, std::size_t memory_limit);
  void fill_columns();

  int n_classes_ = 0;
  std::size_t n_rows_ = 0;
  std::size_t n_features_ = 0;
  std::size_t n_distinct_rows_ = 0;
  std::size_t n_words_ = 0;
  std::size_t halves_per_row_ = 0;
  std::int64_t total_weight_ = 0;
  bool rows_folded_ = true;
  std::vector<Segment> segments_;
  std::vector<Word> by_column_;
  std::vector<std::uint32_t> by_row_;
  std::vector<int> multiplicity_;
  std::vector<std::uint32_t> original_;
  std::vector<RowKey> keys_;
};

}  // namespace maptree
