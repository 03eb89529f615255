// Improver: its trees are trees of the problem and cost what it says, and no way of calling it
// changes what it finds.
#include "improve/improve.hpp"

#include <cmath>
#include <vector>

#include "check.hpp"
#include "improve/incumbent.hpp"
#include "problem.hpp"
#include "turned_clock.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Cost;
using maptree::Tree;
using workbench::never;

namespace {

constexpr std::size_t ample = std::size_t{1} << 24;

// With an improver on it.
struct Bench : workbench::Bench {
  explicit Bench(const Problem& problem, std::size_t max_bytes = ample)
      : workbench::Bench(problem), improver(data, posterior, expander, max_bytes) {}

  Cost grow(Tree& tree) {
    return maptree::Incumbent(data, posterior, bounds, options, expander).grow(never, tree);
  }
  [[nodiscard]] bool cost_is_exact() const { return cost(improver.tree()) == improver.cost(); }

  maptree::Improver improver;
};

Problem with_random_switches(Random& random, fuzz::Shape shape) {
  Problem problem;
  problem.model = fuzz::random_model(random, shape);
  for (const fuzz::Switch& s : fuzz::switches) problem.options.*s.member = random.chance(0.7);
  if (random.chance(0.3)) problem.model.max_depth = random.between(0L, 4L);
  if (random.chance(0.3)) problem.model.min_leaf = random.between(1L, 6L);
  if (random.chance(0.5)) fuzz::random_test_weights(random, problem.model);
  return problem;
}

Problem tall_or_wide(Random& random) {
  return with_random_switches(random, random.one_of({fuzz::Shape::tall, fuzz::Shape::wide}));
}

Problem boards() {
  Problem problem;
  problem.model = fuzz::tic_tac_toe();
  return problem;
}

constexpr std::int64_t second = 1'000'000'000;

}  // namespace

TEST(improved_trees_are_valid_and_cost_what_is_claimed) {
  Random random(71);
  for (int i = 0; i < 150; ++i) {
    const Problem problem = tall_or_wide(random);
    Bench bench(problem);
    const brute_force::Solver brute(problem.model);
    for (int call = 0; call < 20; ++call) {
      CHECK(bench.cost_is_exact());
      // Throws for a tree that the constraints forbid.
      maptree::Tree tree = bench.improver.tree();
      CHECK(maptree::score_and_count(tree, bench.data, bench.posterior).subtree[0] ==
            bench.improver.cost());
      CHECK(std::abs(brute.cost(tree) - bench.improver.cost().nats()) < 1e-6);
      bench.improver.improve(20'000, never);
    }
  }
}

TEST(exhausted_is_proved) {
  Random random(72);
  for (int i = 0; i < 60; ++i) {
    const Problem problem = tall_or_wide(random);
    Bench bench(problem);
    bench.improver.improve(100 * second, never);
    CHECK(bench.improver.exhausted());
    CHECK(bench.improver.proved());
    CHECK(bench.cost_is_exact());
    const Cost optimum = workbench::run(problem).upper;
    CHECK(bench.improver.cost() == optimum);
    bench.improver.improve(second, never);  // nothing happens
    CHECK(bench.improver.cost() == optimum);
  }
}

TEST(many_short_calls_find_what_one_long_call_finds) {
  Bench once(boards()), often(boards());
  once.improver.improve(second / 20, never);
  while (often.improver.work() < once.improver.work()) {
    // Up to where the other ended, in pieces of all sizes.
    const std::int64_t left = once.improver.work() - often.improver.work();
    often.improver.improve(std::min(left, 1 + often.improver.work() / 100), never);
  }
  CHECK_EQUAL(often.improver.work(), once.improver.work());
  CHECK_EQUAL(often.improver.last_gain(), once.improver.last_gain());
  CHECK(often.improver.cost() == once.improver.cost());
  CHECK(often.improver.tree().feature == once.improver.tree().feature);
  CHECK_EQUAL(often.improver.bytes(), once.improver.bytes());
}

TEST(it_stops_when_told_and_can_go_on) {
  Bench bench(boards());
  int n_stops = 0;
  for (; bench.improver.work() < second / 50; ++n_stops) {
    const TurnedClock clock(1000);
    maptree::Control control(clock.limits());
    maptree::Watch watch(control);
    bench.improver.improve(second, watch);
    CHECK(watch.stopped());
    CHECK_EQUAL(clock.n_readings(), 1001);  // not once more after the one that was late
  }
  CHECK(n_stops > 2);
  CHECK(bench.cost_is_exact());
}

TEST(never_worse_than_what_is_offered) {
  Random random(73);
  for (int i = 0; i < 60; ++i) {
    Bench bench(with_random_switches(random, fuzz::Shape::tall));
    Tree greedy;
    const Cost cost = bench.grow(greedy);
    bench.improver.improve(random.below(100'000), never);
    const Cost before = bench.improver.cost();
    bench.improver.offer(greedy, cost);
    CHECK(bench.improver.cost() == std::min(before, cost));
    CHECK(bench.cost_is_exact());
    bench.improver.improve(random.below(100'000), never);
    CHECK(bench.improver.cost() <= std::min(before, cost));
    CHECK(bench.cost_is_exact());
  }
}

TEST(it_is_better_than_greedy) {
  Bench bench(boards());
  Tree greedy;
  const Cost cost = bench.grow(greedy);
  bench.improver.offer(greedy, cost);
  bench.improver.improve(second / 50, never);
  CHECK(bench.improver.cost() < cost);
  CHECK(std::abs(bench.improver.cost().nats() - 300.9038) < 1e-3);  // the optimum
}

TEST(memory_is_bounded) {
  for (const std::size_t max_bytes : {0u, 1000u, 20'000u, 100'000u, 1'000'000u}) {
    Bench bench(boards(), max_bytes);
    const std::size_t tree_alone = 100'000;
    for (int call = 0; call < 200 && !bench.improver.exhausted(); ++call) {
      bench.improver.improve(second / 1000, never);
      CHECK(bench.improver.bytes() <= max_bytes + tree_alone);
    }
    if (max_bytes <= 1000) CHECK(bench.improver.exhausted());
    if (max_bytes >= 1'000'000) CHECK(!bench.improver.exhausted());
    CHECK(bench.cost_is_exact());
  }
}
