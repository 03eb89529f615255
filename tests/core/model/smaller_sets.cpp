// M: what the optimum of a set of rows says of larger sets. B6: how many thresholds vary on sets of
// some size. Both against the definition.
#include "check.hpp"
#include "exact_optimum.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Cost;
using maptree::RowSet;

namespace {

RowSet some_rows(Random& random, const RowSet& of, double share) {
  RowSet out(of.n_words());
  for (std::size_t w = 0; w < of.n_words(); ++w)
    maptree::for_each_slot(of.word(w), w * maptree::word_bits, [&](std::size_t slot) {
      if (random.chance(share)) out.insert(slot);
    });
  return out;
}

Problem small_problem(Random& random) {
  Problem problem;
  problem.model = fuzz::random_model(random, random.one_of({fuzz::Shape::tall, fuzz::Shape::wide}));
  problem.model.min_leaf = 1;
  if (random.chance(0.7) && problem.model.n_columns() > 0) fuzz::make_ordered(random, problem);
  return problem;
}

}  // namespace

TEST(a_smaller_set_costs_no_more_than_a_larger_one_and_the_slack) {
  Random random(41);
  int n_slack = 0;
  for (int i = 0; i < 150; ++i) {
    Problem problem = small_problem(random);
    // Where stopping costs most, near the root, and a row least.
    if (random.chance(0.5)) problem.model.alpha = random.one_of({0.99, 0.999999});
    if (random.chance(0.3)) problem.model.rho.assign(problem.model.n_classes(), 1e-3);
    if (random.chance(0.3)) problem.model.rho[0] = 1e6;
    const workbench::Bench bench(problem);
    exact::Solver solver(bench.data, bench.posterior, problem.model.max_depth, 1);
    for (int j = 0; j < 6; ++j) {
      const RowSet large = some_rows(random, bench.data.all_rows(), 0.8);
      const RowSet part = some_rows(random, large, random.uniform());
      if (solver.weight(part) == 0) continue;
      for (std::size_t depth = 0; depth < 4; ++depth) {
        const Cost slack = bench.bounds.shrink_slack(depth);
        const Cost less = solver.optimum(part, depth), more = solver.optimum(large, depth);
        CHECK(less <= more + slack);
        n_slack += depth > 0 && slack > Cost(0) ? 1 : 0;
      }
    }
  }
  CHECK(n_slack > 0);
}

// The two tables of bounds.md, section 12.
TEST(without_a_row_the_optimum_of_the_root_may_be_higher_within_the_slack) {
  for (const bool first : {true, false}) {
    Problem problem;
    problem.model.x =
        first ? std::vector<std::vector<int>>{{1, 1, 0}, {0, 1, 0}, {1, 0, 1}, {0, 0, 0}, {1, 0, 0}}
              : std::vector<std::vector<int>>{{1, 0, 0}, {0, 0, 0}, {0, 0, 1}, {0, 0, 1},
                                              {0, 1, 0}, {0, 1, 0}, {0, 1, 1}};
    problem.model.y = first ? std::vector{1, 1, 1, 1, 1} : std::vector{1, 0, 0, 1, 1, 0, 0};
    problem.model.weight.assign(problem.model.x.size(), 1);
    problem.model.rho = {0.1, 0.1};
    if (!first) problem.model.alpha = 0.99;
    if (!first) problem.model.beta = 1;
    const workbench::Bench bench(problem);
    exact::Solver solver(bench.data, bench.posterior, -1, 1);
    const RowSet all = bench.data.all_rows();
    Cost most;
    maptree::for_each_slot(all.word(0), 0, [&](std::size_t absent) {
      RowSet part(all.n_words());
      for (std::size_t w = 0; w < all.n_words(); ++w)
        maptree::for_each_slot(all.word(w), w * maptree::word_bits, [&](std::size_t slot) {
          if (slot != absent) part.insert(slot);
        });
      most = std::max(most, solver.optimum(part, 0));
    });
    CHECK(most > solver.optimum(all, 0));
    CHECK(most <= solver.optimum(all, 0) + bench.bounds.shrink_slack(0));
  }
}

// Level by level, where a class has few rows or none and the rows of another cost least.
TEST(slacks_are_those_of_the_recursion) {
  Random random(43);
  int n_slack = 0;
  for (int round = 0; round < 300; ++round) {
    Problem problem;
    const std::size_t n_classes = 3;
    const int few = random.below(3);  // this class has one row or none
    for (int r = 0; r < 24; ++r) {
      problem.model.x.push_back(std::vector<int>(12));
      for (int& value : problem.model.x.back()) value = random.below(2);
      const int label = random.below(2);
      problem.model.y.push_back(label < few ? label : label + 1);
      problem.model.weight.push_back(1);
    }
    if (random.chance(0.5)) problem.model.y[0] = few;
    problem.model.alpha = random.one_of({0.95, 0.5, 0.999, 0.999999, random.uniform()});
    problem.model.beta = random.one_of({0.0, 0.001, 0.01, 0.1, 0.5, 2.0});
    for (std::size_t k = 0; k < n_classes; ++k)
      problem.model.rho.push_back(random.log_uniform(0.001, 1000));
    const workbench::Bench bench(problem);
    const maptree::Posterior& posterior = bench.posterior;
    const auto units = [](Cost cost) { return static_cast<long double>(cost.units()); };
    long double row = INFINITY, up = 0, shrink = 0;
    for (std::size_t k = 0; k < n_classes; ++k)
      if (bench.data.class_totals()[k] > 0)
        row = std::min(row, units(posterior.pure(static_cast<int>(k), 1)));
    for (std::size_t d = posterior.max_depth() + 1; d-- > 0;) {
      if (d < posterior.max_depth())
        up = std::max({0.0L, units(posterior.stop(d)) - units(posterior.stop(d + 1)),
                       units(posterior.split(d)) - units(posterior.split(d + 1)) + 2 * up});
      shrink = std::max({0.0L, 2 * shrink, shrink + up - units(posterior.split(d)) - row});
      n_slack += shrink > 0 ? 1 : 0;
      CHECK(units(bench.bounds.shrink_slack(d)) == shrink);
    }
  }
  CHECK(n_slack > 100);
}

TEST(the_usual_prior_has_no_slack_below_the_root) {
  Problem problem;
  problem.model.x = {{0, 1}, {1, 1}, {1, 0}};
  problem.model.y = {0, 1, 0};
  problem.model.weight = {1, 1, 1};
  const workbench::Bench bench(problem);
  CHECK(bench.bounds.shrink_slack(0) > Cost(0));
  for (std::size_t depth = 1; depth < 20; ++depth)
    CHECK_EQUAL(bench.bounds.shrink_slack(depth).units(), 0);
}

TEST(sets_of_some_size_have_at_least_so_many_thresholds_that_vary) {
  Random random(42);
  int n_tight = 0;
  for (int i = 0; i < 200; ++i) {
    const Problem problem = small_problem(random);
    if (problem.ordered.empty()) continue;
    const maptree::Dataset data = fuzz::make_dataset(problem);
    for (int j = 0; j < 20; ++j) {
      const RowSet rows = some_rows(random, data.all_rows(), random.uniform());
      std::size_t n = 0;
      for (std::size_t w = 0; w < rows.n_words(); ++w)
        n += static_cast<std::size_t>(maptree::popcount(rows.word(w)));
      if (n == 0) continue;
      CHECK(data.least_varying(n) <= data.ordered().varying(rows));
      n_tight += n > 1 && data.least_varying(n) == data.ordered().varying(rows) ? 1 : 0;
    }
  }
  CHECK(n_tight > 0);
}
