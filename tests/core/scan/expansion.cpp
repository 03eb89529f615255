// Expansion: the cheapest small tree of two sides, and bounds of few leaves, by their definitions.
#include "scan/expansion.hpp"

#include "check.hpp"
#include "problem.hpp"

using maptree::Below;
using maptree::Cost;

TEST(the_cheapest_small_tree_is_found_for_every_number_of_leaves) {
  for (int code = 0; code < 256; ++code) {
    Below sides[2];
    for (int side = 0; side < 2; ++side) {
      const int at = side == 0 ? code % 16 : code / 16;
      sides[side].leaf = Cost(at / 4);
      sides[side].two = Cost(std::min(at % 4, at / 4));
    }
    for (std::uint32_t leaves = 2; leaves < 7; ++leaves) {
      Cost least = Cost::infinity();
      for (std::uint32_t a = 1; a <= 2; ++a)
        for (std::uint32_t b = 1; b <= 2; ++b)
          if (a + b <= leaves)
            least = std::min(least, (a == 1 ? sides[0].leaf : sides[0].two) +
                                        (b == 1 ? sides[1].leaf : sides[1].two));
      const maptree::SmallTree tree = maptree::cheapest_of(sides, leaves);
      CHECK_EQUAL(tree.cost.units(), least.units());
      Cost cost(0);
      std::uint32_t there = 2;
      for (int side = 0; side < 2; ++side) {
        cost += tree.split[side] ? sides[side].two : sides[side].leaf;
        there += tree.split[side] ? 1 : 0;
        CHECK(!tree.split[side] || sides[side].two < sides[side].leaf);
      }
      CHECK_EQUAL(cost.units(), least.units());
      CHECK(there <= leaves);
    }
  }
}

TEST(bounds_of_few_leaves_are_the_better_of_two) {
  fuzz::Random random(5);
  for (int round = 0; round < 200; ++round) {
    maptree::SplitBounds split;
    for (int side = 0; side < 2; ++side) {
      split.lower[side] = Cost(random.below(9));
      for (Cost& few : split.few[side]) few = Cost(random.below(9));
    }
    for (int side = 0; side < 2; ++side) {
      CHECK(split.lower_of(side, 1) == std::max(split.lower[side], split.few[side][0]));
      CHECK(split.lower_of(side, 2) == std::max(split.lower[side], split.few[side][1]));
      for (const std::uint32_t leaves : {3u, 4u, 127u})
        CHECK(split.lower_of(side, leaves) == split.lower[side]);
    }
  }
}
