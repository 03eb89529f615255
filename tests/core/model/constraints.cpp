// Constraints: what options are taken for, and which trees a search considers.
#include "model/constraints.hpp"

#include <limits>
#include <stdexcept>

#include "check.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Options;
using maptree::Tree;

namespace {

Options with(void (*change)(Options&)) {
  Options options;
  change(options);
  return options;
}

// A tree of random tests that is not deeper than this.
void grow(Random& random, const Problem& problem, long depth, Tree& tree) {
  const auto at = static_cast<std::size_t>(maptree::add_node(tree));
  if (depth == 0 || random.chance(0.2)) return;
  tree.feature[at] = static_cast<std::int32_t>(random.below(problem.model.n_columns()));
  tree.left[at] = static_cast<std::int32_t>(tree.feature.size());
  grow(random, problem, depth - 1, tree);
  tree.right[at] = static_cast<std::int32_t>(tree.feature.size());
  grow(random, problem, depth - 1, tree);
}

// From the rows as they are.
bool keeps_to(const brute_force::Problem& model, const maptree::Dataset& data, const Tree& tree,
              std::size_t node, const std::vector<std::size_t>& rows, long depth) {
  long weight = 0;
  for (const std::size_t r : rows) weight += model.weight[r];
  if (depth > 0 && weight < model.min_leaf) return false;
  if (tree.feature[node] < 0) return true;
  const auto column = static_cast<std::size_t>(tree.feature[node]);
  if (model.max_depth >= 0 && depth >= model.max_depth) return false;
  if (!model.may_test(column, depth)) return false;
  // Of columns that are alike the dataset has one.
  if (data.test_of(static_cast<std::uint32_t>(column)) >= data.n_tests()) return false;
  std::vector<std::size_t> side[2];
  for (const std::size_t r : rows) side[model.x[r][column]].push_back(r);
  return keeps_to(model, data, tree, static_cast<std::size_t>(tree.left[node]), side[0],
                  depth + 1) &&
         keeps_to(model, data, tree, static_cast<std::size_t>(tree.right[node]), side[1],
                  depth + 1);
}

}  // namespace

TEST(options_are_refused_beyond_their_limits) {
  const maptree::Dataset data = fuzz::make_dataset(workbench::noisy(7, 200, 4));
  const auto good = [&](const Options& options) {
    try {
      static_cast<void>(maptree::checked(options, data));
      return true;
    } catch (const std::invalid_argument&) {
      return false;
    }
  };
  CHECK(good({}));
  CHECK(good(with([](Options& o) { o.max_depth = -1; })));
  CHECK(!good(with([](Options& o) { o.max_depth = -2; })));
  CHECK(good(with([](Options& o) { o.max_depth = 0; })));
  CHECK(good(with([](Options& o) { o.min_samples_leaf = 1; })));
  CHECK(!good(with([](Options& o) { o.min_samples_leaf = 0; })));
  CHECK(good(with([](Options& o) { o.max_leaves = -1; })));
  CHECK(!good(with([](Options& o) { o.max_leaves = -2; })));
  CHECK(!good(with([](Options& o) { o.max_leaves = 0; })));
  CHECK(good(with([](Options& o) { o.max_leaves = 1; })));
  CHECK(good(with([](Options& o) { o.max_leaves = 128; })));
  CHECK(!good(with([](Options& o) { o.max_leaves = 129; })));
  Options priced;
  const double most = 1e8 / static_cast<double>(data.n_distinct_rows());
  CHECK_EQUAL(data.n_distinct_rows(), std::size_t{16});  // a power of two: `most` is exact
  priced.leaf_price = most;
  CHECK(good(priced));
  priced.leaf_price = std::nextafter(most, 2 * most);
  CHECK(!good(priced));
  priced.leaf_price = -1e-300;
  CHECK(!good(priced));
  priced.leaf_price = std::numeric_limits<double>::quiet_NaN();
  CHECK(!good(priced));
}

TEST(ordered_columns_need_folded_rows) {
  for (const std::vector<std::size_t>& ordered : {std::vector<std::size_t>{}, {2}, {1, 2}}) {
    Problem problem;
    problem.model.x = {{0, 0, 0}, {0, 0, 1}, {1, 1, 1}, {1, 0, 1}};
    problem.model.y = {0, 1, 0, 1};
    problem.model.weight = {1, 1, 1, 1};
    problem.ordered = ordered;
    for (const bool fold : {true, false}) {
      const maptree::Dataset data = fuzz::make_dataset(problem, {fold, true});
      bool refused = false;
      try {
        static_cast<void>(maptree::checked({}, data));
      } catch (const std::invalid_argument&) {
        refused = true;
      }
      CHECK_EQUAL(refused, !fold && !ordered.empty());
    }
  }
}

// Trees of up to four leaves are no deeper than that allows; of more, it would be no help.
TEST(few_leaves_are_a_limit_on_the_depth) {
  const maptree::Dataset data = fuzz::make_dataset(workbench::noisy(7, 40, 4));
  for (const std::int64_t leaves : {-1, 1, 2, 3, 4, 5, 6, 128})
    for (const std::int64_t depth : {-1, 0, 1, 2, 3, 4, 5}) {
      Options options;
      options.max_leaves = leaves;
      options.max_depth = depth;
      std::int64_t expected = depth;
      if (leaves > 0 && leaves < 5 && (depth < 0 || depth > leaves - 1)) expected = leaves - 1;
      const Options out = maptree::checked(options, data);
      CHECK_EQUAL(out.max_depth, expected);
      CHECK_EQUAL(out.max_leaves, leaves);
    }
}

TEST(a_weight_that_no_leaf_has_is_cut_down) {
  const maptree::Dataset data = fuzz::make_dataset(workbench::noisy(7, 40, 4));
  constexpr std::int64_t most = (1 << 25) + 1;
  for (const auto& [asked, taken] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                     {most - 1, most - 1},
                                     {most, most},
                                     {most + 1, most},
                                     {INT64_MAX, most}}) {
    Options options;
    options.min_samples_leaf = asked;
    CHECK_EQUAL(maptree::checked(options, data).min_samples_leaf, taken);
  }
}

TEST(trees_are_considered_that_keep_to_the_constraints) {
  Random random(61);
  int n_kept_to = 0, n_broken = 0, n_ordered = 0;
  for (int round = 0; round < 400; ++round) {
    Problem problem;
    problem.model = fuzz::random_model(random, fuzz::Shape::tall);
    if (problem.model.n_columns() == 0) continue;
    if (round % 3 == 0) fuzz::make_ordered(random, problem);
    if (round % 2 == 0) fuzz::random_uses(random, problem);
    problem.model.min_leaf = random.one_of({1, 1, 2, 4});
    problem.model.max_depth = random.one_of({-1, -1, 0, 1, 2, 3});
    // How many leaves a tree has is not looked at.
    if (random.chance(0.3)) problem.model.max_leaves = 1;
    const maptree::Dataset data = fuzz::make_dataset(problem);
    std::vector<std::size_t> rows;
    for (std::size_t r = 0; r < problem.model.x.size(); ++r)
      if (problem.model.weight[r] > 0) rows.push_back(r);
    for (int i = 0; i < 20; ++i) {
      Tree tree;
      grow(random, problem, random.between(0L, 4L), tree);
      const bool expected = keeps_to(problem.model, data, tree, 0, rows, 0);
      CHECK_EQUAL(maptree::is_considered(tree, data, fuzz::make_options(problem)), expected);
      (expected ? n_kept_to : n_broken) += 1;
      n_ordered += expected && !problem.ordered.empty() && tree.feature[0] >= 0 ? 1 : 0;
    }
  }
  CHECK(n_kept_to > 500);
  CHECK(n_broken > 500);
  CHECK(n_ordered > 100);
}
