// SizedImprover and Prunings: the best trees of each size, as far as they are found.
#include "improve/sized_improver.hpp"

#include <map>

#include "check.hpp"
#include "exact_optimum.hpp"
#include "improve/incumbent.hpp"
#include "improve/prunings.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Cost;
using maptree::Prunings;
using maptree::SizedImprover;
using maptree::Tree;

namespace {

[[nodiscard]] std::size_t leaves_of(const Tree& tree) { return (tree.feature.size() + 1) / 2; }

// Every pruning of the subtree at a node, the least cost by leaves: one choice after another.
std::map<std::size_t, Cost> all_prunings(const Tree& tree, const maptree::TreeScores& scores,
                                         std::size_t at) {
  std::map<std::size_t, Cost> least = {{1, scores.as_leaf[at]}};
  if (tree.feature[at] < 0) return least;
  const auto zero = static_cast<std::size_t>(tree.left[at]);
  const auto one = static_cast<std::size_t>(tree.right[at]);
  const Cost split = scores.subtree[at] - scores.subtree[zero] - scores.subtree[one];
  for (const auto& [i, a] : all_prunings(tree, scores, zero))
    for (const auto& [j, b] : all_prunings(tree, scores, one)) {
      const auto [known, fresh] = least.try_emplace(i + j, split + a + b);
      if (!fresh) known->second = std::min(known->second, split + a + b);
    }
  return least;
}

}  // namespace

TEST(prunings_are_the_cheapest_of_each_size) {
  Random random(91);
  int n_trees = 0, cut = 0;
  for (int round = 0; round < 150; ++round) {
    Problem problem = workbench::noisy(random, random.between<std::size_t>(20, 120), 7, 0.4, 3,
                                       [](const auto& row) { return row[0] + row[1] * row[2]; });
    problem.model.rho = {0.3, 0.3, 0.3};
    if (round % 2 == 0) fuzz::random_test_weights(random, problem.model);
    workbench::Bench bench(problem);
    Tree tree;
    maptree::Incumbent(bench.data, bench.posterior, bench.bounds, bench.options, bench.expander)
        .grow(workbench::never, tree);
    const maptree::TreeScores scores = maptree::score(tree, bench.data, bench.posterior);
    const auto least = all_prunings(tree, scores, 0);
    const std::size_t most = random.between<std::size_t>(1, leaves_of(tree) + 2);
    const Prunings prunings(tree, scores, most);
    const std::size_t there = std::min(most, leaves_of(tree));
    CHECK_EQUAL(prunings.most_leaves(), there);
    for (std::size_t k = 1; k <= prunings.most_leaves(); ++k) {
      CHECK_EQUAL(prunings.cost(k).units(), least.at(k).units());
      const Tree pruned = prunings.tree(k);
      CHECK_EQUAL(leaves_of(pruned), k);
      CHECK_EQUAL(bench.cost(pruned).units(), least.at(k).units());
    }
    ++n_trees;
    cut += most < leaves_of(tree) ? 1 : 0;
  }
  CHECK_EQUAL(n_trees, 150);
  CHECK(cut > 50);
}

// Small problems are searched to the end under every price, so what lies on the hull is found.
TEST(trees_of_every_size_are_those_of_the_hull_or_better) {
  Random random(92);
  int on_hull = 0, above = 0;
  for (int round = 0; round < 40; ++round) {
    Problem problem = workbench::noisy(random, random.between<std::size_t>(20, 60), 6, 0.3, 2,
                                       [](const auto& row) { return row[0] ^ row[1]; });
    problem.model.rho = {0.5, 0.5};
    if (round % 2 == 0) fuzz::random_test_weights(random, problem.model);
    workbench::Bench bench(problem);
    constexpr std::uint32_t most = 8;
    SizedImprover improver(bench.data, bench.posterior, bench.options, most, 1 << 24,
                           SizedImprover::Aim::every_size);
    while (!improver.exhausted()) improver.improve(1'000'000, workbench::never);
    exact::Solver exact(bench.data, bench.posterior, -1, 1);
    std::vector<Cost> best = {Cost::infinity()};
    for (std::uint32_t k = 1; k <= most; ++k)
      best.push_back(exact.optimum(bench.data.all_rows(), 0, 1000, k));
    Cost found = Cost::infinity();
    for (std::uint32_t k = 1; k <= most; ++k) {
      if (improver.cost_of(k).finite()) {
        CHECK_EQUAL(bench.cost(improver.tree_of(k)).units(), improver.cost_of(k).units());
        CHECK_EQUAL(leaves_of(improver.tree_of(k)), k);
      }
      found = std::min(found, improver.cost_of(k));
      CHECK(found >= best[k]);
      (found == best[k] ? on_hull : above) += 1;
    }
    CHECK_EQUAL(improver.cost().units(), found.units());
  }
  CHECK(on_hull > 250);
  CHECK(above < 70);
}

// A price is added to every split, and to nothing else.
TEST(a_price_is_paid_by_every_split) {
  Random random(93);
  for (int round = 0; round < 60; ++round) {
    Problem problem = workbench::noisy(random, random.between<std::size_t>(20, 80), 6, 0.3, 2,
                                       [](const auto& row) { return row[0] ^ row[1]; });
    const maptree::Result plain = workbench::run(problem);
    problem.model.leaf_price = random.log_uniform(0.1, 5);
    const Cost price = Cost::nearest(problem.model.leaf_price);
    const maptree::Result priced = workbench::run(problem);
    workbench::Bench bench(problem);
    const auto splits = [](const maptree::Result& result) {
      return static_cast<std::int64_t>(result.tree.feature.size() / 2);
    };
    // The bench knows of no price.
    CHECK_EQUAL(priced.upper.units(),
                (bench.cost(priced.tree) + Cost(price.units() * splits(priced))).units());
    CHECK(splits(priced) <= splits(plain));
    CHECK(priced.upper <= plain.upper + Cost(price.units() * splits(plain)));
    CHECK(priced.lower == priced.upper);
    // What it says of trees of so few leaves, and what is so.
    for (long k = 1; k < 5; ++k) {
      Problem small = problem;
      small.model.leaf_price = 0;
      small.model.max_leaves = k;
      CHECK(workbench::run(small).upper >= priced.lower - Cost(price.units() * (k - 1)));
    }
  }
}
