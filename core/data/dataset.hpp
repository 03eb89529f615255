// Dataset: the immutable training data, folded and packed for the search.
//
// Columns: equal and complementary columns split alike, so the heaviest of them is searched and its
// `multiplicity`, the sum of their weights, keeps the prior right; only columns of the same use are
// folded into one. Constant columns split nothing and are dropped. Weights have no common divisor:
// equal ones are all 1.
// Rows: identical rows never part, so they are one row with a class count each (its `pattern`).
// Rows of equal pattern form a segment, and a segment starts at a word boundary: one AND and
// popcount over a segment, times its pattern, gives all class counts at once. Without duplicate
// rows there is one segment per class: "rows sorted by class".
// The number of *distinct* rows of a set is then a plain popcount, which tells exactly whether
// a set can be split at all (two or more) and feeds the bounds.
//
// Rows are held twice, a bit a value each: by column (to intersect sets) and by row (to compact
// a node, node_view.hpp). While they are made no more than that is held, but for a few numbers a
// row. Invariants: every row has weight >= 1; every column takes both values; slots without row are
// 0.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "control/control.hpp"
#include "data/keyed_hash.hpp"
#include "data/ordered_columns.hpp"
#include "data/packed_table.hpp"
#include "data/placement.hpp"
#include "data/row_keys.hpp"
#include "data/row_set.hpp"

namespace maptree {

struct Folding {
  bool rows = true;
  bool columns = true;
};

// Where trees may test a column (bounds.md, section 10). It counts in W wherever it varies.
enum class Use : std::uint8_t { anywhere, below_root, nowhere };

class Dataset {
 public:
  // Takes the table, and gives its memory back as soon as it has been read. weights may be empty
  // (every row counts once), and so may test_weights (all are 1; else one a test, in the order of
  // original()) and uses (all are tested anywhere; else one a column, the ordered ones last).
  // Throws std::invalid_argument on the caller's mistakes: labels or weights out of range, no row
  // of positive weight, too much weight; and std::length_error, before it is taken,
  // if more than `memory_limit` bytes would be needed. Where the watch says stop the dataset is not
  // complete(): then it has class_totals() and any_varies().
  Dataset(PackedTable table, const Labels& labels, std::span<const std::int64_t> weights,
          int n_classes, Folding folding = {}, std::size_t memory_limit = SIZE_MAX,
          Watch& watch = no_watch(), std::span<const std::uint32_t> test_weights = {},
          std::span<const Use> uses = {});
  // The same with ordered columns beside the table, or with amounts: one of each a row, where the
  // outcome is not a class (then n_classes is 1, and no column is ordered).
  Dataset(PackedTable table, std::span<const OrderedColumn> ordered, const Labels& labels,
          std::span<const std::int64_t> weights, int n_classes, Folding folding = {},
          std::size_t memory_limit = SIZE_MAX, Watch& watch = no_watch(),
          std::span<const std::uint32_t> test_weights = {}, std::span<const Use> uses = {},
          std::span<const Amounts> amounts = {});

  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] int n_classes() const { return n_classes_; }
  [[nodiscard]] std::size_t n_rows() const { return n_rows_; }  // the caller's
  [[nodiscard]] std::size_t n_features() const { return n_features_; }
  [[nodiscard]] std::size_t n_columns() const { return multiplicity_.size(); }
  [[nodiscard]] std::size_t n_distinct_rows() const { return n_distinct_rows_; }
  [[nodiscard]] std::size_t n_words() const { return n_words_; }
  [[nodiscard]] std::int64_t total_weight() const { return total_weight_; }
  [[nodiscard]] const std::vector<std::int64_t>& class_totals() const { return class_totals_; }
  // Where the outcome is not a class: what a distinct row adds to its sums, by slot; their totals;
  // and those of a row of weight 1, each value of the first once, with the weight of its rows.
  [[nodiscard]] bool has_amounts() const { return has_amounts_; }
  [[nodiscard]] const Amounts& amounts(std::size_t slot) const { return amounts_[slot]; }
  [[nodiscard]] const Amounts& amount_totals() const { return amount_totals_; }
  struct Value {
    std::int64_t value;
    std::int64_t weight;
  };
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }
  // How many numbers count() gives: class counts, then the sums of the amounts.
  [[nodiscard]] std::size_t n_sums() const {
    return static_cast<std::size_t>(n_classes_) + (has_amounts_ ? 2 : 0);
  }
  // Those of all rows.
  [[nodiscard]] std::vector<std::int64_t> totals() const;
  [[nodiscard]] bool any_varies() const { return n_columns() > 0 || any_threshold_; }
  [[nodiscard]] bool rows_folded() const { return rows_folded_; }

  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }
  [[nodiscard]] const Word* column(std::size_t c) const { return &by_column_[c * n_words_]; }
  // A row as bytes: bit c % 8 of byte c / 8 is column c.
  [[nodiscard]] const std::uint8_t* row(std::size_t slot) const {
    return &by_row_[slot * row_bytes_];
  }
  [[nodiscard]] std::size_t row_bytes() const { return row_bytes_; }
  // Columns 32 h to 32 h + 31 of a row; bits beyond the last column mean nothing.
  [[nodiscard]] static std::uint32_t half_of(const std::uint8_t* row, std::size_t h) {
    std::uint32_t half;
    std::memcpy(&half, row + h * sizeof(half), sizeof(half));
    return half;
  }
  [[nodiscard]] std::size_t halves_per_row() const { return (row_bytes_ + 3) / 4; }
  // The sum of the weights of the caller's columns that a folded column stands for.
  [[nodiscard]] int multiplicity(std::size_t c) const { return multiplicity_[c]; }
  // Tests are numbered: the columns, then the thresholds of the ordered ones.
  [[nodiscard]] std::size_t n_tests() const { return n_columns() + ordered_.n_thresholds(); }
  [[nodiscard]] const OrderedColumns& ordered() const { return ordered_; }
  // The caller's number of a test, in the same order; of columns that are equal it is that of the
  // heaviest, the first of equals.
  [[nodiscard]] std::uint32_t original(std::size_t test) const {
    return test < n_columns() ? original_[test]
                              : static_cast<std::uint32_t>(n_binary_ + (test - n_columns()));
  }
  // The test that has this number; n_tests() where it was folded into another.
  [[nodiscard]] std::size_t test_of(std::uint32_t caller) const;
  // Of a column; those of thresholds are in ordered().
  [[nodiscard]] std::int32_t test_weight(std::size_t c) const {
    return test_weights_.empty() ? 1 : test_weights_[c];
  }
  // Where a column may be tested, and an ordered one.
  [[nodiscard]] Use use(std::size_t c) const { return uses_.empty() ? Use::anywhere : uses_[c]; }
  [[nodiscard]] Use use_of_ordered(std::size_t c) const {
    return ordered_uses_.empty() ? Use::anywhere : ordered_uses_[c];
  }
  [[nodiscard]] static bool may_test(Use use, std::size_t depth) {
    return use == Use::anywhere || (use == Use::below_root && depth > 0);
  }
  // Whether some column may not be tested everywhere.
  [[nodiscard]] bool restricted() const { return restricted_; }
  // Whether any weight is not 1.
  [[nodiscard]] bool weighted() const { return !test_weights_.empty() || ordered_.weighted(); }
  // `out` becomes the rows of `from` on one side of a test.
  void part(const RowSet& from, std::size_t test, int side, RowSet& out) const {
    if (test < n_columns())
      out.assign_side(from, column(test), side);
    else
      ordered_.part(from, static_cast<std::uint32_t>(test - n_columns()), side, out);
  }

  // For each of some thresholds, in increasing order and by their numbers of the caller's: two of
  // the caller's rows, with the ranks below and above it. One pass over a column. Throws
  // std::invalid_argument where there are no such rows.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> rows_beside(
      std::span<const std::uint32_t> callers) const;
  [[nodiscard]] RowSet all_rows() const;
  [[nodiscard]] RowKey key(const RowSet& rows) const { return keys_(rows); }
  // For tests, of collisions.
  void use_keys(RowKeys keys) { keys_ = std::move(keys); }
  // The n_sums() sums of a set: class counts, and those of the amounts. Returns the number of its
  // distinct rows.
  std::int64_t count(const RowSet& rows, std::span<std::int64_t> counts) const;
  // Sum of multiplicities of the columns that are not constant on the set: W, which is |V| where
  // all weights are 1.
  [[nodiscard]] std::int64_t varying_weight(const RowSet& rows) const;
  // The same, given the columns that may vary: those of a set with these rows among others. Those
  // that are constant, which are read to the end to see it, are taken out.
  [[nodiscard]] std::int64_t varying_weight(const RowSet& rows,
                                            std::vector<std::uint32_t>& columns) const;
  [[nodiscard]] std::vector<std::uint32_t> all_columns() const;
  // Whether any column parts these rows; `distinct` is what count() said of them.
  [[nodiscard]] bool varies(const RowSet& rows, std::int64_t distinct) const {
    return rows_folded_ ? distinct > 1 : varying_weight(rows) > 0;
  }
  // The least |V| of any set of so many rows, as far as ordered columns tell.
  [[nodiscard]] std::int64_t least_varying(std::size_t rows) const {
    return least_varying_.empty() ? 0 : least_varying_[std::min(rows, least_varying_.size() - 1)];
  }
  [[nodiscard]] std::size_t bytes() const;
  // The most that was held while it was made, the table included.
  [[nodiscard]] std::size_t peak_bytes() const { return peak_bytes_; }
  // For tests: how many others were met while equal rows and columns were sought.
  [[nodiscard]] std::int64_t n_probes() const { return n_probes_; }

 private:
  // Counts what is about to be held; throws where that is more than the limit.
  void require(std::size_t bytes, std::size_t memory_limit);
  // Rows that count as bits; checks labels and weights on the way.
  [[nodiscard]] std::vector<Word> read_classes(const RowClasses& classes, std::size_t n_rows);
  // These return false when stopped.
  bool choose_columns(const PackedTable& table, const std::vector<Word>& live,
                      std::span<const std::int32_t> tests, std::span<const Use> uses, bool fold,
                      const KeyedHash& hash, Watch& watch);
  void sort_columns();
  bool fill_rows(const PackedTable& table, const RowClasses& classes, Watch& watch);
  bool move_rows(PageVector<std::uint32_t>& slot, Watch& watch);
  bool fill_columns(Watch& watch);
  [[nodiscard]] bool build(PackedTable& table, std::span<const OrderedColumn> ordered,
                           const RowClasses& classes, std::span<const std::uint32_t> test_weights,
                           std::span<const Use> uses, Folding folding, std::size_t memory_limit,
                           Watch& watch);
  void read_amounts(const RowClasses& classes);
  [[nodiscard]] bool sort_values(const RowClasses& classes, Watch& watch);
  [[nodiscard]] bool place_amounts(const RowClasses& classes, const Placement& placed,
                                   Watch& watch);
  [[nodiscard]] bool place_ranks(std::span<const OrderedColumn> ordered, const RowClasses& classes,
                                 std::span<const std::uint32_t> slot, Watch& watch);

  int n_classes_ = 0;
  std::size_t n_rows_ = 0;
  std::size_t n_features_ = 0;
  std::size_t n_binary_ = 0;  // of these, the columns of 0 and 1
  std::size_t n_distinct_rows_ = 0;
  std::size_t n_words_ = 0;
  std::size_t row_bytes_ = 1;
  std::int64_t total_weight_ = 0;
  bool rows_folded_ = true;
  bool complete_ = true;
  bool any_threshold_ = false;  // varies
  std::vector<std::int64_t> class_totals_;
  bool has_amounts_ = false;
  PageVector<Amounts> amounts_;  // by slot
  Amounts amount_totals_{};
  std::vector<Value> values_;  // sorted
  std::vector<Segment> segments_;
  std::size_t pattern_bytes_ = 0;
  std::size_t peak_bytes_ = 0;
  std::int64_t n_probes_ = 0;
  PageVector<Word> by_column_;
  PageVector<std::uint8_t> by_row_;  // and a few bytes, so that halves may be read to the end
  RowKeys keys_;
  OrderedColumns ordered_;
  PageVector<std::uint32_t> row_of_;  // by slot, a row of the caller's, beside ordered columns
  std::vector<std::int64_t> least_varying_;  // by rows; empty where no column is ordered
  std::vector<int> multiplicity_;
  std::vector<std::uint32_t> original_;
  std::vector<std::int32_t> test_weights_;  // of these; empty: all are 1
  std::vector<Use> uses_, ordered_uses_;    // of these, and of the ordered ones; empty: anywhere
  bool restricted_ = false;
};

}  // namespace maptree
