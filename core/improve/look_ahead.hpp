// LookAhead: the cheapest subtree that a given effort finds for a set of rows.
//
// At every node the splits are ranked by the cheapest trees known below them: at first those of
// depth two, which the expansion gives. Effort 0 follows the first split, and so on below it, while
// it pays. Effort e goes below the first with effort e, below the second with e - 1, below the
// third and fourth with e - 2, the next four with e - 3, ...: limited discrepancy search, the price
// of a rank being its logarithm. A split that is not known to pay costs one unit more. What was
// found ranks the splits anew for the next effort. Splits whose lower bound reaches the cost at
// hand are dropped. So with enough effort the search is complete, and knows it: solved().
//
// The stack is a vector, not that of the processor, so that a look-ahead can rest between any two
// steps; a step is one expansion at most. What it holds stays below `max_bytes`: nodes that do not
// fit the table are forgotten on the way back, and where there is no room for one more step,
// nothing below is looked at.
//
// Use: entry.start(rows, depth, effort, known); while (!entry.done()) entry.step(stop);
#pragma once

#include <cstdint>
#include <vector>

#include "data/row_set.hpp"
#include "improve/look_table.hpp"
#include "improve/subtree.hpp"
#include "scan/expand.hpp"

namespace maptree {

class LookAhead {
 public:
  // The expander is shared with others, who may use it between steps.
  LookAhead(const Dataset& data, const Posterior& posterior, Expander& expander,
            std::size_t max_bytes);

  // `known` is a tree for these rows, to be improved upon.
  void start(const RowSet& rows, std::size_t depth, int effort, const Subtree& known);
  [[nodiscard]] bool done() const { return n_frames_ == 0; }
  // False when the watch said stop: nothing happened, and the step may be tried again.
  bool step(Watch& watch);
  // Ends it early. What was learnt on the way stays in the table, so that the same look-ahead,
  // started again, soon is where this one ended.
  void give_up();

  // Once done: the cheapest subtree, and whether it is proved to be the cheapest of all.
  [[nodiscard]] const Subtree& found() const { return found_; }
  [[nodiscard]] bool solved() const { return lower_ >= found_.cost(); }

  // Forgets everything, as far as it takes memory.
  void clear();
  [[nodiscard]] std::size_t max_bytes() const { return max_bytes_; }
  [[nodiscard]] std::size_t bytes() const { return table_.bytes() + frame_bytes_; }
  // Beside it: what an expansion is written to.
  [[nodiscard]] std::size_t scratch_bytes() const {
    return expansion_.splits.capacity() * sizeof(SplitBounds);
  }

 private:
  // A node on the way down, and how far its splits have been looked at.
  struct Frame {
    RowSet rows;
    RowKey key;
    std::size_t depth = 0;
    int effort = 0;
    EntryId entry = EntryId::none;  // not opened yet
    std::size_t rank = 0;           // the candidate whose children are looked at,
    int effort_below = 0;           // with this effort,
    int side = 0;                   // the one of them,
    bool second = false;            // whether that is the other's turn,
    RowKey child_key[2];
    Subtree first;  // and what was found below the one before
  };

  [[nodiscard]] Frame& top() { return frames_[n_frames_ - 1]; }
  [[nodiscard]] bool has_room() const;
  Frame& push();
  bool open(Watch& watch);
  void go_on();
  void descend(int side);
  void close();
  void learn();
  void receive();

  const Dataset& data_;
  const TestCosts test_costs_;
  Expander& expander_;
  std::size_t max_bytes_;
  std::size_t step_bytes_;  // about the most that one step adds
  LookTable table_;
  std::vector<Frame> frames_;  // the first n_frames_ are in use; the others keep their memory
  std::size_t n_frames_ = 0;
  std::size_t frame_bytes_ = 0;
  Subtree known_;
  Subtree found_;
  Cost lower_;
  Expansion expansion_;
  std::vector<std::int64_t> counts_;
};

}  // namespace maptree
