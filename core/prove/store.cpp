#include "prove/store.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <utility>

namespace maptree {

namespace {

// Tells the splits of a node apart; spans aside.
std::uint64_t name_of(const Tests& split) { return std::uint64_t{split.column} << 8 | split.share; }

}  // namespace

Store::Store(TestCosts test_costs)
    : test_costs_(test_costs), buckets_(first_buckets, NodeId::none), half_(first_buckets / 2) {}

std::size_t Store::bytes() const {
  return memory_.bytes() + chunks_.capacity() * sizeof(Chunk*) +
         free_.capacity() * sizeof(std::uint32_t) + buckets_.capacity() * sizeof(NodeId);
}

std::size_t Store::growth(std::size_t n_splits) const {
  const bool table_fills =
      buckets_.size() + slack > buckets_.capacity() && n_alive_ + slack > buckets_.size();
  return cells_growth(n_splits) + (table_fills && table_may_grow() ? table_growth() : 0);
}

std::size_t Store::cells_growth(std::size_t n_splits) const {
  const std::size_t needed = slack + (n_splits + block_splits - 1) / block_splits;
  const std::size_t left = chunks_.size() * chunk_cells - n_cells_ + free_.size();
  if (needed <= left) return 0;
  const std::size_t more = (needed - left + chunk_cells - 1) / chunk_cells;
  const std::size_t n_chunks = chunks_.size() + more;
  // A vector that is full doubles, perhaps again and again, and both copies live for a moment.
  const auto doubled = [](std::size_t capacity, std::size_t wanted, std::size_t least) {
    std::size_t at = capacity, most = 0;
    while (at < wanted) {
      const std::size_t next = std::max(2 * at, at + least);
      most = at + next - capacity;
      at = next;
    }
    return most;
  };
  return memory_.growth(sizeof(Chunk), more) +
         doubled(chunks_.capacity(), n_chunks, 1) * sizeof(Chunk*) +
         doubled(free_.capacity(), n_chunks * chunk_cells, chunk_cells) * sizeof(std::uint32_t);
}

void Store::reserve_cells(std::size_t n) {
  while (chunks_.size() * chunk_cells - n_cells_ + free_.size() < n) {
    // Every cell may be given back: room for that is taken with the cell.
    const std::size_t n_cells = (chunks_.size() + 1) * chunk_cells;
    if (free_.capacity() < n_cells) free_.reserve(std::max(2 * free_.capacity(), n_cells));
    chunks_.push_back(nullptr);
    try {
      chunks_.back() = new (memory_.allocate(sizeof(Chunk))) Chunk;
    } catch (...) {
      chunks_.pop_back();
      throw;
    }
  }
}

// Test builds see to it that nobody writes to a cell that was given back.
void Store::give_back(std::uint32_t n) {
  if constexpr (small_chunks) std::memset(static_cast<void*>(&cell(n)), given_back, sizeof(Cell));
  free_.push_back(n);
}

bool Store::is_untouched(std::uint32_t n) const {
  if constexpr (!small_chunks) return true;
  unsigned char bytes[sizeof(Cell)];
  std::memcpy(bytes, &chunks_[n / chunk_cells]->cells[n % chunk_cells], sizeof(Cell));
  return std::ranges::all_of(bytes, [](unsigned char byte) { return byte == given_back; });
}

Store::~Store() {
  assert(std::ranges::all_of(free_, [&](auto n) { return is_untouched(n); }));
}

std::uint32_t Store::new_cell() {
  if (!free_.empty()) {
    const std::uint32_t n = free_.back();
    assert(is_untouched(n));
    free_.pop_back();
    return n;
  }
  reserve_cells(1);
  return n_cells_++;
}

NodeId Store::intern(const StoreKey& key, Cost lower, Cost leaf, const RowSums& sums) {
  for (NodeId id = buckets_[bucket_of(key)]; id != NodeId::none; id = (*this)[id].next) {
    StoreNode& old = (*this)[id];
    if (!(old.key == key)) continue;
    check_same(old.sums(), sums);
    old.lower = std::max(old.lower, std::min(lower, old.upper));
    return id;
  }
  if (n_alive_ >= buckets_.size() && table_may_grow()) add_bucket();
  const NodeId id{new_cell()};
  is_node(static_cast<std::uint32_t>(id)) = true;
  StoreNode& made = *new (&cell(static_cast<std::uint32_t>(id)).node) StoreNode{};
  made.key = key;
  made.upper = leaf;
  made.lower = std::min(lower, leaf);
  made.weight = sums.weight & ((1u << 29) - 1);
  made.digest = sums.digest;
  NodeId& first = buckets_[bucket_of(key)];
  made.next = first;
  first = id;
  ++n_alive_;
  ++n_made_;
  return id;
}

// Without room for a larger table its chains get longer, no more. It does not take the room that
// has_room() has promised to the nodes.
bool Store::table_may_grow() const {
  return buckets_.size() < buckets_.capacity() ||
         bytes() + cells_growth(0) + table_growth() <= limit_;
}

void Store::add_bucket() {
  if (buckets_.size() == 2 * half_) half_ *= 2;
  const std::size_t parted = buckets_.size() - half_;
  buckets_.push_back(NodeId::none);
  NodeId id = std::exchange(buckets_[parted], NodeId::none);
  while (id != NodeId::none) {
    StoreNode& at = (*this)[id];
    NodeId& first = buckets_[bucket_of(at.key)];
    const NodeId next = std::exchange(at.next, first);
    first = id;
    id = next;
  }
}

void Store::take_best(StoreNode& at, const Expansion& found) {
  if (found.best != no_column && found.best_cost < at.upper) {
    at.upper = found.best_cost;
    at.best = found.best;
    at.best_share = found.best_share;
    for (int side = 0; side < 2; ++side) at.below[side] = found.best_below[side];
  }
  at.lower = std::min(at.lower, at.upper);
}

void Store::open(NodeId id, const Expansion& found) {
  StoreNode& at = (*this)[id];
  reserve_cells((found.splits.size() + block_splits - 1) / block_splits);
  std::vector<std::uint64_t> there;
  there.reserve(at.n_splits);
  for_each_split(at, [&](const SplitRecord& split) { there.push_back(name_of(split)); });
  std::ranges::sort(there);
  at.expanded = true;
  at.base = found.base;
  at.rest = Cost::infinity();
  take_best(at, found);
  assert(std::ranges::is_sorted(
      found.splits, {}, [this](const SplitBounds& split) { return place_of(split, test_costs_); }));
  if (at.n_splits > 0) {
    reopen(at, found, there);
    return;
  }
  std::uint32_t block = no_cell;
  for (const SplitBounds& split : found.splits) add_split(at, block, split);
  if (at.n_splits == 0) at.lower = at.upper;
}

// Other threads may stand on the splits that are there, so these stay where they are. Those that
// come back may be lower: no split before them ends a walk any more.
void Store::reopen(StoreNode& at, const Expansion& found, const std::vector<std::uint64_t>& there) {
  for_each_split(at, [&](SplitRecord& split) {
    if (split.fresh()) split.forget_children();
  });
  std::uint32_t block = last_block(at);
  for (const SplitBounds& split : found.splits)
    if (split.is_span() || !std::ranges::binary_search(there, name_of(split)))
      add_split(at, block, split);
}

std::uint32_t Store::last_block(const StoreNode& at) {
  std::uint32_t block = at.splits;
  while (cell(block).block.next != no_cell) block = cell(block).block.next;
  return block;
}

// As in reopen, others may stand on the splits that are there. A span whose parts have come is left
// in its place, and never chosen again.
void Store::part(NodeId id, const Expansion& found, std::span<const SplitBounds> spans) {
  StoreNode& at = (*this)[id];
  reserve_cells((found.splits.size() + block_splits - 1) / block_splits + 1);
  take_best(at, found);
  for_each_split(at, [&](SplitRecord& split) {
    if (split.fresh()) split.forget_children();
    for (const std::uint32_t i : found.parted)
      if (static_cast<const Tests&>(split) == static_cast<const Tests&>(spans[i])) split.retire();
  });
  std::uint32_t block = last_block(at);
  for (const SplitBounds& split : found.splits) add_split(at, block, split);
  for_each_split(at, [](SplitRecord& split) {
    if (split.fresh()) split.forget_children();
  });
}

void Store::add_split(StoreNode& at, std::uint32_t& block, const SplitBounds& split) {
  if (at.base + place_of(split, test_costs_).total >= at.upper) return;
  SplitRecord& to = add_split(at, block);
  static_cast<Tests&>(to) = split;
  to.lower[0] = split.lower[0];
  to.lower[1] = split.lower[1];
}

// `block` is the last one of the node's chain.
SplitRecord& Store::add_split(StoreNode& at, std::uint32_t& block) {
  const std::size_t i = at.n_splits % block_splits;
  if (i == 0) {
    const std::uint32_t fresh = new_cell();
    new (&cell(fresh).block) Block{};
    (at.n_splits == 0 ? at.splits : cell(block).block.next) = fresh;
    block = fresh;
  }
  ++at.n_splits;
  return cell(block).block.splits[i] = SplitRecord{};
}

void Store::close(NodeId id) {
  StoreNode& at = (*this)[id];
  assert(at.solved());
  SplitRecord keep;
  for_each_split(at, [&](const SplitRecord& split) {
    if (at.is_best(split)) keep = split;
  });
  free_chain(at.splits);
  at.n_splits = 0;
  at.rest = Cost::infinity();
  if (!keep.attached()) return;  // a leaf, or what `below` tells
  std::uint32_t block = no_cell;
  add_split(at, block) = keep;
}

void Store::free_chain(std::uint32_t& first) {
  while (first != no_cell) {
    const std::uint32_t next = cell(first).block.next;
    give_back(first);
    first = next;
  }
}

// The split behind the upper bound stays, as it is part of the tree.
void Store::trim(StoreNode& at, Cost margin) {
  if (forget_spans(at)) return;
  std::uint32_t block = at.splits, n_kept = 0;
  for_each_split(at, [&](SplitRecord& split) {
    const Cost total = place(split).total;
    if (!at.is_best(split) && at.base + total > at.lower + margin) {
      at.rest = std::min(at.rest, total);
      return;
    }
    if (n_kept > 0 && n_kept % block_splits == 0) block = cell(block).block.next;
    cell(block).block.splits[n_kept++ % block_splits] = split;  // at or before this one
  });
  at.n_splits = n_kept;
  free_chain(n_kept == 0 ? at.splits : cell(block).block.next);
}

// Of spans some cannot be dropped and others kept: what is left would not tell which thresholds
// they are about. All are found anew.
bool Store::forget_spans(StoreNode& at) {
  bool any = false;
  SplitRecord best;
  for_each_split(at, [&](const SplitRecord& split) {
    any = any || split.is_span();
    if (at.is_best(split)) best = split;
  });
  if (!any) return false;
  const bool keep = best.column != no_column;
  if (keep) cell(at.splits).block.splits[0] = best;
  at.n_splits = keep ? 1 : 0;
  free_chain(keep ? cell(at.splits).block.next : at.splits);
  at.expanded = false;
  at.rest = Cost::infinity();
  return true;
}

bool Store::collect(std::span<const NodeId> pinned, std::size_t target, Cost margin, Watch& watch) {
  for (const NodeId id : pinned) (*this)[id].marked = true;
  for (std::uint32_t n = 0; n < n_cells_; ++n) {
    if (!is_node(n)) continue;
    if (watch.stop(100)) return false;
    StoreNode& at = cell(n).node;
    if (!at.marked && !at.solved() && at.n_splits > 0) trim(at, margin);
  }
  if (live() <= target) {
    for (const NodeId id : pinned) (*this)[id].marked = false;
    return true;
  }

  // Bytes by the binary logarithm of the effort tell how much effort is to be given up.
  std::array<std::size_t, 33> bytes_of{};
  const auto level = [this](const StoreNode& at) {
    return at.key.limit < least_limit_ ? 0 : static_cast<std::size_t>(std::bit_width(at.effort));
  };
  for (std::uint32_t n = 0; n < n_cells_; ++n) {
    if (!is_node(n)) continue;
    if (watch.stop(10)) return false;
    const StoreNode& at = cell(n).node;
    bytes_of[level(at)] += sizeof(Cell) * (1 + (at.n_splits + block_splits - 1) / block_splits);
  }
  std::size_t bytes = live();
  std::size_t bar = 0;  // levels below it go
  while (bar < bytes_of.size() && bytes > target) bytes -= std::min(bytes, bytes_of[bar++]);

  for (const NodeId id : pinned)
    for_each_split((*this)[id], [&](const SplitRecord& split) {
      if (!split.attached()) return;
      for (const NodeId child : split.child) (*this)[child].marked = true;
    });
  for (std::uint32_t n = 0; n < n_cells_; ++n)
    if (is_node(n) && level(cell(n).node) >= bar) cell(n).node.marked = true;
  for (std::uint32_t n = 0; n < n_cells_; ++n) {
    if (!is_node(n)) continue;
    if (watch.stop(100)) return false;
    cell(n).node.effort /= 2;
    if (cell(n).node.marked) mark_tree(NodeId{n});
  }
  return sweep(watch);
}

// The tree behind the upper bound stays with the node. It is no deeper than there are columns, and
// no memory is asked for when there is none.
void Store::mark_tree(NodeId id) {
  const StoreNode& at = (*this)[id];
  if (at.best == no_column) return;
  for_each_split(at, [&](const SplitRecord& split) {
    if (!at.is_best(split) || !split.attached()) return;
    for (const NodeId child : split.child) {
      if ((*this)[child].marked) continue;
      (*this)[child].marked = true;
      mark_tree(child);
    }
  });
}

bool Store::sweep(Watch& watch) {
  // Splits forget the children that go, while these can still be read. The table is made anew.
  std::fill(buckets_.begin(), buckets_.end(), NodeId::none);
  for (std::uint32_t n = 0; n < n_cells_; ++n) {
    if (!is_node(n) || !cell(n).node.marked) continue;
    StoreNode& at = cell(n).node;
    if (watch.stop(100 + 20 * at.n_splits)) return false;
    NodeId& first = buckets_[bucket_of(at.key)];
    at.next = first;
    first = NodeId{n};
    for_each_split(at, [&](SplitRecord& split) {
      if (split.attached() && !((*this)[split.child[0]].marked && (*this)[split.child[1]].marked))
        split.forget_children();
    });
  }
  for (std::uint32_t n = 0; n < n_cells_; ++n) {
    if (!is_node(n)) continue;
    if (watch.stop(20)) return false;
    if (cell(n).node.marked) {
      cell(n).node.marked = false;
      continue;
    }
    free_chain(cell(n).node.splits);
    give_back(n);
    is_node(n) = false;
    --n_alive_;
  }
  return true;
}

}  // namespace maptree
