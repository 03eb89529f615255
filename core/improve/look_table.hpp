// LookTable: what a look-ahead remembers of the sets of rows it has seen, in bounded memory.
//
// A set at a depth is a Entry: the cheapest subtree known, and the splits that may still beat it.
// Looks are named by index and stay where they are. Once the table has reached its size, new ones
// are handed out but not entered: nobody finds them, and whoever made one gives it back. Nothing is
// dropped one by one; clear() drops all, when none is in use.
//
//   I1  best is a tree for the rows, and costs what it says.
//   I2  lower <= the cost of every tree for the rows, and no split left out can beat best.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "data/row_keys.hpp"
#include "improve/subtree.hpp"
#include "scan/expand.hpp"

namespace maptree {

enum class EntryId : std::uint32_t { none = UINT32_MAX };

// A split, and the cheapest trees and least bounds known below it.
struct Candidate {
  Cost lower[2];
  Cost upper;  // of both sides and the test
  std::uint32_t column = no_column;
};

struct Entry {
  RowKey rows;
  RowSums sums;
  std::uint32_t depth = 0;
  EntryId next = EntryId::none;  // in its bucket, or among the free
  int effort = -1;               // spent on it so far (look_ahead.hpp)
  bool entered = false;
  Cost base;  // split(d) + log W
  Cost rest;  // the least bound of a split that is no candidate, without the base
  Cost lower;
  Subtree best;
  std::vector<Candidate> candidates;

  [[nodiscard]] bool solved() const { return lower >= best.cost(); }
  // The least that a tree with this split costs.
  [[nodiscard]] Cost bound(const Candidate& split, TestCosts test_costs) const {
    return base + test_costs[split.column] + split.lower[0] + split.lower[1];
  }
  // Drops the candidates that cannot beat `best` any more.
  void prune(TestCosts test_costs);
  // Besides the entry itself.
  [[nodiscard]] std::size_t bytes() const {
    return best.bytes() + candidates.capacity() * sizeof(Candidate);
  }
};

class LookTable {
 public:
  explicit LookTable(std::size_t max_bytes, TestCosts test_costs);

  [[nodiscard]] Entry& operator[](EntryId id) { return entries_[static_cast<std::uint32_t>(id)]; }
  // Throws KeyCollision where the entry has other sums.
  [[nodiscard]] EntryId find(const RowKey& rows, const RowSums& sums, std::size_t depth) const;
  // A new entry for what an expansion found.
  EntryId add(const RowKey& rows, const RowSums& sums, std::size_t depth, const Expansion& found);
  // To be told when `best` was replaced: its memory is counted.
  void replace_best(EntryId id, Subtree&& better);
  // Gives an entry back that nobody can find.
  void release(EntryId id);
  void clear();
  [[nodiscard]] bool full() const { return bytes() >= max_bytes_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_ + buckets_.capacity() * sizeof(EntryId); }

 private:
  [[nodiscard]] std::size_t bucket_of(const RowKey& rows, std::size_t depth) const {
    return (rows.low + depth) & (buckets_.size() - 1);
  }

  std::size_t max_bytes_;
  const TestCosts test_costs_;
  std::deque<Entry> entries_;  // grows without moving
  std::vector<EntryId> buckets_;
  EntryId free_ = EntryId::none;
  std::size_t bytes_ = 0;
};

}  // namespace maptree
