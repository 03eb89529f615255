// Store: what it keeps, where it finds it, and that it says honestly how much it takes.
#include <map>
#include <new>
#include <vector>

#include "check.hpp"
#include "failing_memory.hpp"
#include "problem.hpp"
#include "store_nodes.hpp"

using fuzz::Random;
using maptree::Cost;
using maptree::Expansion;
using maptree::no_limit;
using maptree::NodeId;
using maptree::SplitRecord;
using maptree::Store;
using maptree::StoreNode;
using store_test::key_of;
using store_test::never;
using store_test::no_trimming;
using store_test::splits_of;

TEST(a_store_finds_what_it_was_given) {
  Store store{maptree::TestCosts()};
  std::map<std::uint64_t, NodeId> made;
  for (std::uint64_t n = 0; n < 5000; ++n) {
    const std::uint64_t rows = n * 7919 % 1009;
    const auto depth = static_cast<std::uint32_t>(n % 3);
    const std::uint32_t limit = n % 2 == 0 ? no_limit : 3;
    const NodeId id = store.intern(key_of(rows, depth, limit), Cost(10), Cost(20), {1});
    const auto [known, fresh] = made.try_emplace(rows * 6 + depth * 2 + n % 2, id);
    CHECK(known->second == id);
    CHECK(store[id].lower == Cost(10) && store[id].upper == Cost(20));
  }
  CHECK_EQUAL(store.n_nodes(), made.size());
  CHECK_EQUAL(store.n_made(), made.size());
}

TEST(nodes_of_the_same_rows_are_found_at_every_depth_but_under_one_limit) {
  // Limits that fall into one bucket of a small table, and others.
  for (const std::uint32_t limit : {3u, 15u, 31u, 63u, no_limit}) {
    Store store{maptree::TestCosts()};
    std::map<std::uint32_t, int> n_visits;  // by depth
    for (const std::uint64_t rows : {7u, 7u + 16, 8u})
      for (const std::uint32_t other : {2u, 3u, 15u, 31u, 63u, no_limit})
        for (std::uint32_t depth = 0; depth < 3; ++depth)
          store.intern(key_of(rows, depth, other), Cost(10), Cost(20), {1});
    store.for_each_depth(key_of(7, 0, limit), [&](const StoreNode& node) {
      CHECK(node.key.rows == key_of(7).rows);
      CHECK_EQUAL(node.key.limit, limit);
      ++n_visits[node.key.depth];
    });
    CHECK(n_visits == (std::map<std::uint32_t, int>{{0, 1}, {1, 1}, {2, 1}}));
  }
}

TEST(weights_are_kept_whole_and_compared) {
  Store store{maptree::TestCosts()};
  std::uint64_t n = 0;
  for (const std::uint32_t weight : {1u, 2u, 3u, 1u << 25, (1u << 29) - 1}) {
    const NodeId id = store.intern(key_of(++n), Cost(0), Cost(100), {weight, 5});
    CHECK_EQUAL(store[id].weight, weight);
    CHECK(store.intern(key_of(n), Cost(0), Cost(100), {weight, 5}) == id);
    CHECK_THROWS(maptree::KeyCollision,
                 store.intern(key_of(n), Cost(0), Cost(100), {weight - 1, 5}));
    CHECK_THROWS(maptree::KeyCollision, store.intern(key_of(n), Cost(0), Cost(100), {weight, 4}));
  }
}

TEST(an_old_node_takes_the_better_bound) {
  Store store{maptree::TestCosts()};
  const NodeId id = store.intern(key_of(1), Cost(10), Cost(20), {1});
  CHECK(store.intern(key_of(1), Cost(5), Cost(20), {1}) == id && store[id].lower == Cost(10));
  CHECK(store.intern(key_of(1), Cost(15), Cost(20), {1}) == id && store[id].lower == Cost(15));
  CHECK(store.intern(key_of(1), Cost(25), Cost(20), {1}) == id && store[id].solved());
  CHECK(store[store.intern(key_of(2), Cost(30), Cost(20), {1})].solved());
}

TEST(opening_keeps_the_splits_that_may_be_cheaper) {
  Store store{maptree::TestCosts()};
  Expansion found = splits_of(20, Cost(3), Cost(9));
  found.base = Cost(2);
  for (std::size_t i = 0; i < 20; i += 2) found.splits[i].lower[0] = Cost(100);
  store_test::sort_splits(found);
  const NodeId id = store.intern(key_of(1), Cost(1), Cost(50), {1});
  store.open(id, found);
  CHECK_EQUAL(store[id].n_splits, 10u);
  std::vector<std::uint32_t> columns;
  store.for_each_split(store[id],
                       [&](const SplitRecord& split) { columns.push_back(split.column); });
  for (std::size_t i = 0; i < columns.size(); ++i) CHECK_EQUAL(columns[i], 2 * i + 1);
  CHECK(!store[id].solved() && store[id].expanded);

  const NodeId none = store.intern(key_of(2), Cost(1), Cost(8), {1});
  store.open(none, found);  // 2 + 3 + 3 is not below 8
  CHECK(store[none].solved() && store[none].n_splits == 0);

  found.best = 1;
  found.best_upper[0] = found.best_upper[1] = Cost(4);
  found.best_cost = found.base + Cost(8);
  found.best_below[0] = 7;
  const NodeId better = store.intern(key_of(3), Cost(1), Cost(50), {1});
  store.open(better, found);
  CHECK(store[better].upper == Cost(10) && store[better].best == 1 && store[better].below[0] == 7);
}

TEST(opening_changes_nothing_where_there_is_no_memory) {
  using failing_memory::Failure;
  int n_refused = 0;
  for (std::size_t n_splits = 1; n_splits < 60; ++n_splits) {
    for (std::uint64_t n_others = 0; n_others < 17; ++n_others) {  // that fill the last chunk
      Store store{maptree::TestCosts()};
      for (std::uint64_t n = 0; n < n_others; ++n)
        store.intern(key_of(n + 2), Cost(0), Cost(100), {1});
      const NodeId id = store.intern(key_of(1), Cost(3), Cost(100), {1});
      const Expansion found = splits_of(n_splits, Cost(1), Cost(2));
      for (std::int64_t nth = 1; !store[id].expanded; ++nth) {
        try {
          const Failure failure(nth, failing_memory::Then::goes_on);
          store.open(id, found);
        } catch (const std::bad_alloc&) {
          ++n_refused;
          const StoreNode& node = store[id];
          CHECK(!node.expanded && node.n_splits == 0 && node.lower == Cost(3));
          if (node.expanded) break;
        }
      }
      CHECK_EQUAL(store[id].n_splits, n_splits);
    }
  }
  CHECK(n_refused > 1000);
}

TEST(a_store_says_what_it_takes) {
  Random random(61);
  for (int round = 0; round < 20; ++round) {
    Store store{maptree::TestCosts()};
    std::vector<NodeId> open;
    const std::size_t most = random.one_of<std::size_t>({1, 9, 100, 3000});
    for (int step = 0; step < 400; ++step) {
      const std::size_t n_splits = random.below(most + 1);
      const std::size_t before = store.bytes(), growth = store.growth(n_splits);
      const NodeId id = store.intern(key_of(random.next()), Cost(0), Cost(100), {1});
      store.intern(key_of(random.next()), Cost(0), Cost(100), {1});
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
  Store store{maptree::TestCosts()};
  for (int round = 0; round < 50; ++round) {
    const std::size_t bytes = store.bytes();
    for (std::uint64_t n = 0; n < 1000; ++n) {
      const NodeId id = store.intern(key_of(1000 * round + n), Cost(0), Cost(100), {1});
      store.open(id, splits_of(20, Cost(1), Cost(2)));
    }
    if (round > 0) CHECK_EQUAL(store.bytes(), bytes);
    CHECK(store.collect({}, 0, no_trimming, never));
    CHECK_EQUAL(store.n_nodes(), 0u);
    CHECK_EQUAL(store.live(), 0u);
  }
}

TEST(a_store_keeps_to_its_limit) {
  Random random(63);
  for (int round = 0; round < 60; ++round) {
    Store store{maptree::TestCosts()};
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
      const NodeId id = store.intern(key_of(random.next()), Cost(0), Cost(100), {1});
      store.intern(key_of(random.next()), Cost(0), Cost(100), {1});
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
    Store store{maptree::TestCosts()};
    for (int step = 0; step < 300; ++step) {
      // The least limit at which there is room, and a little more.
      std::size_t limit = store.bytes();
      for (store.set_limit(limit); !store.has_room(0); store.set_limit(limit)) limit += 64;
      limit += random.below<std::size_t>(1000);
      store.set_limit(limit);
      const NodeId id = store.intern(key_of(random.next()), Cost(0), Cost(100), {1});
      store.intern(key_of(random.next()), Cost(0), Cost(100), {1});
      CHECK(store.bytes() <= limit);
      store.set_limit(SIZE_MAX);
      store.open(id, splits_of(random.below<std::size_t>(12), Cost(1), Cost(2)));
    }
  }
}

TEST(a_table_that_grows_by_single_buckets_finds_everything) {
  Random random(64);
  for (int round = 0; round < 12; ++round) {
    Store store{maptree::TestCosts()};
    if (round % 3 == 1) store.set_limit(store.bytes() + 30'000);  // then it stays small
    // Random bits; numbers in order; and only high bits that differ.
    const std::uint64_t factor = random.one_of<std::uint64_t>({0x9e3779b97f4a7c15, 1, 4096});
    const auto key = [&](std::uint64_t n) {
      return key_of(n / 4 * factor, n % 2, n / 2 % 2 == 0 ? no_limit : 3);
    };
    std::map<std::uint64_t, NodeId> there;
    const auto is_found = [&](std::uint64_t n, NodeId id) {
      const std::size_t before = store.n_nodes();
      return store.intern(key(n), Cost(0), Cost(100), {1}) == id && store.n_nodes() == before &&
             store[id].key == key(n);
    };
    for (std::uint64_t n = 0; n < 1500; ++n) {
      const NodeId id = store.intern(key(n), Cost(0), Cost(100), {1});
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

TEST(a_spare_chunk_is_counted_and_used_first) {
  maptree::Arena arena(64);
  CHECK(!arena.wants_spare());  // while chunks are small
  bool spared = false;
  for (int i = 0; i < 1000; ++i) {
    const bool wanted = arena.wants_spare();
    if (wanted) {
      const std::size_t before = arena.bytes();
      arena.take_spare(maptree::Arena::make_spare());
      CHECK_EQUAL(arena.bytes(), before + arena.spare_bytes());
      CHECK(!arena.wants_spare());
    }
    const std::size_t before = arena.bytes(), promised = arena.growth(1 << 13),
                      promised_for_many = arena.growth(1 << 13, 300);
    std::fill_n(static_cast<char*>(arena.allocate(1 << 13)), 1 << 13, 'x');
    CHECK_EQUAL(arena.bytes(), before + promised);
    CHECK(promised_for_many >= promised);
    spared = spared || wanted;
    if (spared) CHECK_EQUAL(promised, 0u);  // there always is one when it is needed
  }
  CHECK(spared);
}
