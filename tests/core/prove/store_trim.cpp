// Store: what trimming drops can be had again, and no bound forgets it.
#include <algorithm>
#include <map>
#include <vector>

#include "check.hpp"
#include "problem.hpp"
#include "store_nodes.hpp"

using fuzz::Random;
using maptree::Cost;
using maptree::Expansion;
using maptree::no_column;
using maptree::NodeId;
using maptree::SplitRecord;
using maptree::Store;
using maptree::StoreNode;
using store_test::key_of;
using store_test::never;
using store_test::splits_at;
using store_test::splits_of;

// A node whose splits are raised as a prover would, trimmed and opened again, against what its
// splits really cost.
TEST(trimming_is_sound_and_opening_again_restores_every_split_once) {
  Random random(65);
  int n_trimmed = 0, n_reopened = 0, n_solved = 0;
  for (int round = 0; round < 300; ++round) {
    Expansion found = splits_of(random.between<std::size_t>(1, 30), Cost(0), Cost(0));
    // Half of them with splits that pay for their tests, less than nothing.
    std::vector<Cost> tests;
    for (std::size_t c = 0; c < found.splits.size() && round % 2 == 0; ++c)
      tests.push_back(Cost(-random.below(120)));
    const maptree::TestCosts test_costs(tests);
    Store store(test_costs);
    found.base = Cost((tests.empty() ? 0 : 120) + random.below(20));  // with any test 0 or more
    std::vector<Cost> truth;  // of a split's test and its two children
    for (maptree::SplitBounds& split : found.splits) {
      for (int side = 0; side < 2; ++side) split.lower[side] = Cost(random.below(100));
      truth.push_back(test_costs[split.column] + split.lower[0] + split.lower[1] +
                      Cost(random.below(100)));
    }
    store_test::sort_splits(found, test_costs);
    const NodeId id = store.intern(key_of(1), Cost(0), Cost(random.between(100, 300)), {1});
    const NodeId child = store.intern(key_of(2), Cost(0), Cost(1), {1});
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
      CHECK(store_test::in_order(store, id));
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
        if (store.place(split).total >= least) return;
        least = store.place(split).total;
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
        // Others may stand on the splits that are there: they stay where they are.
        std::map<SplitRecord*, std::uint32_t> places;
        store.for_each_split(node, [&](SplitRecord& split) { places[&split] = split.column; });
        store.open(id, found);
        for (const auto& [split, column] : places) CHECK_EQUAL(split->column, column);
        CHECK(node.lower == lower && node.upper == upper && node.best == best);
        CHECK(node.rest == Cost::infinity());
        for (auto& [column, split] : known)
          if (split.fresh()) split.forget_children();  // lower ones may come after it now
        for (const maptree::SplitBounds& split : found.splits) {
          if (found.base + place_of(split, test_costs).total >= node.upper) continue;
          SplitRecord back;
          back.column = split.column;
          for (int side = 0; side < 2; ++side) back.lower[side] = split.lower[side];
          known.try_emplace(split.column, back);
        }
        check();
        continue;
      }
      const Cost cost = truth[chosen->column];
      chosen->child[0] = chosen->child[1] = child;
      if (random.chance(0.5)) chosen->forget_children();
      if (random.chance(0.3)) {
        chosen->lower[0] = cost - test_costs[chosen->column] - chosen->lower[1];
        if (node.base + cost < node.upper) {
          node.upper = node.base + cost;
          node.best = chosen->column;
        }
      } else {
        const Cost more((cost - store.place(*chosen).total).units());
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
          if (split.column == node.best ||
              node.base + store.place(split).total <= node.lower + margin)
            return false;
          rest = std::min(rest, store.place(split).total);
          ++n_trimmed;
          return true;
        });
      const std::size_t live = store.live();
      const std::vector<NodeId> pins = pinned ? std::vector{id} : std::vector<NodeId>{};
      CHECK(store.collect(pins, SIZE_MAX, margin, never));
      CHECK(store.live() <= live);
      CHECK_EQUAL(store.live(), 104 * (2 + (known.size() + 2) / 3));
      CHECK(node.rest == rest);
      CHECK(!node.marked);
      check();
      // The lower bound is no more than what is left allows.
      Cost allowed = node.rest;
      for (const auto& [column, split] : known)
        allowed = std::min(allowed, store.place(split).total);
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
