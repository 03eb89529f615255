#include "store.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

namespace maptree {

Store::Store() : buckets_(1024, NodeId::none) {}

std::size_t Store::bytes() const {
  return node_memory_.bytes() + split_memory_.bytes() + blocks_.capacity() * sizeof(StoreNode*) +
         buckets_.capacity() * sizeof(NodeId) + to_mark_.capacity() * sizeof(NodeId);
}

std::size_t Store::growth(std::size_t n_splits) const {
  const std::size_t needed = (n_splits + SplitBlock::capacity - 1) / SplitBlock::capacity;
  std::size_t bytes = 0;
  if (needed > n_free_blocks_)
    bytes += split_memory_.growth((needed - n_free_blocks_) * sizeof(SplitBlock));
  if (n_slots_ - n_alive_ < slack) {
    bytes += node_memory_.growth(block_nodes * sizeof(StoreNode));
    if (blocks_.size() == blocks_.capacity()) bytes += 2 * blocks_.size() * sizeof(StoreNode*) + 64;
  }
  // The table is made anew beside the old one.
  if (n_alive_ + 2 > buckets_.size()) bytes += 2 * buckets_.size() * sizeof(NodeId);
  return bytes;
}

NodeId Store::intern(const StoreKey& key, Cost lower, Cost leaf, std::uint32_t weight) {
  for (NodeId id = bucket(key); id != NodeId::none; id = (*this)[id].next) {
    StoreNode& old = (*this)[id];
    if (!(old.key == key)) continue;
    old.lower = std::max(old.lower, std::min(lower, old.upper));
    return id;
  }
  if (n_alive_ >= buckets_.size()) rehash(2 * buckets_.size());
  NodeId id = free_;
  if (id != NodeId::none) {
    free_ = (*this)[id].next;
    (*this)[id] = StoreNode{};
  } else {
    if (n_slots_ == blocks_.size() * block_nodes)
      blocks_.push_back(static_cast<StoreNode*>(node_memory_.allocate(block_nodes * sizeof(StoreNode))));
    id = NodeId{n_slots_++};
    new (&(*this)[id]) StoreNode{};
  }
  StoreNode& made = (*this)[id];
  made.key = key;
  made.upper = leaf;
  made.lower = std::min(lower, leaf);
  made.weight = weight;
  made.next = bucket(key);
  bucket(key) = id;
  ++n_alive_;
  ++n_made_;
  return id;
}

void Store::rehash(std::size_t size) {
  buckets_.assign(size, NodeId::none);
  for (std::uint32_t n = 0; n < n_slots_; ++n) {
    if (!node(n).alive) continue;
    NodeId& first = bucket(node(n).key);
    node(n).next = first;
    first = NodeId{n};
  }
}

void Store::open(NodeId id, const Expansion& found) {
  StoreNode& at = (*this)[id];
  assert(!at.expanded);
  at.expanded = true;
  at.base = found.base;
  if (found.best != no_column) {
    const Cost upper = found.base + found.best_upper[0] + found.best_upper[1];
    if (upper < at.upper) {
      at.upper = upper;
      at.best = found.best;
      for (int side = 0; side < 2; ++side) at.below[side] = found.best_below[side];
    }
  }
  const auto kept = [&](const SplitBounds& split) {
    return found.base + split.lower[0] + split.lower[1] < at.upper;
  };
  at.n_splits =
      static_cast<std::uint32_t>(std::count_if(found.splits.begin(), found.splits.end(), kept));
  at.lower = std::min(at.lower, at.upper);
  if (at.n_splits == 0) {
    at.lower = at.upper;
    return;
  }
  SplitBlock** chain = &at.splits;
  std::size_t used = SplitBlock::capacity;
  SplitBlock* block = nullptr;
  for (const SplitBounds& split : found.splits) {
    if (!kept(split)) continue;
    if (used == SplitBlock::capacity) {
      block = *chain = new_block();
      chain = &block->next;
      used = 0;
    }
    SplitRecord& to = block->splits[used++];
    to = SplitRecord{};
    to.column = split.column;
    to.lower[0] = split.lower[0];
    to.lower[1] = split.lower[1];
  }
}

void Store::close(NodeId id) {
  StoreNode& at = (*this)[id];
  assert(at.solved());
  SplitRecord keep;
  at.for_each_split([&](const SplitRecord& split) {
    if (split.column == at.best) keep = split;
  });
  free_splits(at);
  if (!keep.attached()) return;  // a leaf, or what `below` tells
  at.splits = new_block();
  at.splits->splits[0] = keep;
  at.n_splits = 1;
}

SplitBlock* Store::new_block() {
  SplitBlock* block = free_block_;
  if (block != nullptr) {
    free_block_ = block->next;
    --n_free_blocks_;
  } else {
    block = static_cast<SplitBlock*>(split_memory_.allocate(sizeof(SplitBlock)));
    ++n_blocks_;
  }
  return new (block) SplitBlock{};
}

void Store::free_splits(StoreNode& at) {
  while (at.splits != nullptr) {
    SplitBlock* next = at.splits->next;
    at.splits->next = free_block_;
    free_block_ = at.splits;
    ++n_free_blocks_;
    at.splits = next;
  }
  at.n_splits = 0;
}

bool Store::collect(std::span<const NodeId> pinned, std::size_t target,
                    const std::function<bool(std::int64_t)>& stop) {
  // Bytes by the binary logarithm of the effort tell how much effort is to be given up.
  std::array<std::size_t, 33> bytes_of{};
  const auto level = [](const StoreNode& at) {
    return static_cast<std::size_t>(std::bit_width(at.effort));
  };
  for (std::uint32_t n = 0; n < n_slots_; ++n) {
    if (stop(10)) return false;
    const StoreNode& at = node(n);
    const std::size_t n_blocks = (at.n_splits + SplitBlock::capacity - 1) / SplitBlock::capacity;
    if (at.alive) bytes_of[level(at)] += sizeof(StoreNode) + n_blocks * sizeof(SplitBlock);
  }
  std::size_t bytes = live();
  std::size_t bar = 0;  // levels below it go
  while (bar < bytes_of.size() && bytes > target) bytes -= std::min(bytes, bytes_of[bar++]);

  for (const NodeId id : pinned) {
    (*this)[id].marked = true;
    (*this)[id].for_each_split([&](const SplitRecord& split) {
      for (const NodeId child : split.child)
        if (child != NodeId::none) (*this)[child].marked = true;
    });
  }
  for (std::uint32_t n = 0; n < n_slots_; ++n)
    if (node(n).alive && level(node(n)) >= bar) node(n).marked = true;
  for (std::uint32_t n = 0; n < n_slots_; ++n) {
    if (stop(100)) return false;
    node(n).effort /= 2;
    if (node(n).alive && node(n).marked) mark_tree(NodeId{n});
  }
  return sweep(stop);
}

// The tree behind the upper bound stays with the node.
void Store::mark_tree(NodeId id) {
  to_mark_.push_back(id);
  while (!to_mark_.empty()) {
    const StoreNode& at = (*this)[to_mark_.back()];
    to_mark_.pop_back();
    if (at.best == no_column) continue;
    at.for_each_split([&](const SplitRecord& split) {
      if (split.column != at.best || !split.attached()) return;
      for (const NodeId child : split.child) {
        if ((*this)[child].marked) continue;
        (*this)[child].marked = true;
        to_mark_.push_back(child);
      }
    });
  }
}

void Store::forget(std::uint32_t limit) {
  for (std::uint32_t n = 0; n < n_slots_; ++n)
    node(n).marked = node(n).alive && node(n).key.limit != limit;
  sweep([](std::int64_t) { return false; });
}

bool Store::sweep(const std::function<bool(std::int64_t)>& stop) {
  for (std::uint32_t n = 0; n < n_slots_; ++n) {
    if (!node(n).alive || node(n).marked) continue;
    if (stop(100)) return false;
    free_splits(node(n));
    node(n).alive = false;
    --n_alive_;
  }
  // Splits forget the children that are gone; the list of free slots and the table are made anew.
  free_ = NodeId::none;
  std::fill(buckets_.begin(), buckets_.end(), NodeId::none);
  for (std::uint32_t n = n_slots_; n-- > 0;) {
    StoreNode& at = node(n);
    if (stop(100 + 20 * at.n_splits)) return false;
    at.marked = false;
    NodeId& list = at.alive ? bucket(at.key) : free_;
    at.next = list;
    list = NodeId{n};
    at.for_each_split([&](SplitRecord& split) {
      if (!split.attached()) return;
      if (!(*this)[split.child[0]].alive || !(*this)[split.child[1]].alive)
        split.child[0] = split.child[1] = NodeId::none;
    });
  }
  return true;
}

}  // namespace maptree
