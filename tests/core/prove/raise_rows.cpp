// Prover::raise_rows: bounds of any rows at any depth, for trees of at most so many leaves.
#include "check.hpp"
#include "exact_optimum.hpp"
#include "prove/prover.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Cost;
using maptree::RowSet;
using workbench::Bench;
using workbench::never;

namespace {

struct Raised {
  explicit Raised(const Problem& problem)
      : bench(problem),
        exact(bench.data, bench.posterior, problem.model.max_depth, problem.model.min_leaf),
        desk(bench.posterior.test_costs()),
        prover(bench.data, bench.posterior, bench.expander, desk),
        proof(bench.data, bench.posterior, bench.options, maptree::depth_limit(bench.options)),
        lock(desk.mutex) {}

  maptree::Prover::Standing raise(const RowSet& rows, std::size_t depth, std::uint32_t leaves,
                                  Cost lower, Cost goal) {
    return prover.raise_rows(lock, proof, rows, bench.data.key(rows), depth, leaves, lower, goal,
                             never);
  }
  [[nodiscard]] Cost optimum(const RowSet& rows, std::size_t depth, std::uint32_t leaves) {
    return exact.optimum(rows, depth, 1000, leaves == maptree::any_leaves ? 0 : leaves);
  }

  Bench bench;
  exact::Solver exact;
  maptree::Desk desk;
  maptree::Prover prover;
  maptree::Proof proof;
  std::unique_lock<std::mutex> lock;
};

Problem noisy_problem(Random& random) {
  Problem problem = workbench::noisy(random, random.between<std::size_t>(20, 50), 5, 0.5, 2,
                                     [](const auto& row) { return row[0] ^ row[1]; });
  if (random.chance(0.3)) problem.model.min_leaf = random.between(1L, 4L);
  if (random.chance(0.3)) problem.model.max_depth = random.between(1L, 4L);
  if (random.chance(0.3)) fuzz::random_test_weights(random, problem.model);
  if (random.chance(0.3)) fuzz::random_uses(random, problem);
  if (random.chance(0.3)) problem.options.fold_rows = false;
  return problem;
}

// What some splits leave of the rows, and how deep that is.
RowSet some_rows(Random& random, const Bench& bench, std::size_t& depth) {
  RowSet rows = bench.data.all_rows(), part;
  for (depth = 0; depth < 3 && random.chance(0.7); ++depth) {
    if (bench.data.n_columns() == 0) break;
    bench.data.part(rows, random.below(bench.data.n_columns()), random.below(2), part);
    if (part.n_stored() == 0) break;
    std::swap(rows, part);
  }
  return rows;
}

std::uint32_t some_leaves(Random& random) {
  return random.chance(0.3) ? maptree::any_leaves : random.between(1u, 5u);
}

}  // namespace

TEST(bounds_of_any_rows_are_raised_to_their_optimum) {
  Random random(77);
  int n_solved = 0, n_open = 0;
  for (int round = 0; round < 80; ++round) {
    Raised raised(noisy_problem(random));
    for (int i = 0; i < 20; ++i) {
      std::size_t depth = 0;
      const RowSet rows = some_rows(random, raised.bench, depth);
      const std::uint32_t leaves = some_leaves(random);
      const Cost optimum = raised.optimum(rows, depth, leaves);
      const Cost goal = random.chance(0.5) ? Cost::infinity() : Cost(optimum.units() / 2);
      const auto standing = raised.raise(rows, depth, leaves, Cost(0), goal);
      CHECK(standing.lower <= optimum && standing.upper >= optimum);
      CHECK(standing.lower >= std::min(goal, optimum));
      (standing.solved() ? n_solved : n_open) += 1;
      if (standing.solved()) CHECK_EQUAL(standing.upper.units(), optimum.units());
    }
  }
  CHECK(n_solved > 500);
  CHECK(n_open > 30);
}

// Nothing is known then but what was known before, and what a leaf costs.
TEST(bounds_are_as_they_were_where_the_desk_is_broken_or_full) {
  Random random(78);
  int n_below = 0;
  for (int round = 0; round < 60; ++round) {
    Raised raised(noisy_problem(random));
    raised.desk.broken = round % 2 == 0;
    if (round % 2 == 1) raised.desk.store.set_limit(0);
    std::size_t depth = 0;
    const RowSet rows = some_rows(random, raised.bench, depth);
    const std::uint32_t leaves = some_leaves(random);
    const Cost leaf = raised.exact.leaf(rows, depth);
    for (const Cost lower : {Cost(leaf.units() / 2), leaf, leaf + Cost(1)}) {
      const auto standing = raised.raise(rows, depth, leaves, lower, Cost::infinity());
      CHECK_EQUAL(standing.lower.units(), std::min(lower, leaf).units());
      CHECK_EQUAL(standing.upper.units(), leaf.units());
      n_below += standing.solved() ? 0 : 1;
    }
  }
  CHECK(n_below > 40);
}
