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

// Every split is bounded by so much more than its node, if at all: nothing is trimmed.
const Cost no_trimming = Cost::infinity();

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

std::vector<SplitRecord> splits_at(Store& store, NodeId id) {
  std::vector<SplitRecord> out;
  store.for_each_split(store[id], [&](const SplitRecord& split) { out.push_back(split); });
  return out;
}

// Of the nodes of keys 0, 1, ... those that are still there: the table knows them. It makes the
// others anew, which get the cells that are free, or new ones.
std::set<NodeId> who_is_left(Store& store, const std::vector<NodeId>& nodes) {
  std::set<NodeId> left;
  const std::size_t n_left = store.n_nodes();
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const std::size_t before = store.n_nodes();
    const NodeId id = store.intern(key_of(n), Cost(0), Cost(100), 1);
    if (store.n_nodes() != before) continue;
    CHECK(id == nodes[n]);
    left.insert(id);
  }
  CHECK_EQUAL(left.size(), n_left);
  CHECK_EQUAL(store.n_nodes(), nodes.size());
  return left;
}

// The first split of a node gets these children, and is its best one.
void attach(Store& store, NodeId id, NodeId zero, NodeId one) {
  StoreNode& node = store[id];
  bool first = true;
  store.for_each_split(node, [&](SplitRecord& split) {
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
  store.for_each_split(store[id],
                       [&](const SplitRecord& split) { columns.push_back(split.column); });
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
        CHECK(store.collect({}, store.live() / 2, no_trimming, never));
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
    CHECK(store.collect({}, 0, no_trimming, never));
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
      Expansion found = splits_of(random.between<std::size_t>(1, 20), Cost(0), Cost(1));
      for (maptree::SplitBounds& split : found.splits) split.lower[0] = Cost(random.below(10));
      store.open(id, found);
      if (random.chance(0.8))
        attach(store, id, nodes[random.below(nodes.size())], nodes[random.below(nodes.size())]);
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
        CHECK_EQUAL(split.attached(), split.child[1] != NodeId::none);
        for (const NodeId child : split.child) CHECK(child == NodeId::none || left.contains(child));
      });
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

TEST(a_collection_keeps_what_was_dear) {
  Store store;
  std::vector<NodeId> nodes;
  for (std::uint64_t n = 0; n < 1024; ++n) {
    nodes.push_back(store.intern(key_of(n), Cost(0), Cost(100), 1));
    store[nodes.back()].effort = n % 4 == 0 ? 1000 : 1;
  }
  CHECK(store.collect({}, store.live() / 2, no_trimming, never));
  const std::set<NodeId> left = who_is_left(store, nodes);
  for (std::size_t n = 0; n < nodes.size(); ++n) CHECK_EQUAL(left.contains(nodes[n]), n % 4 == 0);
  for (std::size_t n = 0; n < nodes.size(); n += 4) CHECK_EQUAL(store[nodes[n]].effort, 500u);
}

TEST(nodes_of_ended_proofs_go_first) {
  Store store;
  NodeId stays = NodeId::none;
  for (std::uint64_t n = 0; n < 1000; ++n) {
    const std::uint32_t limit = n % 3 == 0 ? no_limit : static_cast<std::uint32_t>(n % 3);
    const NodeId id = store.intern(key_of(n, 0, limit), Cost(0), Cost(100), 1);
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
  for (std::uint64_t n = 0; n < 1000; n += 3) store.intern(key_of(n), Cost(0), Cost(100), 1);
  CHECK_EQUAL(store.n_nodes(), 335u);
  CHECK(store.collect({}, 0, no_trimming, never));
  CHECK_EQUAL(store.live(), 0u);
}

TEST(a_collection_can_be_stopped) {
  // After `polls` questions; returns how many there were.
  const auto collect = [](int polls) {
    Store store;
    for (std::uint64_t n = 0; n < 100; ++n) {
      const NodeId id = store.intern(key_of(n), Cost(3), Cost(100), 1);
      Expansion found = splits_of(7, Cost(2), Cost(5));
      for (std::size_t i = 0; i < 7; ++i) found.splits[i].lower[0] = Cost(2 + 5 * (i % 2));
      store.open(id, found);
      store[id].effort = n % 2 == 0 ? 0 : 9;
    }
    const NodeId pinned = store.intern(key_of(50), Cost(4), Cost(100), 1);
    int asked = 0;
    const bool ended = store.collect(std::vector{pinned}, 0, Cost(1),
                                     [&](std::int64_t) { return asked++ == polls; });
    CHECK_EQUAL(ended, asked <= polls);
    CHECK(store[pinned].key == key_of(50) && store[pinned].lower == Cost(4));
    return asked;
  };
  const int all = collect(1'000'000);
  CHECK(all > 200);
  for (int polls = 0; polls < all + 10; polls += 7) {
    const int asked = std::min(polls + 1, all);
    CHECK_EQUAL(collect(polls), asked);
  }
}

TEST(a_store_keeps_to_its_limit) {
  Random random(63);
  for (int round = 0; round < 60; ++round) {
    Store store;
    const std::size_t limit = store.bytes() + random.between<std::size_t>(3000, 200'000);
    const std::size_t most = random.one_of<std::size_t>({0, 2, 9, 100});
    store.set_limit(limit);
    int refused = 0;
    for (int step = 0; step < 4000 && refused < 5; ++step) {
      const std::size_t n_splits = random.below(most + 1);
      const auto ask = [&](std::size_t n) {
        if (store.has_room(n)) return true;
        ++refused;
        CHECK(store.collect({}, store.live() / 4 * random.below(4), no_trimming, never));
        return false;
      };
      // As provers do: room for two nodes, and room for the splits of one.
      if (!ask(0)) continue;
      std::size_t most_bytes = store.bytes() + store.growth(0);
      const NodeId id = store.intern(key_of(random.next()), Cost(0), Cost(100), 1);
      store.intern(key_of(random.next()), Cost(0), Cost(100), 1);
      store[id].effort = random.below(1000u);
      CHECK(store.bytes() <= limit && store.bytes() <= most_bytes);
      if (!ask(n_splits)) continue;
      most_bytes = store.bytes() + store.growth(n_splits);
      store.open(id, splits_of(n_splits, Cost(1), Cost(2)));
      CHECK(store.bytes() <= limit && store.bytes() <= most_bytes);
    }
    CHECK(refused > 0);
  }
}

TEST(a_table_leaves_the_room_that_was_promised) {
  Random random(66);
  for (int round = 0; round < 20; ++round) {
    Store store;
    for (int step = 0; step < 300; ++step) {
      // The least limit at which there is room, and a little more.
      std::size_t limit = store.bytes();
      for (store.set_limit(limit); !store.has_room(0); store.set_limit(limit)) limit += 64;
      limit += random.below<std::size_t>(1000);
      store.set_limit(limit);
      const NodeId id = store.intern(key_of(random.next()), Cost(0), Cost(100), 1);
      store.intern(key_of(random.next()), Cost(0), Cost(100), 1);
      CHECK(store.bytes() <= limit);
      store.set_limit(SIZE_MAX);
      store.open(id, splits_of(random.below<std::size_t>(12), Cost(1), Cost(2)));
    }
  }
}

TEST(a_table_that_grows_by_single_buckets_finds_everything) {
  Random random(64);
  for (int round = 0; round < 12; ++round) {
    Store store;
    if (round % 3 == 1) store.set_limit(store.bytes() + 30'000);  // then it stays small
    // Random bits; numbers in order; and only high bits that differ.
    const std::uint64_t factor = random.one_of<std::uint64_t>({0x9e3779b97f4a7c15, 1, 4096});
    const auto key = [&](std::uint64_t n) {
      return key_of(n / 4 * factor, n % 2, n / 2 % 2 == 0 ? no_limit : 3);
    };
    std::map<std::uint64_t, NodeId> there;
    const auto is_found = [&](std::uint64_t n, NodeId id) {
      const std::size_t before = store.n_nodes();
      return store.intern(key(n), Cost(0), Cost(100), 1) == id && store.n_nodes() == before &&
             store[id].key == key(n);
    };
    for (std::uint64_t n = 0; n < 1500; ++n) {
      const NodeId id = store.intern(key(n), Cost(0), Cost(100), 1);
      store[id].effort = random.below(2u) << 30;
      CHECK_EQUAL(store.n_nodes(), there.size() + 1);
      there[n] = id;
      if (n < 150 || n % 97 == 0)
        for (const auto& [old, at] : there) CHECK(is_found(old, at));
      if (random.chance(0.003)) {  // makes the table anew, at any size
        const std::size_t n_cheap = std::erase_if(
            there, [&](const auto& entry) { return store[entry.second].effort == 0; });
        if (n_cheap > 0) CHECK(store.collect({}, store.live() - 1, no_trimming, never));
        CHECK_EQUAL(store.n_nodes(), there.size());
      }
    }
    for (const auto& [old, at] : there) CHECK(is_found(old, at));
    CHECK_EQUAL(store.n_nodes(), there.size());
  }
}

// A node whose splits are raised as a prover would, trimmed and opened again, against what its
// splits really cost.
TEST(trimming_is_sound_and_opening_again_restores_every_split_once) {
  Random random(65);
  int n_trimmed = 0, n_reopened = 0, n_solved = 0;
  for (int round = 0; round < 300; ++round) {
    Store store;
    Expansion found = splits_of(random.between<std::size_t>(1, 30), Cost(0), Cost(0));
    found.base = Cost(random.below(20));
    std::vector<Cost> truth;  // of a split's two children
    for (maptree::SplitBounds& split : found.splits) {
      for (int side = 0; side < 2; ++side) split.lower[side] = Cost(random.below(100));
      truth.push_back(split.lower[0] + split.lower[1] + Cost(random.below(100)));
    }
    const NodeId id = store.intern(key_of(1), Cost(0), Cost(random.between(100, 300)), 1);
    const NodeId child = store.intern(key_of(2), Cost(0), Cost(1), 1);
    StoreNode& node = store[id];
    Cost optimum = node.upper;
    for (const Cost cost : truth) optimum = std::min(optimum, found.base + cost);
    store.open(id, found);
    std::map<std::uint32_t, SplitRecord> known;  // what is there
    for (const SplitRecord& split : splits_at(store, id)) known[split.column] = split;

    const auto check = [&] {
      std::size_t n = 0;
      store.for_each_split(node, [&](const SplitRecord& split) {
        ++n;
        const auto at = known.find(split.column);
        CHECK(at != known.end());
        if (at == known.end()) return;
        for (int side = 0; side < 2; ++side)
          CHECK(split.lower[side] == at->second.lower[side] &&
                split.child[side] == at->second.child[side]);
      });
      CHECK_EQUAL(n, known.size());
      CHECK_EQUAL(node.n_splits, known.size());
      CHECK(node.lower <= optimum && node.upper >= optimum);
    };
    check();
    while (!node.solved()) {
      // Raises the least split part of the way, or all of it: then it may be the best one.
      Cost least = Cost::infinity();
      SplitRecord* chosen = nullptr;
      store.for_each_split(node, [&](SplitRecord& split) {
        if (split.total() >= least) return;
        least = split.total();
        chosen = &split;
      });
      least = std::min(least, node.rest);
      node.lower = std::max(node.lower, std::min(node.upper, node.base + least));
      CHECK(node.lower <= optimum);
      if (node.solved()) break;
      if (node.rest == least) {
        ++n_reopened;
        const Cost lower = node.lower, upper = node.upper;
        const std::uint32_t best = node.best;
        store.open(id, found);
        CHECK(node.lower == lower && node.upper == upper && node.best == best);
        CHECK(node.rest == Cost::infinity());
        for (const maptree::SplitBounds& split : found.splits) {
          if (found.base + split.lower[0] + split.lower[1] >= node.upper) continue;
          SplitRecord back;
          back.column = split.column;
          for (int side = 0; side < 2; ++side) back.lower[side] = split.lower[side];
          known.try_emplace(split.column, back);
        }
        check();
        continue;
      }
      const Cost cost = truth[chosen->column];
      if (random.chance(0.5)) chosen->child[0] = chosen->child[1] = child;
      if (random.chance(0.3)) {
        chosen->lower[0] = cost - chosen->lower[1];
        if (node.base + cost < node.upper) {
          node.upper = node.base + cost;
          node.best = chosen->column;
        }
      } else {
        const Cost more((cost - chosen->total()).units());
        chosen->lower[random.below(2)] += Cost((more.units() + 1) / 2);
      }
      known[chosen->column] = *chosen;

      if (!random.chance(0.3)) continue;
      const Cost margin(random.one_of({0, 1, 10, 50}));
      const bool pinned = random.chance(0.1);
      Cost rest = node.rest;
      if (!pinned && !node.solved())
        std::erase_if(known, [&](const auto& at) {
          const SplitRecord& split = at.second;
          if (split.column == node.best || node.base + split.total() <= node.lower + margin)
            return false;
          rest = std::min(rest, split.total());
          ++n_trimmed;
          return true;
        });
      const std::size_t live = store.live();
      const std::vector<NodeId> pins = pinned ? std::vector{id} : std::vector<NodeId>{};
      CHECK(store.collect(pins, SIZE_MAX, margin, never));
      CHECK(store.live() <= live);
      CHECK_EQUAL(store.live(), 96 * (2 + (known.size() + 2) / 3));
      CHECK(node.rest == rest);
      CHECK(!node.marked);
      check();
      // The lower bound is no more than what is left allows.
      Cost allowed = node.rest;
      for (const auto& [column, split] : known) allowed = std::min(allowed, split.total());
      CHECK(node.base + rest >= node.lower);
      CHECK(node.lower <= optimum && std::min(node.upper, node.base + allowed) <= optimum);
      if (node.best != no_column) CHECK(known.contains(node.best));
    }
    CHECK(node.upper == optimum);
    store.close(id);
    CHECK(node.n_splits <= 1);
    ++n_solved;
  }
  CHECK(n_trimmed > 500 && n_reopened > 100 && n_solved == 300);
}
