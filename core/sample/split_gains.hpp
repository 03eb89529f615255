// SplitGains: how much every column would gain as a split of a set of rows into two leaves.
//
// A class count is an AND and a popcount over a segment of the dataset. Where the rows fill few of
// their words they are packed side by side first, so that a small set costs little in a large
// table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "control/control.hpp"
#include "model/posterior.hpp"

namespace maptree {

class SplitGains {
 public:
  SplitGains(const Dataset& data, const Posterior& posterior)
      : data_(data), posterior_(posterior) {}

  // The columns that vary on the rows, and for each leaf(rows) - leaf(zeros) - leaf(ones) in nats.
  // `counts` are the class counts of the rows. False where the watch said stop.
  bool find(const RowSet& rows, std::span<const std::int64_t> counts,
            std::vector<std::uint32_t>& columns, std::vector<double>& gains, Watch& watch);

 private:
  // A class that the rows have, and their leaf costs in it by count.
  struct Class {
    std::int64_t total;
    const std::int64_t* mixed;
  };
  // Words of rows of one pattern; what each row counts in which of the classes.
  struct Run {
    std::size_t first_word, n_words;
    std::size_t first_part, n_parts;
  };
  struct Part {
    std::size_t at;  // of classes_
    std::int64_t weight;
  };

  void find_classes(std::span<const std::int64_t> counts);
  void add_run(const Segment& segment, std::size_t first_word, std::size_t n_words);
  [[nodiscard]] bool is_worth_packing(const RowSet& rows) const;
  void place_as_they_are(const RowSet& rows);
  void place_packed(const RowSet& rows);
  bool pack(Watch& watch);

  const Dataset& data_;
  const Posterior& posterior_;
  std::vector<Class> classes_;
  std::vector<std::size_t> place_of_class_;
  std::vector<Run> runs_;
  std::vector<Part> parts_;
  std::vector<std::int64_t> ones_;    // by classes_
  std::vector<std::uint32_t> slots_;  // of packed rows, each run filled up to whole words
  std::vector<Word> packed_;          // by column
};

}  // namespace maptree
