#include "improve/look_table.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace maptree {

namespace {

// Of an entry with a few dozen candidates; only the length of chains depends on it.
constexpr std::size_t usual_bytes = 2048;

Subtree best_tree(const Expansion& found) {
  Subtree tree;
  if (found.best == no_column) {
    tree.parts = {{found.leaf, no_column}};
    return tree;
  }
  tree.parts = {{found.best_cost, found.best}};
  for (int side = 0; side < 2; ++side) {
    tree.parts.push_back({found.best_upper[side], found.best_below[side]});
    if (found.best_below[side] == no_column) continue;
    for (int below = 0; below < 2; ++below)
      tree.parts.push_back({found.best_leaf[side][below], no_column});
  }
  return tree;
}

}  // namespace

void Entry::prune(TestCosts test_costs) {
  std::erase_if(candidates,
                [&](const Candidate& c) { return bound(c, test_costs) >= best.cost(); });
  lower = std::min(best.cost(), base + rest);
  for (const Candidate& c : candidates) lower = std::min(lower, bound(c, test_costs));
}

LookTable::LookTable(std::size_t max_bytes, TestCosts test_costs)
    : max_bytes_(max_bytes),
      test_costs_(test_costs),
      buckets_(std::bit_ceil(max_bytes / usual_bytes + 1), EntryId::none) {}

EntryId LookTable::find(const RowKey& rows, const RowSums& sums, std::size_t depth) const {
  EntryId id = buckets_[bucket_of(rows, depth)];
  while (id != EntryId::none) {
    const Entry& entry = entries_[static_cast<std::uint32_t>(id)];
    if (entry.rows == rows && entry.depth == depth) {
      check_same(entry.sums, sums);
      break;
    }
    id = entry.next;
  }
  return id;
}

EntryId LookTable::add(const RowKey& rows, const RowSums& sums, std::size_t depth,
                       const Expansion& found) {
  EntryId id = free_;
  if (id == EntryId::none) {
    id = static_cast<EntryId>(entries_.size());
    entries_.emplace_back();
    bytes_ += sizeof(Entry);
  } else {
    free_ = (*this)[id].next;
  }
  Entry& entry = (*this)[id];
  entry.rows = rows;
  entry.sums = sums;
  entry.depth = static_cast<std::uint32_t>(depth);
  entry.base = found.base;
  entry.best = best_tree(found);
  entry.rest = Cost::infinity();
  std::size_t n_open = 0;
  const auto open = [&](const SplitBounds& split) {
    return !split.is_span() &&
           found.base + test_costs_[split.column] + split.lower[0] + split.lower[1] <
               entry.best.cost();
  };
  for (const SplitBounds& split : found.splits) {
    n_open += open(split) ? 1 : 0;
    if (split.is_span())
      entry.rest = std::min(entry.rest, test_costs_.least(split.column, split.last()) +
                                            split.lower[0] + split.lower[1]);
  }
  entry.candidates.reserve(n_open);
  for (const SplitBounds& split : found.splits)
    if (open(split))
      entry.candidates.push_back({{split.lower[0], split.lower[1]},
                                  test_costs_[split.column] + split.upper[0] + split.upper[1],
                                  split.column});
  entry.prune(test_costs_);
  entry.entered = !full();
  if (entry.entered) {
    EntryId& bucket = buckets_[bucket_of(rows, depth)];
    entry.next = bucket;
    bucket = id;
  }
  bytes_ += entry.bytes();
  return id;
}

void LookTable::replace_best(EntryId id, Subtree&& better) {
  Entry& entry = (*this)[id];
  assert(better.cost() < entry.best.cost());
  bytes_ -= entry.best.bytes();
  entry.best = std::move(better);
  bytes_ += entry.best.bytes();
}

void LookTable::release(EntryId id) {
  Entry& entry = (*this)[id];
  assert(!entry.entered);
  bytes_ -= entry.bytes();
  entry = Entry{};
  entry.next = free_;
  free_ = id;
}

void LookTable::clear() {
  entries_.clear();
  std::fill(buckets_.begin(), buckets_.end(), EntryId::none);
  free_ = EntryId::none;
  bytes_ = 0;
}

}  // namespace maptree
