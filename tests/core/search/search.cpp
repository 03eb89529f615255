// Search: the signature, the switches on problems too large for brute force, and what stops it.
#include <algorithm>
#include <cassert>
#include <limits>
#include <stdexcept>

#include "check.hpp"
#include "problem.hpp"
#include "scan/pair_kernel.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Cost;
using maptree::Kernel;
using maptree::Limits;
using maptree::Options;
using maptree::Result;
using maptree::Status;
using workbench::run;

// The search signature: expansions to solve signature_problems(), in total. It tells a change of
// speed from a change of behaviour. A commit that changes it says so, and why.
constexpr std::int64_t signature = 40441;
constexpr std::int64_t graph_signature = 23097;  // of the search over a graph

namespace {

// Labels by a small tree over the first columns, with noise; half of the columns decide nothing.
Problem noisy_tree(std::uint64_t seed, std::size_t n_rows, std::size_t n_columns, double noise) {
  Random random(seed);
  const int n_classes = random.between(2, 3);
  Problem problem = workbench::noisy(
      random, n_rows, n_columns, noise, n_classes, [&](const std::vector<int>& row) {
        return (row[0] == 1 ? row[1] + row[2] : row[3] ^ row[4]) % n_classes;
      });
  problem.model.rho.assign(n_classes, 5.0 / n_classes);
  return problem;
}

// Not proved in any time a test would wait.
Problem hard() { return noisy_tree(99, 400, 60, 0.5); }

std::vector<Problem> signature_problems() {
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < 20; ++i) problems.push_back(noisy_tree(i, 100 + 12 * i, 16 + i, 0.2));
  problems.emplace_back().model = fuzz::tic_tac_toe();
  problems.back().model.max_depth = 5;
  return problems;
}

}  // namespace

TEST(the_signature_is_as_pinned) {
  std::int64_t expansions = 0, graph_expansions = 0;
  for (Problem problem : signature_problems()) {
    const Result result = run(problem);
    CHECK(result.status == Status::optimal);
    expansions += result.expansions;
    problem.options.depth_first = false;
    graph_expansions += run(problem).expansions;
  }
  CHECK_EQUAL(expansions, signature);
  CHECK_EQUAL(graph_expansions, graph_signature);
}

TEST(equal_weights_of_tests_change_nothing) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Problem problem = noisy_tree(seed, 120, 14, 0.2);
    problem.options.depth_first = seed % 2 == 0;
    const Result usual = run(problem);
    problem.model.test_weight.assign(14, 1000);
    const Result same = run(problem);
    CHECK(same.tree.feature == usual.tree.feature);
    CHECK_EQUAL(same.upper.units(), usual.upper.units());
    CHECK_EQUAL(same.expansions, usual.expansions);
    CHECK_EQUAL(same.subproblems, usual.subproblems);
    CHECK_EQUAL(same.peak_bytes, usual.peak_bytes);
  }
}

TEST(a_heavier_test_is_preferred_among_equals) {
  // Columns 0 and 2 part the rows alike, 1 does not help.
  Problem problem;
  for (int r = 0; r < 40; ++r) {
    problem.model.x.push_back({r % 2, r / 2 % 2, 1 - r % 2});
    problem.model.y.push_back(r % 2);
    problem.model.weight.push_back(1);
  }
  for (const bool fold : {true, false}) {
    problem.options.fold_columns = fold;
    problem.model.test_weight = {1, 1, 2};
    const maptree::Tree heavier = run(problem).tree;
    CHECK_EQUAL(heavier.feature[0], 2);
    problem.model.test_weight = {2, 1, 2};
    const maptree::Tree first = run(problem).tree;
    CHECK_EQUAL(first.feature[0], 0);
  }
}

TEST(the_boards_are_those_of_the_known_set) {
  const brute_force::Problem boards = fuzz::tic_tac_toe();
  CHECK_EQUAL(boards.x.size(), 958u);
  CHECK_EQUAL(std::count(boards.y.begin(), boards.y.end(), 1), 626);
  CHECK_EQUAL(boards.n_columns(), 27u);
}

TEST(no_switch_and_no_kernel_changes_the_optimum) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Problem problem = noisy_tree(seed, 90, 12, 0.2);
    if (seed == 1) problem.model.max_depth = 4;
    if (seed == 2) problem.model.min_leaf = 5;
    if (seed % 4 == 3)  // many rows twice, some of them impure
      for (auto& row : problem.model.x) std::fill(row.begin() + 6, row.end(), 0);
    if (seed == 5) problem.model.max_depth = 4;
    if (seed == 6) problem.model.min_leaf = 5;
    if (seed >= 4) {  // columns of different weights, and copies of some
      for (std::size_t c = 0; c < 12; ++c) problem.model.test_weight.push_back(1L << (5 * c % 12));
      for (auto& row : problem.model.x) row[8] = 1 - (row[7] = row[0]);
    }
    const Result usual = run(problem);
    CHECK(usual.status == Status::optimal);
    const auto check_same = [&](const Problem& other) {
      const Result result = run(other);
      CHECK(result.status == Status::optimal);
      CHECK_EQUAL(result.upper.units(), usual.upper.units());
      return result.expansions;
    };
    for (const fuzz::Switch& s : fuzz::switches) {
      Problem other = problem;
      other.options.*s.member = false;
      check_same(other);
    }
    Problem other = problem;
    other.options = Options::paper();
    check_same(other);
    for (const Kernel kernel : {Kernel::plain, Kernel::avx2, Kernel::avx512}) {
      other = problem;
      other.options.kernel = kernel;
      if (maptree::kernel_available(kernel)) CHECK_EQUAL(check_same(other), usual.expansions);
    }
  }
}

TEST(nothing_depends_on_order_or_on_names) {
  Random random(51);
  for (std::uint64_t seed = 10; seed < 16; ++seed) {
    const Problem problem = noisy_tree(seed, 80, 10, 0.2);
    const std::int64_t usual = run(problem).upper.units();
    Problem other = problem;
    for (std::size_t r = other.model.x.size(); r > 1; --r) {  // rows
      const std::size_t from = random.below(r);
      std::swap(other.model.x[r - 1], other.model.x[from]);
      std::swap(other.model.y[r - 1], other.model.y[from]);
    }
    CHECK_EQUAL(run(other).upper.units(), usual);
    for (auto& row : other.model.x) {  // columns, one of them complemented
      std::reverse(row.begin(), row.end());
      row[3] ^= 1;
    }
    CHECK_EQUAL(run(other).upper.units(), usual);
    for (int& label : other.model.y)  // classes
      label = static_cast<int>(other.model.n_classes()) - 1 - label;
    CHECK_EQUAL(run(other).upper.units(), usual);
    // A weight is a repetition.
    other = problem;
    for (std::size_t r = 0; r < 20; ++r) {
      other.model.weight[r] = 2;
      other.model.x.push_back(other.model.x[r + 20]);
      other.model.y.push_back(other.model.y[r + 20]);
      other.model.weight.push_back(1);
    }
    Problem repeated = problem;
    for (std::size_t r = 0; r < 40; ++r) {
      repeated.model.x.push_back(repeated.model.x[r]);
      repeated.model.y.push_back(repeated.model.y[r]);
      repeated.model.weight.push_back(1);
    }
    CHECK_EQUAL(run(other).upper.units(), run(repeated).upper.units());
  }
}

TEST(a_greedy_start_is_a_better_first_tree) {
  Limits limits;
  limits.max_expansions = 0;
  int n_better = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Problem problem = noisy_tree(seed, 200, 10, 0.1);
    problem.options.improve = false;
    const Result greedy = run(problem, limits);
    problem.options.greedy_start = false;
    const Result leaf = run(problem, limits);
    CHECK_EQUAL(leaf.tree.feature.size(), 1u);
    CHECK(greedy.upper <= leaf.upper && greedy.lower >= leaf.lower);
    CHECK(greedy.upper >= run(problem).upper);
    if (greedy.upper < leaf.upper) ++n_better;
  }
  CHECK(n_better >= 3);  // greed sees nothing where only two tests together tell something
}

TEST(the_graph_is_ok_all_along) {
  // Graph::is_ok is asserted within the search; without assertions this test says nothing.
  bool asserted = false;
  assert(asserted = true);
  CHECK(asserted);
  Random random(52);
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    Problem problem = noisy_tree(seed, 70, 12, 0.3);
    for (const fuzz::Switch& s : fuzz::switches) problem.options.*s.member = random.chance(0.6);
    if (random.chance(0.3)) problem.model.max_depth = random.between(2L, 6L);
    Limits limits;
    limits.max_expansions = 2000;
    const Result result = run(problem, limits);
    CHECK(result.lower <= result.upper);
  }
}

TEST(the_monitor_sees_progress_and_can_stop) {
  Limits limits;
  limits.poll_seconds = 0;
  std::vector<maptree::Progress> seen;
  const Result result = run(hard(), limits, [&](const maptree::Progress& progress) {
    seen.push_back(progress);
    return seen.size() == 5;
  });
  CHECK(result.status == Status::interrupted);
  CHECK_EQUAL(seen.size(), 5u);
  for (std::size_t i = 1; i < seen.size(); ++i) {
    CHECK(seen[i].seconds >= seen[i - 1].seconds);
    CHECK(seen[i].expansions >= seen[i - 1].expansions);
    CHECK(seen[i].lower >= seen[i - 1].lower && seen[i].upper <= seen[i - 1].upper);
    CHECK(seen[i].lower < seen[i].upper);
    CHECK(seen[i].bytes > 0);
  }
  CHECK(result.expansions > 0 && result.expansions >= seen.back().expansions);
  CHECK(result.lower >= seen.back().lower && result.upper <= seen.back().upper);
  CHECK(!result.tree.feature.empty());
}

TEST(patience_ends_at_the_same_place_and_cuts_no_proof_in_sight) {
  Limits limits;
  int cut = 0;
  limits.patience = 1;
  const Result result = run(hard(), limits), again = run(hard(), limits);
  CHECK(result.status == Status::patience && again.status == Status::patience);
  CHECK_EQUAL(result.expansions, again.expansions);
  CHECK(result.lower < result.upper);
  CHECK(result.lower == again.lower && result.upper == again.upper);
  limits.threads = 2;
  CHECK(run(hard(), limits).status == Status::patience);
  limits.threads = 1;
  limits.patience = 0;  // as soon as something can be told; of one proof it is that it is far
  for (const Problem& problem : signature_problems())
    cut += run(problem, limits).status == Status::optimal ? 0 : 1;
  CHECK(cut <= 1);
}

TEST(polls_keep_their_distance) {
  // A clock that goes on by a hundredth of a second whenever it is read.
  Limits limits;
  limits.seconds = 5;
  limits.poll_seconds = 0.1;
  limits.clock = [at = 0.0]() mutable { return at += 0.01; };
  double last = -1;
  int polls = 0;
  const Result result = run(hard(), limits, [&](const maptree::Progress& progress) {
    CHECK(progress.seconds >= last + 0.1);
    last = progress.seconds;
    return ++polls < 0;
  });
  CHECK(result.status == Status::time_limit);
  CHECK(result.seconds >= 5 && result.seconds < 5.1);
  CHECK(polls > 30 && polls <= 50);
}

TEST(expansions_are_counted_to_the_last) {
  Cost upper = Cost::infinity(), lower;
  for (const std::int64_t n : {0, 1, 2, 7, 64, 300}) {
    Limits limits;
    limits.max_expansions = n;
    const Result result = run(hard(), limits);
    CHECK(result.status == Status::expansion_limit);
    CHECK_EQUAL(result.expansions, n);
    CHECK(result.upper <= upper && result.lower >= lower);
    upper = result.upper;
    lower = result.lower;
    const Result again = run(hard(), limits);
    CHECK(again.lower == lower && again.upper == upper);
    CHECK_EQUAL(again.subproblems, result.subproblems);
    CHECK(again.tree.feature == result.tree.feature);
  }
}

TEST(a_memory_limit_is_kept) {
  for (const Problem& problem : {hard(), noisy_tree(97, 3000, 20, 0.5)}) {
    Limits limits;
    limits.max_expansions = 0;
    const std::int64_t start = run(problem, limits).peak_bytes;
    limits.max_expansions = -1;
    Problem over_graph = problem;  // which stops at the limit; the other way goes on
    over_graph.options.depth_first = false;
    std::int64_t expansions = -1;
    for (std::int64_t spare = 1000; spare < 5'000'000; spare *= 3) {
      limits.memory_bytes = start + spare;
      const Result result = run(over_graph, limits);
      CHECK(result.status == Status::memory_limit);
      CHECK(result.peak_bytes <= limits.memory_bytes);
      CHECK(result.expansions >= expansions);
      CHECK(result.upper.finite() && !result.tree.feature.empty());
      expansions = result.expansions;
    }
    CHECK(expansions > 100);
    limits.memory_bytes = 4 * run(noisy_tree(1, 30, 5, 0.1)).peak_bytes;  // ample: no hindrance
    CHECK(run(noisy_tree(1, 30, 5, 0.1), limits).status == Status::optimal);
    limits.memory_bytes = 0;  // cannot be kept, and is no reason to return nothing
    CHECK(run(problem, limits).status == Status::memory_limit);
  }
}

TEST(small_and_degenerate_problems_are_solved) {
  const auto check_leaf = [](const Problem& problem) {
    const Result result = run(problem);
    CHECK(result.status == Status::optimal);
    CHECK_EQUAL(result.tree.feature.size(), 1u);
    CHECK_EQUAL(result.proved_depth, -1);
  };
  Problem one;
  one.model.x = {{0, 1}};
  one.model.y = {1};
  one.model.weight = {1};
  check_leaf(one);
  Problem no_columns = noisy_tree(1, 30, 10, 0.5);
  for (auto& row : no_columns.model.x) row.clear();
  check_leaf(no_columns);
  Problem one_class = noisy_tree(1, 30, 10, 0.5);
  std::fill(one_class.model.y.begin(), one_class.model.y.end(), 0);
  one_class.model.rho = {2.5};
  CHECK(run(one_class).status == Status::optimal);
  Problem constrained = noisy_tree(1, 100, 10, 0.1);
  constrained.model.max_depth = 0;
  check_leaf(constrained);
  constrained.model.max_depth = -1;
  for (const long least : {51L, 100L, 1000L, std::numeric_limits<long>::max()}) {
    constrained.model.min_leaf = least;
    check_leaf(constrained);
  }
  Problem unlimited = noisy_tree(1, 60, 10, 0.1);
  const Cost usual = run(unlimited).upper;
  unlimited.model.max_depth = std::numeric_limits<long>::max();
  CHECK(run(unlimited).upper == usual);
}

TEST(search_refuses_a_callers_mistakes) {
  const Problem good = noisy_tree(1, 20, 5, 0.1);
  CHECK(run(good).status == Status::optimal);
  const auto refused = [&](auto edit) {
    Problem bad = good;
    edit(bad);
    CHECK_THROWS(std::invalid_argument, run(bad));
  };
  refused([](Problem& p) { p.model.max_depth = -2; });
  refused([](Problem& p) { p.model.min_leaf = 0; });
  refused([](Problem& p) { p.model.min_leaf = -3; });
  refused([](Problem& p) { p.model.alpha = 1; });
  refused([](Problem& p) { p.model.beta = -1; });
  refused([](Problem& p) { p.model.rho[0] = 0; });
  for (const Kernel kernel : {Kernel::avx2, Kernel::avx512}) {
    if (maptree::kernel_available(kernel)) continue;
    Options options;
    options.kernel = kernel;
    CHECK_THROWS(std::invalid_argument,
                 maptree::search(fuzz::make_dataset(good), fuzz::make_prior(good), options, {}));
  }
}

TEST(a_trees_cost_is_scored_from_the_definition) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Problem problem = noisy_tree(seed, 80, 10, 0.1);
    const maptree::Dataset data = fuzz::make_dataset(problem);
    const maptree::Posterior posterior(fuzz::make_prior(problem), data);
    const Result result = run(problem);
    const maptree::TreeScores scores = maptree::score(result.tree, data, posterior);
    CHECK(scores.subtree == result.scores.subtree && scores.as_leaf == result.scores.as_leaf);
    CHECK(scores.subtree[0] == result.upper);
    const brute_force::Solver brute(problem.model);
    CHECK(std::abs(brute.cost(result.tree) - result.upper.nats()) < 1e-6);
    CHECK(std::abs(brute.leaf(brute.all(), 0) - scores.as_leaf[0].nats()) < 1e-6);
    for (std::size_t node = 0; node < result.tree.feature.size(); ++node) {
      CHECK(scores.subtree[node] <= scores.as_leaf[node]);  // of an optimum, every part is one
      if (result.tree.feature[node] < 0) CHECK(scores.subtree[node] == scores.as_leaf[node]);
    }
  }
}
