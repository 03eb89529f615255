// What the tests of Store share: keys and splits that nothing else is known about.
#pragma once

#include <algorithm>
#include <vector>

#include "prove/store.hpp"

namespace store_test {

inline maptree::Watch never;

// Every split is bounded by so much more than its node, if at all: nothing is trimmed.
inline const maptree::Cost no_trimming = maptree::Cost::infinity();

inline maptree::StoreKey key_of(std::uint64_t n, std::uint32_t depth = 0,
                                std::uint32_t limit = maptree::no_limit) {
  maptree::StoreKey key;
  key.rows.low = n;
  key.depth = depth;
  key.limit = limit & maptree::no_limit;
  return key;
}

inline maptree::Expansion splits_of(std::size_t n, maptree::Cost lower, maptree::Cost upper) {
  maptree::Expansion found;
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

inline void sort_splits(maptree::Expansion& found, maptree::TestCosts test_costs = {}) {
  std::ranges::sort(found.splits, {},
                    [=](const auto& split) { return place_of(split, test_costs); });
}

inline std::vector<maptree::SplitRecord> splits_at(maptree::Store& store, maptree::NodeId id) {
  std::vector<maptree::SplitRecord> out;
  store.for_each_split(store[id], [&](const maptree::SplitRecord& split) { out.push_back(split); });
  return out;
}

// None after a split that was never attached has a lower total.
inline bool in_order(maptree::Store& store, maptree::NodeId id) {
  maptree::Cost least = maptree::Cost(0) - maptree::Cost::infinity();
  for (const maptree::SplitRecord& split : splits_at(store, id)) {
    if (store.place(split).total < least) return false;
    if (split.fresh()) least = store.place(split).total;
  }
  return true;
}

}  // namespace store_test
