// Store: what it keeps, what it may drop, and that it says honestly how much it takes.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "check.hpp"
#include "problem.hpp"
#include "store.hpp"

using fuzz::Random;
using maptree::Cost;
using maptree::Expansion;
using maptree::no_column;
using maptree::no_limit;
using maptree::NodeId;
using maptree::SplitRecord;
using maptree::Store;
using maptree::StoreKey;
using maptree::StoreNode;

namespace {

const auto never = [](std::int64_t) { return false; };

StoreKey key_of(std::uint64_t n, std::uint32_t depth = 0, std::uint32_t limit = no_limit) {
  StoreKey key;
  key.rows.low = n;
  key.depth = depth;
  key.limit = limit;
  return key;
}

Expansion splits_of(std::size_t n, Cost lower, Cost upper) {
  Expansion found;
  for (std::size_t i = 0; i < n; ++i) {
    found.splits.emplace_back();
    found.splits.back().column = static_cast<std::uint32_t>(i);
    for (int side = 0; side < 2; ++side) {
      found.splits.back().lower[side] = lower;
      found.splits.back().upper[side] = upper;
    }
  }
  return found;
}

// What can be read off below a node: the cost of a tree of the costs of leaves, -1 where a part of
// it is gone.
Cost read_off(const Store& store, NodeId id) {
  const StoreNode& node = store[id];
  CHECK(node.alive);
  if (node.best == no_column) return node.upper;
  Cost cost(-1);
  node.for_each_split([&](const SplitRecord& split) {
    if (split.column == node.best && split.attached())
      cost = node.base + read_off(store, split.child[0]) + read_off(store, split.child[1]);
  });
  return cost;
}

// The first split of a node gets these children, and is its best one.
void attach(Store& store, NodeId id, NodeId zero, NodeId one) {
  StoreNode& node = store[id];
  bool first = true;
  node.for_each_split([&](SplitRecord& split) {
    if (!std::exchange(first, false)) return;
    split.child[0] = zero;
    split.child[1] = one;
    node.best = split.column;
    node.upper = node.base + store[zero].upper + store[one].upper;
  });
}

}  // namespace

TEST(a_store_finds_what_it_was_given) {
  Store store;
  std::map<std::uint64_t, NodeId> made;
  for (std::uint64_t n = 0; n < 5000; ++n) {
    const std::uint64_t rows = n * 7919 % 1009;
    const auto depth = static_cast<std::uint32_t>(n % 3);
    const std::uint32_t limit = n % 2 == 0 ? no_limit : 3;
    const NodeId id = store.intern(key_of(rows, depth, limit), Cost(10), Cost(20), 1);
    const auto [known, fresh] = made.try_emplace(rows * 6 + depth * 2 + n % 2, id);
    CHECK(known->second == id);
    CHECK(store[id].lower == Cost(10) && store[id].upper == Cost(20));
  }
  CHECK_EQUAL(store.n_nodes(), made.size());
  CHECK_EQUAL(store.n_made(), made.size());
}

TEST(an_old_node_takes_the_better_bound) {
  Store store;
  const NodeId id = store.intern(key_of(1), Cost(10), Cost(20), 1);
  CHECK(store.intern(key_of(1), Cost(5), Cost(20), 1) == id && store[id].lower == Cost(10));
  CHECK(store.intern(key_of(1), Cost(15), Cost(20), 1) == id && store[id].lower == Cost(15));
  CHECK(store.intern(key_of(1), Cost(25), Cost(20), 1) == id && store[id].solved());
  CHECK(store[store.intern(key_of(2), Cost(30), Cost(20), 1)].solved());
}

TEST(opening_keeps_the_splits_that_may_be_cheaper) {
  Store store;
  Expansion found = splits_of(20, Cost(3), Cost(9));
  found.base = Cost(2);
  for (std::size_t i = 0; i < 20; i += 2) found.splits[i].lower[0] = Cost(100);
  const NodeId id = store.intern(key_of(1), Cost(1), Cost(50), 1);
  store.open(id, found);
  CHECK_EQUAL(store[id].n_splits, 10u);
  std::vector<std::uint32_t> columns;
  store[id].for_each_split([&](const SplitRecord& split) { columns.push_back(split.column); });
  for (std::size_t i = 0; i < columns.size(); ++i) CHECK_EQUAL(columns[i], 2 * i + 1);
  CHECK(!store[id].solved() && store[id].expanded);

  const NodeId none = store.intern(key_of(2), Cost(1), Cost(8), 1);
  store.open(none, found);  // 2 + 3 + 3 is not below 8
  CHECK(store[none].solved() && store[none].n_splits == 0);

  found.best = 1;
  found.best_upper[0] = found.best_upper[1] = Cost(4);
  found.best_below[0] = 7;
  const NodeId better = store.intern(key_of(3), Cost(1), Cost(50), 1);
  store.open(better, found);
  CHECK(store[better].upper == Cost(10) && store[better].best == 1 && store[better].below[0] == 7);
}

TEST(a_store_says_what_it_takes) {
  Random random(61);
  for (int round = 0; round < 20; ++round) {
    Store store;
    std::vector<NodeId> open;
    const std::size_t most = random.one_of<std::size_t>({1, 9, 100, 3000});
    for (int step = 0; step < 400; ++step) {
      const std::size_t n_splits = random.below(most + 1);
      const std::size_t before = store.bytes(), growth = store.growth(n_splits);
      const NodeId id = store.intern(key_of(random.next()), Cost(0), Cost(100), 1);
      store.intern(key_of(random.next()), Cost(0), Cost(100), 1);
      store.open(id, splits_of(n_splits, Cost(1), Cost(2)));
      open.push_back(id);
      CHECK(store.bytes() <= before + growth);
      CHECK(store.live() <= store.bytes());
      if (random.chance(0.01)) {
        const std::size_t held = store.bytes(), live = store.live();
        CHECK(store.collect({}, store.live() / 2, never));
        CHECK_EQUAL(store.bytes(), held);
        CHECK(store.live() <= live / 2);
        open.clear();
        CHECK_EQUAL(store.n_nodes() == 0, store.live() == 0);
      }
      if (!open.empty() && random.chance(0.2)) {
        StoreNode& node = store[open.back()];
        node.lower = node.upper;
        store.close(open.back());
        CHECK_EQUAL(node.n_splits, 0u);
      }
    }
  }
}

TEST(what_was_dropped_is_used_again) {
  Store store;
  for (int round = 0; round < 50; ++round) {
    const std::size_t bytes = store.bytes();
    for (std::uint64_t n = 0; n < 1000; ++n) {
      const NodeId id = store.intern(key_of(1000 * round + n), Cost(0), Cost(100), 1);
      store.open(id, splits_of(20, Cost(1), Cost(2)));
    }
    if (round > 0) CHECK_EQUAL(store.bytes(), bytes);
    CHECK(store.collect({}, 0, never));
    CHECK_EQUAL(store.n_nodes(), 0u);
    CHECK_EQUAL(store.live(), 0u);
  }
}

TEST(a_collection_keeps_pinned_nodes_their_children_and_all_trees) {
  Random random(62);
  for (int round = 0; round < 200; ++round) {
    Store store;
    std::vector<NodeId> nodes;
    for (std::uint64_t n = 0; n < 40; ++n)
      nodes.push_back(store.intern(key_of(n), Cost(0), Cost(100), 1));
    // Later nodes have earlier ones as children, some in several places.
    for (std::size_t n = 40; n < 120; ++n) {
      const NodeId id = store.intern(key_of(n), Cost(0), Cost(100'000), 1);
      store.open(id, splits_of(random.between<std::size_t>(1, 20), Cost(0), Cost(1)));
      if (random.chance(0.8))
        attach(store, id, nodes[random.below(nodes.size())], nodes[random.below(nodes.size())]);
      store[id].effort = random.below(1u << random.between(0, 20));
      nodes.push_back(id);
    }
    std::map<NodeId, Cost> tree;
    for (const NodeId id : nodes) tree[id] = read_off(store, id);
    std::vector<NodeId> pinned;
    for (int i = random.between(0, 4); i > 0; --i) pinned.push_back(nodes[random.below(120)]);
    std::map<NodeId, std::vector<SplitRecord>> splits;
    for (const NodeId id : std::set(pinned.begin(), pinned.end()))
      store[id].for_each_split([&](const SplitRecord& split) { splits[id].push_back(split); });

    CHECK(store.collect(pinned, random.below(store.live() + 1), never));
    std::size_t n_alive = 0;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const StoreNode& node = store[nodes[n]];
      if (!node.alive) continue;
      ++n_alive;
      CHECK(!node.marked);
      CHECK(read_off(store, nodes[n]) == tree[nodes[n]]);
      node.for_each_split([&](const SplitRecord& split) {
        CHECK_EQUAL(split.attached(), split.child[1] != NodeId::none);
        for (const NodeId child : split.child) CHECK(child == NodeId::none || store[child].alive);
      });
    }
    CHECK_EQUAL(n_alive, store.n_nodes());
    for (const NodeId id : pinned) {
      CHECK(store[id].alive);
      std::size_t i = 0;
      store[id].for_each_split([&](const SplitRecord& split) {
        CHECK(split.child[0] == splits[id][i].child[0] && split.child[1] == splits[id][i].child[1]);
        ++i;
      });
      CHECK_EQUAL(i, splits[id].size());
    }
    // The table knows who is left, and makes the others anew.
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const bool alive = store[nodes[n]].alive && store[nodes[n]].key == key_of(n);
      const std::size_t before = store.n_nodes();
      const NodeId id = store.intern(key_of(n), Cost(0), Cost(100), 1);
      CHECK_EQUAL(store.n_nodes(), before + (alive ? 0 : 1));
      if (alive) CHECK(id == nodes[n]);
    }
  }
}

TEST(a_collection_keeps_what_was_dear) {
  Store store;
  std::vector<NodeId> nodes;
  for (std::uint64_t n = 0; n < 1024; ++n) {
    nodes.push_back(store.intern(key_of(n), Cost(0), Cost(100), 1));
    store[nodes.back()].effort = n % 4 == 0 ? 1000 : 1;
  }
  CHECK(store.collect({}, store.live() / 2, never));
  for (std::size_t n = 0; n < nodes.size(); ++n) CHECK_EQUAL(store[nodes[n]].alive, n % 4 == 0);
  for (std::size_t n = 0; n < nodes.size(); n += 4) CHECK_EQUAL(store[nodes[n]].effort, 500u);
}

TEST(a_proofs_nodes_are_forgotten_with_it) {
  Store store;
  for (std::uint64_t n = 0; n < 1000; ++n)
    store.open(store.intern(key_of(n, 0, n % 3 == 0 ? no_limit : static_cast<std::uint32_t>(n % 3)),
                            Cost(0), Cost(100), 1),
               splits_of(5, Cost(1), Cost(2)));
  CHECK(store.forget(1, never));
  CHECK_EQUAL(store.n_nodes(), 667u);
  CHECK(store.forget(1, never));
  CHECK_EQUAL(store.n_nodes(), 667u);
  CHECK(store.forget(2, never));
  CHECK_EQUAL(store.n_nodes(), 334u);
  CHECK(store.forget(no_limit, never));
  CHECK_EQUAL(store.live(), 0u);
}

TEST(a_collection_can_be_stopped) {
  for (int polls = 0; polls < 300; polls += 7) {
    Store store;
    for (std::uint64_t n = 0; n < 100; ++n)
      store[store.intern(key_of(n), Cost(3), Cost(100), 1)].effort = n % 2 == 0 ? 0 : 9;
    const NodeId pinned = store.intern(key_of(50), Cost(4), Cost(100), 1);
    int left = polls;
    const bool ended =
        store.collect(std::vector{pinned}, 0, [&](std::int64_t) { return left-- == 0; });
    CHECK(!ended || polls > 200);
    CHECK(store[pinned].alive && store[pinned].lower == Cost(4));
  }
}
