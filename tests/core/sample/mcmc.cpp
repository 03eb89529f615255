// MCMC: the posterior of long chains, what a run tells of them, and what stops them.
#include "sample/mcmc.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "every_tree.hpp"
#include "turned_clock.hpp"

using every_tree::dataset_of;
using every_tree::Features;
using every_tree::tree_of;
using maptree::Cost;
using maptree::Limits;
using maptree::McmcOptions;
using maptree::McmcSamples;
using maptree::SamplingProgress;
using maptree::SamplingStatus;
using maptree::Tree;

namespace {

McmcSamples run(const fuzz::Problem& problem, const McmcOptions& options, const Limits& limits = {},
                const maptree::SamplingMonitor& monitor = {}) {
  return maptree::sample_mcmc(dataset_of(problem), fuzz::make_prior(problem), options, limits,
                              monitor);
}

bool same(const McmcSamples& a, const McmcSamples& b) {
  if (a.sample != b.sample || a.costs != b.costs || a.accepted != b.accepted || a.best != b.best ||
      a.forest.size() != b.forest.size())
    return false;
  for (std::size_t t = 0; t < a.forest.size(); ++t)
    if (!std::ranges::equal(a.forest.feature(t), b.forest.feature(t))) return false;
  return true;
}

fuzz::Problem tic_tac_toe() {
  fuzz::Problem problem;
  problem.model = fuzz::tic_tac_toe();
  return problem;
}

}  // namespace

TEST(a_long_chain_has_the_posterior) {
  for (const fuzz::Problem& problem : every_tree::tiny_problems()) {
    const McmcSamples samples =
        run(problem, {.n_samples = 100000, .burn_in = 100, .thin = 2, .n_chains = 2, .seed = 3});
    std::vector<double> weight(samples.forest.size(), 0);
    for (const auto& chain : samples.sample) {
      CHECK_EQUAL(chain.size(), 100000u);
      for (const std::int32_t t : chain) weight[static_cast<std::size_t>(t)] += 1.0 / 200000;
    }
    CHECK(every_tree::distance(problem, samples.forest, weight) < 0.02);
  }
}

TEST(samples_are_thinned_states_of_the_chain) {
  const fuzz::Problem problem = tic_tac_toe();
  McmcOptions options{.n_samples = 50, .burn_in = 30, .thin = 7, .n_chains = 3, .seed = 9};
  const McmcSamples samples = run(problem, options);
  CHECK(samples.status == SamplingStatus::complete);
  const maptree::Dataset data = dataset_of(problem);
  const maptree::Posterior posterior(fuzz::make_prior(problem), data);
  for (std::size_t t = 0; t < samples.forest.size(); ++t)
    CHECK(maptree::score(samples.forest.tree(t), data, posterior).subtree[0] ==
          samples.forest.cost(t));
  Cost best = Cost::infinity();
  for (std::size_t c = 0; c < 3; ++c) {
    CHECK_EQUAL(samples.costs[c].size(), 30u + 50 * 7);
    CHECK_EQUAL(samples.sample[c].size(), 50u);
    for (std::size_t i = 0; i < 50; ++i)
      CHECK(samples.forest.cost(static_cast<std::size_t>(samples.sample[c][i])) ==
            samples.costs[c][30 + 7 * i + 6]);
    best = std::min(best, *std::min_element(samples.costs[c].begin(), samples.costs[c].end()));
    std::int64_t n = 0;
    for (std::size_t m = 0; m < 4; ++m) {
      CHECK(samples.accepted[c][m] <= samples.proposed[c][m]);
      n += samples.proposed[c][m];
    }
    CHECK_EQUAL(n, 30 + 50 * 7);
  }
  CHECK(samples.forest.cost(samples.best) == best);
  CHECK_EQUAL(samples.trace.back()[2], best.nats());
  CHECK_EQUAL(samples.trace.back()[1], 3 * (30.0 + 50 * 7));
  for (std::size_t i = 1; i < samples.trace.size(); ++i) {
    CHECK(samples.trace[i - 1][0] <= samples.trace[i][0]);
    CHECK(samples.trace[i - 1][1] <= samples.trace[i][1]);
    CHECK(samples.trace[i - 1][2] > samples.trace[i][2] || i + 1 == samples.trace.size());
  }
}

TEST(chains_depend_on_the_seed_and_not_on_threads) {
  const fuzz::Problem problem = tic_tac_toe();
  McmcOptions options{.n_samples = 150, .burn_in = 50, .thin = 2, .n_chains = 5, .seed = 1};
  const McmcSamples one = run(problem, options);
  for (const std::int64_t threads : {1, 2, 3, 8})
    CHECK(same(one, run(problem, options, {.threads = threads})));
  options.seed = 2;
  CHECK(run(problem, options).costs != one.costs);
  CHECK(one.costs[0] != one.costs[1]);
  options.seed = 1;
  options.n_chains = 2;
  const McmcSamples fewer = run(problem, options);
  for (std::size_t c = 0; c < 2; ++c) CHECK(fewer.costs[c] == one.costs[c]);
}

TEST(chains_stop_in_time_with_a_sample_each_on_threads) {
  const fuzz::Problem problem = tic_tac_toe();
  for (const std::int64_t threads : {1, 2}) {
    const McmcOptions options{
        .n_samples = 100'000'000, .burn_in = 1'000'000, .thin = 3, .n_chains = 4, .seed = 1};
    for (const std::int64_t late_from : {0, 300}) {
      const McmcSamples samples =
          run(problem, options, TurnedClock(late_from).limits({.threads = threads}, 100'000));
      CHECK(samples.status == SamplingStatus::time_limit);
      CHECK(samples.clock.n_readings <= late_from + threads);  // one late one each, at most
      CHECK(samples.clock.most_work <= 200'000);
      CHECK_EQUAL(samples.sample.size(), 4u);
      for (std::size_t c = 0; c < 4; ++c) {
        CHECK_EQUAL(samples.sample[c].size(), 1u);
        const auto t = static_cast<std::size_t>(samples.sample[c][0]);
        if (!samples.costs[c].empty()) CHECK(samples.forest.cost(t) == samples.costs[c].back());
      }
      CHECK_EQUAL(samples.costs[0].empty(), late_from == 0);
    }
    // The monitor stops it too, and is asked on the caller's thread only.
    int n_calls = 0;
    const McmcSamples samples = run(problem, options, {.threads = threads, .poll_seconds = 0.001},
                                    [&](const SamplingProgress& progress) {
                                      CHECK(progress.total_steps == 4 * 301'000'000LL);
                                      CHECK(progress.seconds >= 0 && progress.steps >= 0);
                                      return ++n_calls == 5;
                                    });
    CHECK(samples.status == SamplingStatus::interrupted);
    CHECK_EQUAL(n_calls, 5);
  }
}

TEST(what_goes_wrong_in_a_chain_reaches_the_caller) {
  const fuzz::Problem problem = tic_tac_toe();
  CHECK_THROWS(std::runtime_error,
               run(problem, {.n_samples = 100'000'000}, {.threads = 2},
                   [](const SamplingProgress&) -> bool { throw std::runtime_error("no"); }));
}

TEST(a_chain_starts_from_a_given_tree) {
  const fuzz::Problem problem = every_tree::tiny_problems()[0];
  const auto states = every_tree::enumerate(problem.model);
  for (std::size_t i = 0; i < states.size(); i += 7) {
    McmcOptions options{.n_samples = 1, .burn_in = 0, .n_chains = 2};
    options.initial = tree_of(states[i].feature);
    const McmcSamples samples = run(problem, options, {.seconds = 0});
    const auto feature = samples.forest.feature(samples.best);
    CHECK(Features(feature.begin(), feature.end()) == states[i].feature);
    CHECK(std::abs(samples.forest.cost(samples.best).nats() - states[i].cost) < 1e-6);
  }
}

TEST(an_initial_tree_is_checked) {
  // Columns: 0 varies, 1 is its complement, 2 is constant.
  fuzz::Problem problem;
  problem.model.x = {{0, 1, 1}, {1, 0, 1}};
  problem.model.y = {0, 1};
  problem.model.weight = {1, 1};
  const auto start = [&](const Tree& tree) {
    McmcOptions options{.n_samples = 10};
    options.initial = tree;
    return run(problem, options);
  };
  start(tree_of({1, -1, -1}));
  start({{0, -1, -1}, {2, -1, -1}, {1, -1, -1}, {}});  // not in preorder
  CHECK_THROWS(std::invalid_argument, start({}));
  CHECK_THROWS(std::invalid_argument, start(tree_of({2, -1, -1})));
  CHECK_THROWS(std::invalid_argument, start(tree_of({3, -1, -1})));
  CHECK_THROWS(std::invalid_argument, start(tree_of({0, 1, -1, -1, -1})));
  CHECK_THROWS(std::invalid_argument, start({{0, -1, -1}, {1, -1, -1}, {1, -1, -1}, {}}));
  CHECK_THROWS(std::invalid_argument, start({{0, -1, -1}, {1, -1, -1}, {3, -1, -1}, {}}));
  CHECK_THROWS(std::invalid_argument, start({{0, -1, -1}, {0, -1, -1}, {1, -1, -1}, {}}));
  CHECK_THROWS(std::invalid_argument, start({{0, -1, -1}, {1, -1, -1}, {-1, -1, -1}, {}}));
  CHECK_THROWS(std::invalid_argument, start({{-1, -1}, {-1, -1}, {-1, -1}, {}}));
  CHECK_THROWS(std::invalid_argument, start({{0, -1, -1}, {1, -1}, {2, -1, -1}, {}}));
}

TEST(small_and_degenerate_problems_have_chains) {
  fuzz::Random random(21);
  const auto check = [](const fuzz::Problem& problem) {
    const McmcSamples samples =
        run(problem, {.n_samples = 300, .burn_in = 10, .n_chains = 2, .seed = 1});
    CHECK(samples.status == SamplingStatus::complete);
    const brute_force::Solver solver(problem.model);
    for (std::size_t t = 0; t < samples.forest.size(); ++t) {
      const double expected = solver.cost(samples.forest.tree(t));
      CHECK(std::abs(samples.forest.cost(t).nats() - expected) < 1e-6 * (1 + expected));
    }
  };
  for (const std::size_t n_rows : {1u, 2u, 63u, 64u, 65u, 129u}) {
    for (const std::size_t n_columns : {0u, 1u, 5u, 70u}) {
      for (const std::size_t n_classes : {1u, 2u, 3u, 300u}) {
        fuzz::Problem problem;
        problem.model.rho.assign(n_classes, 5.0 / static_cast<double>(n_classes));
        problem.model.alpha = 0.999;
        for (std::size_t r = 0; r < n_rows; ++r) {
          std::vector<int> row(n_columns);
          for (int& value : row) value = random.below(2);
          problem.model.x.push_back(row);
          problem.model.y.push_back(random.below(static_cast<int>(n_classes)));
          problem.model.weight.push_back(random.between(1L, 2L));
        }
        check(problem);
      }
    }
  }
  fuzz::Problem steep = tic_tac_toe();
  steep.model.beta = 1e6;  // a split below the root is as good as impossible
  check(steep);
  fuzz::Problem flat = tic_tac_toe();
  flat.model.beta = 0;
  flat.model.alpha = 1 - 1e-16;
  check(flat);
}

TEST(mcmc_refuses_a_callers_mistakes) {
  const fuzz::Problem problem = every_tree::tiny_problems()[0];
  CHECK_THROWS(std::invalid_argument, run(problem, {.n_samples = 0}));
  CHECK_THROWS(std::invalid_argument, run(problem, {.burn_in = -1}));
  CHECK_THROWS(std::invalid_argument, run(problem, {.thin = 0}));
  CHECK_THROWS(std::invalid_argument, run(problem, {.n_chains = 0}));
  CHECK_THROWS(std::invalid_argument, run(problem, {.n_samples = INT64_MAX, .thin = 2}));
  fuzz::Problem wrong = problem;
  wrong.model.alpha = 1;
  CHECK_THROWS(std::invalid_argument, run(wrong, {}));
  // Columns 0 and 2 of this one are equal.
  const fuzz::Problem twice = every_tree::tiny_problems()[5];
  CHECK_THROWS(std::invalid_argument, maptree::sample_mcmc(fuzz::make_dataset(twice, {true, true}),
                                                           fuzz::make_prior(twice), {}, {}));
  CHECK_THROWS(std::invalid_argument,
               maptree::sample_mcmc(fuzz::make_dataset(twice, {false, false}),
                                    fuzz::make_prior(twice), {}, {}));
}
