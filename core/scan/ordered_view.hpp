// OrderedView: the rows of one node, sorted by each of its ordered columns, and its other columns
// as bits, so that the splits of any part of these rows can be scanned.
//
// Rows have places of their own here: those of equal pattern (a run) lie side by side, and a run
// starts at a word boundary, so that bits are counted by run. An ordered column is a list of
// places, lowest rank first; a mark tells where the rank changes: a cut. Thresholds between the
// same two ranks part the rows alike, so a cut stands for all of them, by the heaviest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "control/control.hpp"
#include "data/dataset.hpp"
#include "model/bounds.hpp"
#include "model/posterior.hpp"

namespace maptree {

class OrderedView {
 public:
  OrderedView(const Dataset& data, const Bounds& bounds);

  // Rows of one pattern.
  struct Run {
    std::uint32_t first_word = 0, last_word = 0;  // of their places
    std::uint32_t n_rows = 0;
    const ClassWeight* pattern = nullptr;  // by the classes that are here
    std::uint32_t n_classes = 0;
    std::int64_t group_floor = 0;
  };
  struct Row {
    std::int32_t k = -1;  // its class; -1: several, or those of the run
    std::int32_t weight = 0;
    std::uint32_t run = 0;
  };
  static constexpr std::uint32_t cut_mark = 1u << 31;
  struct Ordered {
    std::uint32_t column = 0;             // of the ordered ones
    std::size_t first = 0;                // of n_rows() entries
    std::uint32_t n_cuts = 0;             // at least 1
    std::size_t first_cut = 0;            // among those of all columns
    const std::uint32_t* cuts = nullptr;  // where they are; null: between every two rows
  };
  struct Binary {
    std::uint32_t column = 0;
    std::int32_t weight = 0;
    std::size_t first = 0;  // of n_words() words
  };

  // False when stopped: then the view is void.
  bool load(const RowSet& rows, Watch& watch);
  [[nodiscard]] std::uint32_t n_rows() const { return n_rows_; }
  [[nodiscard]] std::size_t n_places() const { return rows_.size(); }
  [[nodiscard]] std::size_t n_words() const { return rows_.size() / word_bits; }
  [[nodiscard]] const std::vector<std::uint32_t>& places() const { return places_; }  // of the rows
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  [[nodiscard]] const Row& row(std::uint32_t place) const { return rows_[place]; }
  [[nodiscard]] const SetCounts& total() const { return total_; }
  [[nodiscard]] std::int64_t varying() const { return varying_; }
  // The ordered and the other columns that vary.
  [[nodiscard]] const std::vector<Ordered>& ordered() const { return ordered_; }
  [[nodiscard]] const std::vector<Binary>& binary() const { return binary_; }
  // Places by rank; those with cut_mark are the first of another rank than the one before.
  [[nodiscard]] const std::uint32_t* order(const Ordered& of) const { return &order_[of.first]; }
  // By cut: the code of its heaviest threshold. Only where thresholds are weighted; no_code is
  // above all.
  static constexpr OrderedColumns::Code no_code = UINT16_MAX;
  [[nodiscard]] const OrderedColumns::Code* codes(const Ordered& of) const {
    return &codes_[of.first_cut];
  }
  [[nodiscard]] const Word* bits(const Binary& of) const { return &bits_[of.first]; }
  // Where in the order the rows above a cut begin.
  [[nodiscard]] static std::uint32_t cut_at(const Ordered& of, std::uint32_t c) {
    return of.cuts == nullptr ? c + 1 : of.cuts[c];
  }
  // The number of cuts whose rows above begin before a place in the order.
  [[nodiscard]] static std::uint32_t cuts_before(const Ordered& of, std::uint32_t at) {
    if (of.cuts == nullptr) return at - 1;
    return static_cast<std::uint32_t>(std::lower_bound(of.cuts, of.cuts + of.n_cuts, at) - of.cuts);
  }
  [[nodiscard]] std::uint32_t rank(const Ordered& of, std::uint32_t place) const {
    return data_.ordered().ranks(of.column)[slots_[place]];
  }
  // The thresholds [low, high) of the column that a cut stands for.
  struct Gap {
    std::uint32_t low = 0, high = 0;
  };
  [[nodiscard]] Gap gap(const Ordered& of, std::uint32_t c) const {
    const std::uint32_t at = cut_at(of, c);
    const std::uint32_t* const order = this->order(of);
    return {rank(of, order[at - 1] & ~cut_mark), rank(of, order[at] & ~cut_mark)};
  }
  // The number of cuts below a threshold of the column: it is one of that cut's, if it varies.
  [[nodiscard]] std::uint32_t cut_of(const Ordered& of, std::uint32_t threshold) const;

  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] static std::size_t bytes_for(const Dataset& data);
  // Of all columns together, at most.
  [[nodiscard]] static std::size_t most_cuts(const Dataset& data);

 private:
  bool place_rows(const RowSet& rows, Watch& watch);
  bool sort_column(std::uint32_t column, Watch& watch);
  // Of these, those that are in cut_at_.
  [[nodiscard]] static std::size_t most_listed(const Dataset& data);
  bool load_bits(Watch& watch);

  const Dataset& data_;
  const Bounds& bounds_;
  std::uint32_t n_rows_ = 0;
  std::vector<Run> runs_;
  std::vector<Row> rows_;              // by place
  std::vector<std::uint32_t> slots_;   // by place; no_slot where there is no row
  std::vector<std::uint32_t> places_;  // of the rows, in order
  std::vector<std::int32_t> numbers_;  // of the classes here
  std::vector<std::int32_t> place_;    // by class: where it is in numbers_
  Pattern patterns_;
  SetCounts total_;
  std::int64_t varying_ = 0;
  std::vector<Ordered> ordered_;
  std::vector<Binary> binary_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> cut_at_;
  std::size_t n_cuts_ = 0;
  std::vector<OrderedColumns::Code> codes_;
  std::vector<Word> bits_;
  std::vector<std::uint64_t> keys_, sorted_;  // rank and place, while they are sorted
};

}  // namespace maptree
