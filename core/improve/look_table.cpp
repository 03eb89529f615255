#include "improve/look_table.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace maptree {

namespace {

// Of a look with a few dozen candidates; only the length of chains depends on it.
constexpr std::size_t usual_bytes = 2048;

Subtree best_tree(const Expansion& found) {
  Subtree tree;
  if (found.best == no_column) {
    tree.parts = {{found.leaf, no_column}};
    return tree;
  }
  tree.parts = {{found.base + found.best_upper[0] + found.best_upper[1], found.best}};
  for (int side = 0; side < 2; ++side) {
    tree.parts.push_back({found.best_upper[side], found.best_below[side]});
    if (found.best_below[side] == no_column) continue;
    for (int below = 0; below < 2; ++below)
      tree.parts.push_back({found.best_leaf[side][below], no_column});
  }
  return tree;
}

}  // namespace

void Look::prune() {
  std::erase_if(candidates, [this](const Candidate& c) { return base + c.total() >= best.cost(); });
  lower = best.cost();
  for (const Candidate& c : candidates) lower = std::min(lower, base + c.total());
}

LookTable::LookTable(std::size_t max_bytes)
    : max_bytes_(max_bytes), buckets_(std::bit_ceil(max_bytes / usual_bytes + 1), LookId::none) {}

LookId LookTable::find(const RowKey& rows, std::size_t depth) const {
  LookId id = buckets_[bucket_of(rows, depth)];
  while (id != LookId::none) {
    const Look& look = looks_[static_cast<std::uint32_t>(id)];
    if (look.rows == rows && look.depth == depth) break;
    id = look.next;
  }
  return id;
}

LookId LookTable::add(const RowKey& rows, std::size_t depth, const Expansion& found) {
  LookId id = free_;
  if (id == LookId::none) {
    id = static_cast<LookId>(looks_.size());
    looks_.emplace_back();
    bytes_ += sizeof(Look);
  } else {
    free_ = (*this)[id].next;
  }
  Look& look = (*this)[id];
  look.rows = rows;
  look.depth = static_cast<std::uint32_t>(depth);
  look.base = found.base;
  look.best = best_tree(found);
  std::size_t n_open = 0;
  const auto open = [&](const SplitBounds& split) {
    return found.base + split.lower[0] + split.lower[1] < look.best.cost();
  };
  for (const SplitBounds& split : found.splits) n_open += open(split) ? 1 : 0;
  look.candidates.reserve(n_open);
  for (const SplitBounds& split : found.splits)
    if (open(split))
      look.candidates.push_back(
          {{split.lower[0], split.lower[1]}, split.upper[0] + split.upper[1], split.column});
  look.prune();
  look.entered = !full();
  if (look.entered) {
    LookId& bucket = buckets_[bucket_of(rows, depth)];
    look.next = bucket;
    bucket = id;
  }
  bytes_ += look.bytes();
  return id;
}

void LookTable::replace_best(LookId id, Subtree&& better) {
  Look& look = (*this)[id];
  assert(better.cost() < look.best.cost());
  bytes_ -= look.best.bytes();
  look.best = std::move(better);
  bytes_ += look.best.bytes();
}

void LookTable::release(LookId id) {
  Look& look = (*this)[id];
  assert(!look.entered);
  bytes_ -= look.bytes();
  look = Look{};
  look.next = free_;
  free_ = id;
}

void LookTable::clear() {
  looks_.clear();
  std::fill(buckets_.begin(), buckets_.end(), LookId::none);
  free_ = LookId::none;
  bytes_ = 0;
}

}  // namespace maptree
