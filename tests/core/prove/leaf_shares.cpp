// Leaf shares: every way to share out the leaves of a node is there, unless it costs too much.
#include "prove/leaf_shares.hpp"

#include <map>
#include <tuple>

#include "check.hpp"
#include "problem.hpp"
#include "prove/store.hpp"
#include "turned_clock.hpp"

using fuzz::Random;
using maptree::Cost;
using maptree::Expansion;
using maptree::SplitBounds;

namespace {

constexpr std::uint32_t n_tests = 6;

Cost few_units(Random& random) { return Cost(random.below(12)); }

// Splits, spans, and some that have a share already.
Expansion random_expansion(Random& random, std::uint32_t leaves, bool spans) {
  Expansion out;
  out.base = few_units(random);
  for (std::uint32_t c = 0; c < n_tests; ++c) {
    if (random.chance(0.3)) continue;
    SplitBounds split;
    split.column = c;
    split.extent = spans ? random.below(3u) & 3 : 0;
    split.first_open = random.below(2u) & 1;
    split.last_open = random.below(2u) & 1;
    if (random.chance(0.2)) split.share = random.between(1u, leaves - 1) & 127;
    for (int side = 0; side < 2; ++side) {
      split.lower[side] = few_units(random);
      split.upper[side] = split.lower[side] + few_units(random);
      for (Cost& few : split.few[side]) few = random.chance(0.3) ? Cost(0) : few_units(random);
    }
    out.splits.push_back(split);
  }
  if (random.chance(0.6)) {
    out.best = random.below(n_tests);
    out.best_cost = Cost(random.between(5, 40));
    for (std::uint32_t& below : out.best_below)
      below = random.chance(0.5) ? maptree::no_column : random.below(n_tests);
  }
  return out;
}

Cost bound_of(const SplitBounds& split, int side, std::uint32_t leaves) {
  return leaves < 3 ? std::max(split.lower[side], split.few[side][leaves - 1]) : split.lower[side];
}

}  // namespace

TEST(leaves_are_shared_out_in_every_way) {
  Random random(81);
  int n_there = 0, n_dear = 0, n_deep = 0;
  for (int round = 0; round < 3000; ++round) {
    const bool limited = random.chance(0.5);
    const auto depth = random.between<std::size_t>(0, 4);
    const auto levels = random.between<std::uint32_t>(2, 5);
    const std::uint32_t limit =
        limited ? static_cast<std::uint32_t>(depth) + levels : maptree::no_limit;
    const std::uint32_t leaves = random.chance(0.02) && !limited
                                     ? 128
                                     : random.between(2u, std::min(9u, (1u << levels) - 1));
    const std::uint32_t most_of_side = limited ? 1u << (levels - 1) : 128;
    const bool spans = random.chance(0.5);
    std::vector<Cost> costs;
    for (std::uint32_t c = 0; c < n_tests; ++c) costs.push_back(Cost(0) - few_units(random));
    const maptree::TestCosts test_costs = spans ? maptree::TestCosts() : maptree::TestCosts(costs);
    const Cost upper = Cost(random.between(5, 40));
    const Expansion before = random_expansion(random, leaves, spans);
    Expansion after = before;
    maptree::Watch watch;
    CHECK(maptree::share_leaves(after, leaves, limit, depth, upper, test_costs, watch));

    std::uint32_t best_share = 0;
    if (before.best != maptree::no_column)
      best_share = before.best_below[0] == maptree::no_column ? 1 : 2;
    CHECK_EQUAL(after.best_share, best_share);
    Cost reached = upper;
    if (before.best != maptree::no_column) reached = std::min(reached, before.best_cost);
    std::map<std::pair<std::uint32_t, std::uint32_t>, SplitBounds> there;
    for (const SplitBounds& split : after.splits)
      CHECK(there.insert({{split.column, split.share}, split}).second);
    std::size_t n_expected = 0;
    for (const SplitBounds& whole : before.splits) {
      int n_of_split = 0;
      for (std::uint32_t share = 1; share < leaves; ++share) {
        if (whole.share != 0 && share != whole.share) continue;
        const auto found = there.find({whole.column, share});
        const Cost lower[2] = {bound_of(whole, 0, share), bound_of(whole, 1, leaves - share)};
        const Cost cost = before.base + test_costs[whole.column] + lower[0] + lower[1];
        if (found != there.end()) {
          const SplitBounds& split = found->second;
          CHECK(split.extent == whole.extent && split.first_open == whole.first_open &&
                split.last_open == whole.last_open);
          for (int side = 0; side < 2; ++side) CHECK(split.lower[side] == lower[side]);
          ++n_of_split;
        } else if (share > most_of_side || leaves - share > most_of_side) {
          ++n_deep;  // the depth does not allow for that, so another one is no worse
        } else {
          CHECK(cost >= reached);
          ++n_dear;
        }
        // One is there in any case, and others only if they are of use.
        if (whole.share == 0 && found != there.end())
          CHECK((n_of_split == 1 || cost < reached) && share <= most_of_side &&
                leaves - share <= most_of_side);
      }
      CHECK(n_of_split > 0);
      n_expected += static_cast<std::size_t>(n_of_split);
      n_there += n_of_split;
    }
    CHECK_EQUAL(after.splits.size(), n_expected);
  }
  CHECK(n_there > 10'000);
  CHECK(n_dear > 3000);
  CHECK(n_deep > 1000);
}

TEST(most_leaves_within_a_depth) {
  CHECK_EQUAL(maptree::most_leaves(3, 0), 8u);
  CHECK_EQUAL(maptree::most_leaves(3, 2), 2u);
  CHECK_EQUAL(maptree::most_leaves(3, 3), 1u);
  CHECK_EQUAL(maptree::most_leaves(3, 7), 1u);
  CHECK_EQUAL(maptree::most_leaves(62, 0), std::uint64_t{1} << 62);
  CHECK_EQUAL(maptree::most_leaves(63, 0), UINT64_MAX);
  CHECK_EQUAL(maptree::most_leaves(maptree::no_limit, 5), UINT64_MAX);
}

// What is left then is half shared out, and void.
TEST(sharing_out_that_is_stopped_says_so) {
  Random random(82);
  for (int round = 0; round < 50; ++round) {
    Expansion found = random_expansion(random, 5, false);
    if (found.splits.empty()) continue;
    const TurnedClock clock(random.below(static_cast<std::int64_t>(found.splits.size())));
    maptree::Control control(clock.limits());
    maptree::Watch watch(control);
    CHECK(!maptree::share_leaves(found, 5, maptree::no_limit, 0, Cost::infinity(), {}, watch));
  }
}
