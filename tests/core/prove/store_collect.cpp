// Store: what a collection keeps, and what it drops first.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "check.hpp"
#include "failing_memory.hpp"
#include "problem.hpp"
#include "store_nodes.hpp"
#include "turned_clock.hpp"

using fuzz::Random;
using maptree::Cost;
using maptree::Expansion;
using maptree::no_column;
using maptree::no_limit;
using maptree::NodeId;
using maptree::SplitRecord;
using maptree::Store;
using maptree::StoreNode;
using store_test::key_of;
using store_test::never;
using store_test::no_trimming;
using store_test::splits_at;
using store_test::splits_of;

namespace {

// What can be read off below a node: the cost of a tree of the costs of leaves, -1 where a part of
// it is gone.
Cost read_off(Store& store, NodeId id, const std::set<NodeId>& alive) {
  CHECK(alive.contains(id));
  const StoreNode& node = store[id];
  if (node.best == no_column) return node.upper;
  Cost cost(-1);
  store.for_each_split(node, [&](const SplitRecord& split) {
    if (split.column == node.best && split.attached())
      cost = node.base + read_off(store, split.child[0], alive) +
             read_off(store, split.child[1], alive);
  });
  return cost;
}

// Of the nodes of keys 0, 1, ... those that are still there: the table knows them. It makes the
// others anew, which get the cells that are free, or new ones.
std::set<NodeId> who_is_left(Store& store, const std::vector<NodeId>& nodes) {
  std::set<NodeId> left;
  const std::size_t n_left = store.n_nodes();
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const std::size_t before = store.n_nodes();
    const NodeId id = store.intern(key_of(n), Cost(0), Cost(100), {1});
    if (store.n_nodes() != before) continue;
    CHECK(id == nodes[n]);
    left.insert(id);
  }
  CHECK_EQUAL(left.size(), n_left);
  CHECK_EQUAL(store.n_nodes(), nodes.size());
  return left;
}

// The first two splits of a node get these children; the first is its best one, the second has
// risen.
void attach(Store& store, NodeId id, NodeId zero, NodeId one) {
  StoreNode& node = store[id];
  int n = 0;
  store.find_split(node, [&](SplitRecord& split) {
    split.child[0] = zero;
    split.child[1] = one;
    if (n++ == 0)
      node.best = split.column;
    else
      split.lower[1] += Cost(50);
    return n == 2;
  });
  node.upper = node.base + store[zero].upper + store[one].upper;
}

}  // namespace

TEST(a_collection_keeps_pinned_nodes_their_children_and_all_trees) {
  Random random(62);
  for (int round = 0; round < 200; ++round) {
    Store store{maptree::TestCosts()};
    std::vector<NodeId> nodes;
    for (std::uint64_t n = 0; n < 40; ++n)
      nodes.push_back(store.intern(key_of(n), Cost(0), Cost(100), {1}));
    // Later nodes have earlier ones as children, some in several places.
    for (std::size_t n = 40; n < 120; ++n) {
      const NodeId id = store.intern(key_of(n), Cost(0), Cost(100'000), {1});
      Expansion found = splits_of(random.between<std::size_t>(1, 20), Cost(0), Cost(1));
      for (maptree::SplitBounds& split : found.splits) split.lower[0] = Cost(random.below(10));
      store_test::sort_splits(found);
      store.open(id, found);
      if (random.chance(0.8))
        attach(store, id, nodes[random.below(nodes.size())], nodes[random.below(nodes.size())]);
      CHECK(store_test::in_order(store, id));
      store[id].effort = random.below(1u << random.between(0, 20));
      nodes.push_back(id);
    }
    std::map<NodeId, Cost> tree;
    const std::set<NodeId> all(nodes.begin(), nodes.end());
    for (const NodeId id : nodes) tree[id] = read_off(store, id, all);
    std::vector<NodeId> pinned;
    for (int i = random.between(0, 4); i > 0; --i) pinned.push_back(nodes[random.below(120)]);
    std::map<NodeId, std::vector<SplitRecord>> splits;
    for (const NodeId id : pinned) splits[id] = splits_at(store, id);

    const Cost margin = random.one_of({Cost(0), Cost(5), no_trimming});
    CHECK(store.collect(pinned, random.below(store.live() + 1), margin, never));
    const std::set<NodeId> left = who_is_left(store, nodes);
    for (const NodeId id : left) {
      CHECK(!store[id].marked);
      CHECK(read_off(store, id, left) == tree[id]);
      store.for_each_split(store[id], [&](const SplitRecord& split) {
        if (!split.attached()) return;
        for (const NodeId child : split.child) CHECK(left.contains(child));
      });
      CHECK(store_test::in_order(store, id));
    }
    for (const NodeId id : pinned) {
      CHECK(left.contains(id));
      const std::vector<SplitRecord> now = splits_at(store, id);
      CHECK_EQUAL(now.size(), splits[id].size());
      for (std::size_t i = 0; i < std::min(now.size(), splits[id].size()); ++i) {
        CHECK_EQUAL(now[i].column, splits[id][i].column);
        for (int side = 0; side < 2; ++side)
          CHECK(now[i].child[side] == splits[id][i].child[side] &&
                now[i].lower[side] == splits[id][i].lower[side]);
      }
    }
  }
}

TEST(a_collection_asks_for_no_memory) {
  for (std::uint64_t n_nodes = 1; n_nodes < 400; n_nodes += 13) {
    Store store{maptree::TestCosts()};
    for (std::uint64_t n = 0; n < n_nodes; ++n) {
      const NodeId id = store.intern(key_of(n), Cost(0), Cost(100), {1});
      store.open(id, splits_of(n % 7, Cost(1), Cost(2)));
    }
    const failing_memory::Failure none_left(1, failing_memory::Then::is_gone);
    CHECK(store.collect({}, 0, no_trimming, never));
    CHECK_EQUAL(store.live(), 0u);
    CHECK_EQUAL(failing_memory::Failure::n_requests(), 0);
  }
}

TEST(a_collection_keeps_what_was_dear) {
  Store store{maptree::TestCosts()};
  std::vector<NodeId> nodes;
  for (std::uint64_t n = 0; n < 1024; ++n) {
    nodes.push_back(store.intern(key_of(n), Cost(0), Cost(100), {1}));
    store[nodes.back()].effort = n % 4 == 0 ? 1000 : 1;
  }
  CHECK(store.collect({}, store.live() / 2, no_trimming, never));
  const std::set<NodeId> left = who_is_left(store, nodes);
  for (std::size_t n = 0; n < nodes.size(); ++n) CHECK_EQUAL(left.contains(nodes[n]), n % 4 == 0);
  for (std::size_t n = 0; n < nodes.size(); n += 4) CHECK_EQUAL(store[nodes[n]].effort, 500u);
}

TEST(nodes_of_ended_proofs_go_first) {
  Store store{maptree::TestCosts()};
  NodeId stays = NodeId::none;
  for (std::uint64_t n = 0; n < 1000; ++n) {
    const std::uint32_t limit = n % 3 == 0 ? no_limit : static_cast<std::uint32_t>(n % 3);
    const NodeId id = store.intern(key_of(n, 0, limit), Cost(0), Cost(100), {1});
    store.open(id, splits_of(5, Cost(1), Cost(2)));
    store[id].effort = limit == no_limit ? 1000 : 1'000'000;  // which is of no use any more
    if (n == 1) stays = id;
  }
  const std::vector<NodeId> pinned{stays};
  const auto collect = [&] {  // anything at all
    CHECK(store.collect(pinned, store.live() - 1, no_trimming, never));
  };
  store.set_least_limit(2);
  collect();
  CHECK_EQUAL(store.n_nodes(), 668u);
  CHECK(store[stays].key == key_of(1, 0, 1));
  store.set_least_limit(3);
  collect();
  CHECK_EQUAL(store.n_nodes(), 335u);
  for (std::uint64_t n = 0; n < 1000; n += 3) store.intern(key_of(n), Cost(0), Cost(100), {1});
  CHECK_EQUAL(store.n_nodes(), 335u);
  CHECK(store.collect({}, 0, no_trimming, never));
  CHECK_EQUAL(store.live(), 0u);
}

TEST(a_collection_can_be_stopped) {
  // Returns how often the clock was read.
  const auto collect = [](std::int64_t late_from) {
    Store store{maptree::TestCosts()};
    for (std::uint64_t n = 0; n < 100; ++n) {
      const NodeId id = store.intern(key_of(n), Cost(3), Cost(100), {1});
      Expansion found = splits_of(7, Cost(2), Cost(5));
      for (std::size_t i = 0; i < 7; ++i) found.splits[i].lower[0] = Cost(2 + 5 * (i % 2));
      store_test::sort_splits(found);
      store.open(id, found);
      store[id].effort = n % 2 == 0 ? 0 : 9;
    }
    const NodeId pinned = store.intern(key_of(50), Cost(4), Cost(100), {1});
    const TurnedClock clock(late_from);
    maptree::Control control(clock.limits());
    maptree::Watch watch(control);
    const bool ended = store.collect(std::vector{pinned}, 0, Cost(1), watch);
    CHECK_EQUAL(ended, clock.n_readings() <= late_from);
    CHECK(store[pinned].key == key_of(50) && store[pinned].lower == Cost(4));
    return clock.n_readings();
  };
  const std::int64_t all = collect(1'000'000);
  CHECK(all > 200);
  for (std::int64_t late_from = 0; late_from < all + 10; ++late_from) {
    const std::int64_t expected = std::min(late_from + 1, all);
    CHECK_EQUAL(collect(late_from), expected);
  }
}
