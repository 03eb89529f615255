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
using maptree::SplitBounds;
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

// A node with spans gives back all splits but the one behind its upper bound, and is as if it had
// not been expanded; a span that begins with the same test is none.
TEST(spans_are_dropped_all_together_and_found_again) {
  Random random(66);
  int n_kept = 0;
  for (int round = 0; round < 200; ++round) {
    Expansion found = splits_of(random.between<std::size_t>(1, 12), Cost(0), Cost(0));
    for (SplitBounds& split : found.splits) {
      split.column = 10 * (split.column / 2);  // pairs of the same first test, one of them a span
      split.lower[0] = Cost(random.below(50));
    }
    for (std::size_t i = 0; i < found.splits.size(); ++i)
      found.splits[i].extent = i % 2 == static_cast<std::size_t>(round % 2) ? 0u : 3u;
    store_test::sort_splits(found);
    const bool any = std::ranges::any_of(found.splits, &SplitBounds::is_span);
    Store store(maptree::TestCosts{});
    const NodeId id = store.intern(key_of(1), Cost(0), Cost(1000), {1});
    const NodeId child = store.intern(key_of(2), Cost(0), Cost(1), {1});
    StoreNode& node = store[id];
    store.open(id, found);
    CHECK_EQUAL(node.n_splits, found.splits.size());
    const SplitBounds& chosen = found.splits[random.below(found.splits.size())];
    if (random.chance(0.7)) {
      node.best = chosen.column;
      node.upper = Cost(900);
    }
    SplitRecord best;
    store.for_each_split(node, [&](SplitRecord& split) {
      if (split.is_span() || split.column != node.best) return;
      if (random.chance(0.5)) split.child[0] = split.child[1] = child;
      best = split;
    });
    const bool keep = best.column != no_column;
    CHECK(store.collect({}, SIZE_MAX, Cost(10'000), never));
    CHECK_EQUAL(node.expanded, any ? 0u : 1u);
    CHECK(node.rest == Cost::infinity());
    CHECK_EQUAL(node.n_splits, any ? (keep ? 1u : 0u) : found.splits.size());
    CHECK_EQUAL(store.live(), 104 * (2 + (node.n_splits + 2u) / 3));
    if (any && keep) {
      const SplitRecord there = splits_at(store, id)[0];
      CHECK(static_cast<const maptree::Tests&>(there) == best);
      for (int side = 0; side < 2; ++side)
        CHECK(there.child[side] == best.child[side] && there.lower[side] == best.lower[side]);
      ++n_kept;
    }
    store.open(id, found);
    std::vector<SplitRecord> back = splits_at(store, id);
    CHECK_EQUAL(back.size(), found.splits.size());
    for (const SplitBounds& split : found.splits)
      CHECK_EQUAL(std::ranges::count_if(back,
                                        [&](const SplitRecord& other) {
                                          return static_cast<const maptree::Tests&>(other) ==
                                                     split &&
                                                 other.lower[0] == split.lower[0];
                                        }),
                  1);
    CHECK(store_test::in_order(store, id));
    node.lower = node.upper;
    store.for_each_split(node,
                         [&](SplitRecord& split) { split.child[0] = split.child[1] = child; });
    store.close(id);
    CHECK_EQUAL(node.n_splits, keep ? 1u : 0u);
    if (keep) CHECK(static_cast<const maptree::Tests&>(splits_at(store, id)[0]) == best);
  }
  CHECK(n_kept > 50);
}

// Parts take the place of the spans that were parted, wherever these are in the chain; what others
// stand on stays where it is.
TEST(spans_that_are_parted_say_nothing_any_more) {
  Random random(67);
  for (int round = 0; round < 200; ++round) {
    Expansion found = splits_of(random.between<std::size_t>(1, 12), Cost(0), Cost(0));
    for (SplitBounds& split : found.splits) {
      split.column *= 10;
      split.extent = random.chance(0.7) ? 6u : 0u;
      split.lower[0] = Cost(random.below(50));
    }
    store_test::sort_splits(found);
    Store store(maptree::TestCosts{});
    const NodeId id = store.intern(key_of(1), Cost(0), Cost(1000), {1});
    const NodeId child = store.intern(key_of(2), Cost(0), Cost(1), {1});
    StoreNode& node = store[id];
    store.open(id, found);
    std::vector<SplitRecord*> before;
    std::vector<SplitBounds> given;
    Expansion parts;
    store.for_each_split(node, [&](SplitRecord& split) {
      before.push_back(&split);
      if (random.chance(0.5)) split.child[0] = split.child[1] = child;
      if (!split.is_span() || random.chance(0.3)) return;
      given.push_back({});
      static_cast<maptree::Tests&>(given.back()) = split;
      if (random.chance(0.4)) return;
      parts.parted.push_back(static_cast<std::uint32_t>(given.size() - 1));
      SplitBounds half = given.back();
      half.extent = 3;
      half.lower[0] = split.lower[0] + Cost(random.below(20));
      parts.splits.push_back(half);
    });
    store_test::sort_splits(parts);
    const bool better = random.chance(0.5);
    if (better) {
      parts.best = 7;
      parts.best_cost = Cost(random.one_of({999, 1000, 60, 20}));
      parts.best_below[1] = 8;
    }
    std::vector<SplitRecord> old;
    for (const SplitRecord* split : before) old.push_back(*split);
    store.part(id, parts, given);
    const bool taken = better && parts.best_cost < Cost(1000);
    CHECK_EQUAL(node.upper.units(), taken ? parts.best_cost.units() : 1000);
    CHECK_EQUAL(node.best, taken ? 7u : no_column);
    CHECK_EQUAL(node.below[1], taken ? 8u : no_column);
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool parted = std::ranges::any_of(parts.parted, [&](std::uint32_t p) {
        return static_cast<const maptree::Tests&>(given[p]) == old[i];
      });
      CHECK(static_cast<const maptree::Tests&>(*before[i]) == old[i]);
      for (int side = 0; side < 2; ++side)
        CHECK(before[i]->lower[side] == (parted ? Cost::infinity() : old[i].lower[side]));
      CHECK_EQUAL(before[i]->attached(), old[i].attached());
      if (old[i].attached()) CHECK(before[i]->child[1] == old[i].child[1]);
    }
    const std::vector<SplitRecord> after = splits_at(store, id);
    std::size_t n_open = 0;
    for (const SplitBounds& split : parts.splits) {
      const bool open = split.lower[0] + split.lower[1] < node.upper;
      n_open += open ? 1 : 0;
      CHECK_EQUAL(
          std::ranges::count_if(after,
                                [&](const SplitRecord& other) {
                                  return static_cast<const maptree::Tests&>(other) == split &&
                                         other.lower[0] == split.lower[0] && !other.attached();
                                }),
          open ? 1 : 0);
    }
    CHECK_EQUAL(after.size(), before.size() + n_open);
    CHECK(std::ranges::none_of(after, &SplitRecord::fresh));  // no split ends a walk
    CHECK(store_test::in_order(store, id));
    CHECK_EQUAL(store.live(), 104 * (2 + (after.size() + 2) / 3));
  }
}
