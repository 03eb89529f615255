// Prover and Schedule: the same optimum however little memory there is and however small the pieces
// of work are; bounds that enclose it and a tree behind the upper one, whenever they are asked.
#include "prove/prover.hpp"

#include <atomic>
#include <cmath>
#include <thread>

#include "check.hpp"
#include "problem.hpp"
#include "prove/schedule.hpp"
#include "turned_clock.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Cost;
using maptree::Dataset;
using maptree::Limits;
using maptree::NodeId;
using maptree::Result;
using maptree::Status;
using maptree::Tree;
using workbench::Bench;
using workbench::never;
using workbench::noisy;
using workbench::run;

TEST(a_prover_in_little_memory_finds_the_optimum) {
  Random random(71);
  std::int64_t collections = 0, ended = 0;
  for (int round = 0; round < 90; ++round) {
    Problem problem = noisy(static_cast<std::uint64_t>(round), random.between<std::size_t>(40, 100),
                            random.between<std::size_t>(8, 12), 0.6);
    if (random.chance(0.3)) problem.model.min_leaf = random.between(2L, 5L);
    if (random.chance(0.3)) problem.model.max_depth = random.between(2L, 5L);
    if (random.chance(0.3)) problem.options.pair_expansion = false;
    if (random.chance(0.2)) problem.options.fold_rows = false;
    if (round % 3 == 0) fuzz::random_test_weights(random, problem.model);
    Bench bench(problem);
    const Cost optimum = run(problem).upper;

    maptree::Desk desk(bench.posterior.test_costs());
    const std::size_t memory = random.between<std::size_t>(4000, 40000);
    desk.store.set_limit(memory);
    desk.max_expansions = 20000;
    maptree::Prover prover(bench.data, bench.posterior, bench.expander, desk);
    maptree::Proof proof(bench.data, bench.posterior, bench.options,
                         problem.model.max_depth < 0
                             ? maptree::no_limit
                             : static_cast<std::uint32_t>(problem.model.max_depth));
    auto lock = std::unique_lock(desk.mutex);
    Cost lower, upper = Cost::infinity();
    const std::int64_t work = random.one_of({1L, 1000L, 20'000L, 1'000'000L});
    while (true) {
      prover.advance(lock, proof, Cost::infinity(), work, never);
      if (proof.root == NodeId::none) break;
      const maptree::StoreNode& root = desk.store[proof.root];
      CHECK(root.key.depth == 0 && root.key.limit == proof.limit);
      CHECK(root.lower <= optimum && root.upper >= optimum);
      CHECK(root.lower >= lower && root.upper <= upper);
      lower = root.lower;
      upper = root.upper;
      CHECK(desk.store.bytes() <= memory);
      Tree tree;
      prover.read_tree(proof, tree);
      CHECK(bench.cost(tree) <= upper && bench.cost(tree) >= optimum);
      if (root.solved() || desk.out_of_memory || desk.out_of_expansions) break;
    }
    if (proof.root != NodeId::none && desk.store[proof.root].solved()) {
      CHECK(upper == optimum);
      ++ended;
    }
    CHECK_EQUAL(proof.users, 0);
    collections += desk.collections;
  }
  CHECK(ended > 30);
  CHECK(collections > 100);
}

TEST(a_prover_that_is_alone_reaches_its_goal_in_one_call) {
  Random random(75);
  int n_solved = 0;
  for (int round = 0; round < 60; ++round) {
    Problem problem = noisy(static_cast<std::uint64_t>(round), random.between<std::size_t>(30, 100),
                            random.between<std::size_t>(5, 9), random.one_of({0.2, 0.6}));
    if (random.chance(0.3)) problem.model.min_leaf = random.between(2L, 5L);
    if (random.chance(0.3)) problem.options.pair_expansion = false;
    if (random.chance(0.3)) problem.options.fold_rows = false;
    Bench bench(problem);
    const Cost optimum = run(problem).upper;
    const Cost goal = random.one_of({Cost::infinity(), optimum, optimum - Cost::nearest(1.5)});
    maptree::Desk desk(bench.posterior.test_costs());
    maptree::Prover prover(bench.data, bench.posterior, bench.expander, desk);
    maptree::Proof proof(
        bench.data, bench.posterior, bench.options, maptree::no_limit,
        random.one_of({maptree::Proof::Pace::evenly, maptree::Proof::Pace::by_splits}));
    auto lock = std::unique_lock(desk.mutex);
    maptree::Watch watch;
    watch.stop(1'000'000);  // by somebody else
    const std::int64_t work = prover.advance(lock, proof, goal, INT64_MAX / 2, watch);
    CHECK_EQUAL(work, watch.work() - 1'000'000);
    CHECK_EQUAL(work, proof.work);
    const maptree::StoreNode& root = desk.store[proof.root];
    CHECK(root.lower <= optimum && root.upper >= optimum);
    CHECK(root.lower >= std::min(goal, optimum));
    if (goal >= optimum) {
      Tree tree;
      prover.read_tree(proof, tree);
      CHECK(goal == optimum || root.upper == optimum);
      CHECK(goal == optimum || bench.cost(tree) == optimum);
      ++n_solved;
    }
    // Nothing is left to do, and nothing is done.
    const std::int64_t expansions = desk.expansions;
    CHECK_EQUAL(prover.advance(lock, proof, goal, INT64_MAX / 2, watch), 0);
    CHECK_EQUAL(desk.expansions, expansions);
    CHECK_EQUAL(watch.work() - 1'000'000, work);
  }
  CHECK(n_solved > 20);
}

TEST(splits_that_are_bounded_by_nothing_are_taken_up) {
  // Rows of the common class cost nothing, and where rows are not folded no leaf is known to stop.
  Random random(76);
  int n_split = 0;
  for (int round = 0; round < 40; ++round) {
    Problem problem = workbench::noisy(random, random.between<std::size_t>(3, 12), 3, 0, 2,
                                       [](const auto&) { return 0; });
    problem.model.rho = {1e9, 1e-9};
    problem.options.fold_rows = problem.options.improve = problem.options.greedy_start = false;
    problem.options.pair_expansion = random.chance(0.5);
    const Result result = run(problem);
    CHECK(result.status == Status::optimal);
    CHECK(std::abs(result.upper.nats() - brute_force::Solver(problem.model).optimum()) < 1e-6);
    if (result.tree.feature.size() > 1) ++n_split;
  }
  CHECK(n_split > 10);
}

TEST(roots_of_other_proofs_survive_collections) {
  // One proof is left alone for long while another one fills the memory again and again.
  const Problem problem = noisy(1, 250, 24, 0.3);
  Bench bench(problem);
  maptree::Desk desk(bench.posterior.test_costs());
  desk.store.set_limit(80'000);
  desk.max_expansions = 3000;
  maptree::Prover prover(bench.data, bench.posterior, bench.expander, desk);
  maptree::Proof whole(bench.data, bench.posterior, bench.options, maptree::no_limit);
  maptree::Proof shallow(bench.data, bench.posterior, bench.options, 4);
  auto lock = std::unique_lock(desk.mutex);
  prover.advance(lock, whole, Cost::infinity(), 1, never);
  const Cost lower = desk.store[whole.root].lower, upper = desk.store[whole.root].upper;
  do {
    prover.advance(lock, shallow, Cost::infinity(), 100'000, never);
    const maptree::StoreNode& root = desk.store[whole.root];
    CHECK(root.key.depth == 0 && root.key.limit == maptree::no_limit);
    CHECK(root.lower == lower && root.upper == upper);
    CHECK(desk.store.bytes() <= 80'000);
  } while (!desk.out_of_expansions && !desk.out_of_memory && !desk.store[shallow.root].solved());
  CHECK(desk.collections > 3);
}

TEST(a_search_in_little_memory_finds_the_optimum) {
  Random random(72);
  int n_ended = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Problem problem = noisy(seed, 250, 24, 0.3);
    if (seed == 5) {
      problem.model = fuzz::tic_tac_toe();
      problem.model.max_depth = 4;
    }
    problem.options.improve = seed % 2 == 0;
    const Result usual = run(problem);
    CHECK(usual.status == Status::optimal);
    Limits limits;
    limits.max_expansions = 0;
    const std::int64_t start = run(problem, limits).peak_bytes;
    const std::int64_t more = usual.peak_bytes - start;
    for (int round = 0; round < 6; ++round) {
      limits.max_expansions = 30 * usual.expansions;
      limits.threads = random.between(1L, 2L);
      limits.memory_bytes = start + random.between(more / 8, more);
      const Result result = run(problem, limits);
      CHECK(result.peak_bytes <= limits.memory_bytes);
      CHECK(result.lower <= usual.upper && result.upper >= usual.upper);
      if (result.status == Status::optimal) ++n_ended;
    }
  }
  CHECK(n_ended > 20);
}

// Asserts in the prover say whether a thread still stands on the split and the rows it believes to,
// whatever the others have dropped and found again.
TEST(threads_in_little_memory_find_the_optimum) {
  int n_ended = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Problem problem = noisy(100 + seed, 250, 24, 0.3);
    Limits limits;
    limits.max_expansions = 0;
    const std::int64_t start = run(problem, limits).peak_bytes;
    const Result usual = run(problem);
    limits.max_expansions = 30 * usual.expansions;
    limits.memory_bytes = start + (usual.peak_bytes - start) * 3 / 10;
    limits.threads = 3;
    const Result result = run(problem, limits);
    CHECK(result.lower <= usual.upper && result.upper >= usual.upper);
    if (result.status == Status::optimal) ++n_ended;
  }
  CHECK(n_ended > 6);
}

TEST(a_search_proves_depth_after_depth) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Problem problem = noisy(seed, 120, 12, 0.5);
    std::vector<Cost> best;  // by depth
    for (long depth = 0; depth < 8; ++depth) {
      Problem shallow = problem;
      shallow.model.max_depth = depth;
      best.push_back(run(shallow).upper);
    }
    std::int64_t proved = 0;
    for (const std::int64_t n : {1, 3, 10, 30, 100, 300, 1000}) {
      Limits limits;
      limits.max_expansions = n;
      const Result result = run(problem, limits);
      if (result.status == Status::optimal) break;
      CHECK(result.proved_depth >= proved);
      proved = result.proved_depth;
      CHECK(best[static_cast<std::size_t>(std::min<std::int64_t>(proved, 7))] >= result.upper);
    }
    CHECK(proved >= 2);
  }
}

// Threads: these are run under ThreadSanitizer as well.

TEST(threads_find_the_optimum_of_one) {
  Random random(73);
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Problem problem = noisy(seed, 90, 10);
    if (seed % 3 == 1) problem.model.max_depth = 4;
    if (seed % 4 == 1) problem.options.graded_proof = false;
    if (seed % 4 == 2) problem.options.improve = problem.options.greedy_start = false;
    const Result usual = run(problem);
    Limits limits;
    limits.threads = 2 + static_cast<std::int64_t>(seed % 3);
    const Result result = run(problem, limits);
    CHECK(result.status == Status::optimal);
    CHECK_EQUAL(result.upper.units(), usual.upper.units());
    // Under limits.
    limits.max_expansions = random.below(usual.expansions + 1);
    const Result some = run(problem, limits);
    CHECK(some.expansions <= limits.max_expansions);
    CHECK(some.lower <= usual.upper && some.upper >= usual.upper);
    limits.max_expansions = 20 * usual.expansions;
    limits.memory_bytes = usual.peak_bytes + random.between<std::int64_t>(0, 100'000);
    const Result little = run(problem, limits);
    CHECK(little.peak_bytes <= limits.memory_bytes);
    CHECK(little.lower <= usual.upper && little.upper >= usual.upper);
  }
}

TEST(threads_can_be_stopped_at_any_time) {
  const Problem problem = noisy(9, 300, 30, 0.6);
  Limits limits;
  limits.threads = 3;
  limits.poll_seconds = 0;
  for (int n = 1; n < 60; n += 6) {
    limits.memory_bytes = n % 4 == 1 ? 400'000 : -1;
    int polls = 0;
    Cost lower;
    std::int64_t proved_depth = 0;
    const Result result = run(problem, limits, [&](const maptree::Progress& progress) {
      CHECK(progress.lower >= lower && progress.proved_depth >= proved_depth);
      lower = progress.lower;
      proved_depth = progress.proved_depth;
      return ++polls == n;
    });
    CHECK(result.status == Status::interrupted || result.status == Status::memory_limit);
    CHECK(result.lower <= result.upper && result.lower >= lower);
  }
}

TEST(threads_that_collect_keep_to_the_time) {
  // The store's lock is held by whoever collects, and the first expansion is one thread's alone.
  for (const std::size_t n_columns : {40u, 800u}) {
    const Problem problem = noisy(10, 400, n_columns, 0.6);
    Limits limits;
    limits.max_expansions = 0;
    const std::int64_t start = run(problem, limits).peak_bytes;
    limits.max_expansions = -1;
    limits.threads = 2;
    limits.memory_bytes = 3 * start + 1'000'000;
    for (const std::int64_t late_from : {0, 3, 100, 3000}) {
      const Result result = run(problem, TurnedClock(late_from).limits(limits, 100'000));
      CHECK(result.status == Status::time_limit);
      CHECK(result.clock.n_readings <= late_from + limits.threads);  // one late one each, at most
      CHECK(result.peak_bytes <= limits.memory_bytes);
    }
  }
}
