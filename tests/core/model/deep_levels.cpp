// Bounds of levels deeper than level_cap, which have one entry in common, against the recurrences
// without that cap. One column of more thresholds than the cap reaches so deep.
#include <numeric>

#include "check.hpp"
#include "model/bounds.hpp"
#include "ordered_rows.hpp"

using fuzz::Random;
using maptree::Bounds;
using maptree::Cost;
using maptree::Options;
using maptree::Posterior;

namespace {

constexpr std::size_t n_rows = maptree::level_cap + 204;
constexpr std::size_t last = maptree::level_cap;  // the level that stands for all deeper ones
// What the code takes for more than any cost.
constexpr long double much = static_cast<long double>(std::int64_t{1} << 58);

ordered_rows::Table deep_table() {
  ordered_rows::Table table;
  table.n_ranks = {n_rows};
  table.ranks.emplace_back(n_rows);
  std::iota(table.ranks[0].begin(), table.ranks[0].end(), 0u);
  for (std::size_t r = 0; r < n_rows; ++r) table.labels.push_back(r % 3 == 0 ? 1 : 0);
  table.weights.assign(n_rows, 1);
  return table;
}

std::vector<maptree::Prior> priors(Random& random) {
  std::vector<maptree::Prior> out;
  for (const double alpha : {0.95, 0.999999, 0.05})
    for (const double beta : {0.5, 0.0, 0.01, 2.0})
      out.push_back({alpha, beta, {2.5, random.one_of({2.5, 1e-3, 1e6})}});
  out.push_back({0.999999999, 1e-4, {1e6, 1e6}});
  return out;
}

[[nodiscard]] long double units(Cost cost) { return static_cast<long double>(cost.units()); }

}  // namespace

TEST(floors_beyond_the_last_level_are_not_above_the_cheapest_skeleton) {
  Random random(181);
  const maptree::Dataset data = ordered_rows::make_dataset(deep_table());
  for (const maptree::Prior& prior : priors(random)) {
    const Posterior posterior(prior, data);
    const std::size_t depths = posterior.max_depth() + 1;
    CHECK(depths > maptree::level_cap + 100);
    for (const bool structure : {true, false}) {
      Options options;
      options.structure_bound = structure;
      const Bounds bounds(posterior, data, options);
      std::vector<Cost> below(maptree::floor_cap + 1), here(maptree::floor_cap + 1);
      for (std::size_t d = depths; d-- > 0;) {
        for (std::size_t rows = 2; rows <= maptree::floor_cap; ++rows) {
          // B6 tells more than B2 here: rows that all differ in one column.
          Cost split = posterior.split(d) + posterior.log_weight(data.least_varying(rows));
          Cost parts = Cost::infinity();
          for (std::size_t a = 1; a < rows; ++a)
            parts = std::min(parts, below[a] + below[rows - a]);
          if (structure) split += parts;
          here[rows] = std::min(posterior.stop(d), split);
          CHECK(bounds.level(d).floor[rows] <= split.units());
          // A skeleton over so many rows has fewer levels.
          if (d + maptree::floor_cap < last)
            CHECK_EQUAL(bounds.level(d).floor[rows], split.units());
        }
        std::swap(below, here);
      }
    }
  }
}

TEST(transfers_beyond_the_last_level_are_not_above_the_recursion) {
  Random random(182);
  const maptree::Dataset data = ordered_rows::make_dataset(deep_table());
  for (const maptree::Prior& prior : priors(random)) {
    const Posterior posterior(prior, data);
    const Bounds bounds(posterior, data, {});
    const Cost known = Cost::nearest(1000 * random.uniform());
    for (std::size_t up = 1; up <= maptree::transfer_cap; ++up) {
      long double least = 0;
      for (std::size_t d = posterior.max_depth() + 1; d-- > up;) {
        const long double split = units(posterior.split(d)) - units(posterior.split(d - up));
        const long double stop = units(posterior.stop(d)) - units(posterior.stop(d - up));
        const long double transfer = split + 2 * least;
        least = std::min({0.0L, stop, transfer});
        const long double right = units(known) + transfer;
        const Cost found = bounds.transferred(known, d - up, d);
        if (right < 0)
          CHECK(found < Cost(0));
        else
          CHECK(units(found) <= right);
        if (right >= 0 && d < last) CHECK_EQUAL(found.units(), static_cast<std::int64_t>(right));
      }
    }
  }
}

TEST(slacks_beyond_the_last_level_are_not_below_the_recursion) {
  Random random(183);
  const maptree::Dataset data = ordered_rows::make_dataset(deep_table());
  int n_slack = 0;
  for (const maptree::Prior& prior : priors(random)) {
    const Posterior posterior(prior, data);
    const Bounds bounds(posterior, data, {});
    const long double row = std::min(units(posterior.pure(0, 1)), units(posterior.pure(1, 1)));
    long double up = 0, shrink = 0;
    for (std::size_t d = posterior.max_depth() + 1; d-- > 0;) {
      if (d < posterior.max_depth())
        up = std::max({0.0L, units(posterior.stop(d)) - units(posterior.stop(d + 1)),
                       units(posterior.split(d)) - units(posterior.split(d + 1)) + 2 * up});
      shrink = std::max({0.0L, 2 * shrink, shrink + up - units(posterior.split(d)) - row});
      const long double found = units(bounds.shrink_slack(d));
      CHECK(found >= std::min(shrink, much));
      if (d < last && shrink < much) CHECK(found == shrink);
      n_slack += shrink > 0 && shrink < much ? 1 : 0;
    }
  }
  CHECK(n_slack > 0);
}

TEST(the_least_cost_of_several_thresholds_is_that_of_the_cheapest) {
  Random random(184);
  for (int round = 0; round < 40; ++round) {
    ordered_rows::Shape shape;
    shape.most_ranks = 300;
    shape.n_binary = random.below<std::size_t>(4);
    shape.weighted_tests = round % 4 != 0;
    const ordered_rows::Bench bench(ordered_rows::random_table(random, shape),
                                    {0.95, 0.5, {2.5, 2.5}}, {});
    const maptree::TestCosts costs = bench.posterior.test_costs();
    for (std::size_t test = 0; test < bench.data.n_tests(); ++test) {
      CHECK_EQUAL(costs[test].units(), bench.test_cost(test).units());
      CHECK_EQUAL(costs.least(test, test).units(), bench.test_cost(test).units());
    }
    const maptree::OrderedColumns& ordered = bench.data.ordered();
    for (std::size_t c = 0; c < ordered.n_columns(); ++c) {
      const std::size_t start = bench.data.n_columns() + ordered.first(c);
      for (int i = 0; i < 100 && ordered.n_ranks(c) > 1; ++i) {
        const std::size_t low = start + random.below(ordered.n_ranks(c) - 1);
        const std::size_t high = random.between(low, start + ordered.n_ranks(c) - 2);
        Cost least = Cost::infinity();
        for (std::size_t test = low; test <= high; ++test)
          least = std::min(least, bench.test_cost(test));
        CHECK_EQUAL(costs.least(low, high).units(), least.units());
      }
    }
  }
}

// B6, and what B2 and B6 charge together, against all sets of few rows and all tests that vary on
// them.
TEST(no_split_of_so_many_rows_pays_less_for_its_test) {
  Random random(185);
  int n_tight = 0, n_more = 0;
  for (int round = 0; round < 150; ++round) {
    ordered_rows::Shape shape;
    shape.n_rows = random.between<std::size_t>(2, 9);
    shape.n_ordered = random.between<std::size_t>(1, 3);
    shape.n_binary = random.one_of<std::size_t>({0, 0, 3});
    shape.weighted_tests = round % 4 != 0;
    Options options;
    options.structure_bound = false;
    options.varying_bound = random.chance(0.8);
    const ordered_rows::Bench bench(ordered_rows::random_table(random, shape),
                                    {0.95, 0.5, {2.5, 2.5}}, options);
    const auto all = ordered_rows::slots_of(bench.data.all_rows());
    std::vector<Cost> least(all.size() + 1, Cost::infinity());  // by rows
    for (unsigned subset = 1; subset < 1u << all.size(); ++subset) {
      std::vector<std::size_t> slots;
      maptree::for_each_slot(subset, 0, [&](std::size_t i) { slots.push_back(all[i]); });
      const auto rows = ordered_rows::set_of(slots, bench.data.n_words());
      const Cost all_tests = bench.posterior.log_weight(bench.data.varying_weight(rows));
      ordered_rows::Splits(bench, slots).visit([&](std::size_t test, const auto&, const auto&) {
        least[slots.size()] = std::min(least[slots.size()], all_tests + bench.test_cost(test));
      });
    }
    for (std::size_t rows = 2; rows <= all.size(); ++rows) {
      const Cost spanned = bench.bounds.spanned_cost(rows);
      CHECK(spanned >= Cost(0));
      CHECK(spanned <= least[rows]);
      const Cost charged = Cost(bench.bounds.floor(0, static_cast<std::int32_t>(rows), spanned)) -
                           bench.posterior.split(0);
      CHECK(charged <= least[rows]);
      if (options.varying_bound) CHECK(charged >= spanned);
      n_tight += least[rows] > Cost(10) && spanned + Cost(4) >= least[rows] ? 1 : 0;
      n_more += charged > spanned ? 1 : 0;
    }
    CHECK(bench.bounds.spanned_cost(all.size() + 5) == bench.bounds.spanned_cost(all.size()));
  }
  CHECK(n_tight > 20);
  CHECK(n_more > 20);
}

// B2 and B6 from their definition: so many tests vary at least, or as many as ordered columns tell,
// and a split pays for the heaviest.
TEST(splits_are_charged_for_the_fewest_tests_that_vary) {
  Random random(186);
  int n_spanned = 0, n_needed = 0;
  for (int round = 0; round < 200; ++round) {
    ordered_rows::Shape shape;
    shape.n_rows = random.one_of<std::size_t>({5, 20, 90});
    shape.n_ordered = random.between<std::size_t>(1, 3);
    shape.n_binary = random.one_of<std::size_t>({0, 0, 3});
    shape.most_ranks = random.one_of({3u, 20u});
    shape.weighted_tests = round % 4 != 0;
    Options options;
    options.structure_bound = false;
    options.varying_bound = random.chance(0.5);
    const ordered_rows::Bench bench(ordered_rows::random_table(random, shape),
                                    {0.95, 0.5, {2.5, 2.5}}, options);
    const maptree::Dataset& data = bench.data;
    std::vector<std::int64_t> weights;
    std::int64_t heaviest = 0;
    for (std::size_t c = 0; c < data.n_columns(); ++c) {
      weights.push_back(data.multiplicity(c));
      heaviest = std::max<std::int64_t>(heaviest, data.test_weight(c));
    }
    for (std::uint32_t t = 0; t < data.ordered().n_thresholds(); ++t) {
      weights.push_back(data.weighted() ? data.ordered().weights()[data.ordered().code(t)] : 1);
      heaviest = std::max(heaviest, weights.back());
    }
    if (weights.empty()) continue;
    std::ranges::sort(weights);
    const auto log = [&](std::int64_t sum) { return bench.posterior.log_weight(sum); };
    for (std::size_t rows = 2; rows <= maptree::floor_cap; ++rows) {
      std::size_t n = 0;  // that vary
      while (rows > std::size_t{1} << n) ++n;
      std::int64_t needed = heaviest;
      for (std::size_t i = 0; i + 1 < n && i < weights.size(); ++i) needed += weights[i];
      if (!data.weighted()) needed = static_cast<std::int64_t>(std::min(n, data.n_features()));
      const std::int64_t spanned = data.least_varying(rows);
      const auto charge = [&](std::int64_t sum) {
        if (!data.weighted()) return log(sum);
        return std::max(Cost(0), log(std::max(sum, heaviest)) - log(heaviest) - Cost(2));
      };
      CHECK_EQUAL(bench.bounds.spanned_cost(rows).units(), charge(spanned).units());
      (spanned > needed ? n_spanned : n_needed) += 1;
      const Cost right = charge(options.varying_bound ? std::max(needed, spanned) : needed);
      CHECK_EQUAL(bench.bounds.level(1).floor[rows], (bench.posterior.split(1) + right).units());
    }
  }
  CHECK(n_spanned > 100);
  CHECK(n_needed > 100);
}
