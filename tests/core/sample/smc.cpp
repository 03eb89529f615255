// SMC: the evidence and the posterior of tiny problems, for every kind of filter; costs; what stops
// it.
#include "sample/smc.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "check.hpp"
#include "every_tree.hpp"
#include "turned_clock.hpp"

using every_tree::dataset_of;
using maptree::Cost;
using maptree::Limits;
using maptree::Resampling;
using maptree::SamplingProgress;
using maptree::SamplingStatus;
using maptree::SmcGrowth;
using maptree::SmcOptions;
using maptree::SmcProposal;
using maptree::SmcSamples;

namespace {

SmcSamples run(const fuzz::Problem& problem, const SmcOptions& options, const Limits& limits = {},
               const maptree::SamplingMonitor& monitor = {}) {
  return maptree::sample_smc(dataset_of(problem), fuzz::make_prior(problem), options, limits,
                             monitor);
}

template <class Use>
void for_every_kind(SmcOptions options, Use&& use) {
  for (const auto proposal : {SmcProposal::prior, SmcProposal::optimal}) {
    for (const auto growth : {SmcGrowth::node, SmcGrowth::level}) {
      for (const auto resampling : {Resampling::systematic, Resampling::multinomial}) {
        options.proposal = proposal;
        options.growth = growth;
        options.resampling = resampling;
        use(options);
      }
    }
  }
}

void check_costs(const fuzz::Problem& problem, const SmcSamples& samples) {
  const maptree::Dataset data = dataset_of(problem);
  const maptree::Posterior posterior(fuzz::make_prior(problem), data);
  const brute_force::Solver solver(problem.model);
  for (std::size_t t = 0; t < samples.forest.size(); ++t) {
    const maptree::Tree tree = samples.forest.tree(t);
    CHECK(maptree::score(tree, data, posterior).subtree[0] == samples.forest.cost(t));
    const double expected = solver.cost(tree);  // throws where the tree is not valid
    CHECK(std::abs(samples.forest.cost(t).nats() - expected) < 1e-6 * (1 + expected));
    CHECK(samples.forest.cost(samples.best) <= samples.forest.cost(t));
  }
}

bool same(const SmcSamples& a, const SmcSamples& b) {
  return a.sample == b.sample && a.log_weights == b.log_weights && a.best == b.best &&
         a.resamplings == b.resamplings && a.forest.size() == b.forest.size();
}

fuzz::Problem tic_tac_toe() {
  fuzz::Problem problem;
  problem.model = fuzz::tic_tac_toe();
  return problem;
}

}  // namespace

TEST(the_evidence_is_estimated_without_bias) {
  std::uint64_t seed = 100;
  for (const fuzz::Problem& problem : every_tree::tiny_problems()) {
    const double exact = every_tree::log_evidence(problem.model);
    for_every_kind({.n_particles = 20, .n_islands = 400}, [&](SmcOptions options) {
      options.seed = ++seed;
      options.ess_threshold = 0.8;  // so that few particles are resampled often
      const SmcSamples samples = run(problem, options);
      const auto n = static_cast<double>(samples.log_weights.size());
      double mean = 0, squares = 0;
      std::int64_t n_resamplings = 0;
      for (std::size_t i = 0; i < samples.log_weights.size(); ++i) {
        const double ratio = std::exp(maptree::log_sum_exp(samples.log_weights[i]) - exact);
        mean += ratio / n;
        squares += ratio * ratio / n;
        n_resamplings += samples.resamplings[i];
      }
      const double error = std::sqrt((squares - mean * mean) / (n - 1));
      if (!(std::abs(mean - 1) < 3 * error))
        check::report(__FILE__, __LINE__, "evidence off by a factor ", mean, " +- ", error);
      CHECK(error < 0.1);
      if (options.proposal == SmcProposal::prior) CHECK(n_resamplings > 0);
    });
  }
}

TEST(weighted_particles_have_the_posterior) {
  for (const fuzz::Problem& problem : every_tree::tiny_problems()) {
    const double log_evidence = every_tree::log_evidence(problem.model);
    for_every_kind({.n_particles = 60000, .seed = 5}, [&](const SmcOptions& options) {
      const SmcSamples samples = run(problem, options);
      const double total = maptree::log_sum_exp(samples.log_weights[0]);
      CHECK(std::abs(total - log_evidence) < 0.03);
      std::vector<double> weight(samples.forest.size(), 0);
      for (std::size_t i = 0; i < samples.sample[0].size(); ++i)
        weight[static_cast<std::size_t>(samples.sample[0][i])] +=
            std::exp(samples.log_weights[0][i] - total);
      CHECK(every_tree::distance(problem, samples.forest, weight) < 0.02);
    });
  }
}

// Weights too large to count: one test has nearly all of the prior, another all of the likelihood.
TEST(particles_weigh_tests_that_are_far_more_probable) {
  fuzz::Problem problem = every_tree::tiny_problems()[2];
  problem.model.test_weight = {1, 1 << 30, 1000};
  const double log_evidence = every_tree::log_evidence(problem.model);
  for_every_kind({.n_particles = 60000, .seed = 6}, [&](const SmcOptions& options) {
    const SmcSamples samples = run(problem, options);
    const double total = maptree::log_sum_exp(samples.log_weights[0]);
    CHECK(std::abs(total - log_evidence) < 0.03);
  });
}

TEST(particles_cost_what_their_trees_cost) {
  fuzz::Random random(31);
  for (int round = 0; round < 40; ++round) {
    fuzz::Problem problem;
    problem.model = fuzz::random_model(
        random, random.one_of({fuzz::Shape::tall, fuzz::Shape::wide, fuzz::Shape::shallow}));
    problem.model.max_depth = -1;
    problem.model.min_leaf = 1;
    if (round % 2 == 0) fuzz::random_test_weights(random, problem.model);
    for_every_kind({.n_particles = 20, .n_islands = 2, .seed = 1}, [&](const SmcOptions& options) {
      const SmcSamples samples = run(problem, options);
      CHECK(samples.status == SamplingStatus::complete);
      check_costs(problem, samples);
      for (const auto& island : samples.log_weights)
        for (const double w : island) CHECK(std::isfinite(w));
    });
  }
}

TEST(resampling_keeps_to_its_threshold) {
  const fuzz::Problem problem = tic_tac_toe();
  for_every_kind({.n_particles = 100, .seed = 4}, [&](SmcOptions options) {
    options.ess_threshold = 0;
    const SmcSamples never = run(problem, options);
    CHECK_EQUAL(never.resamplings[0], 0);
    options.ess_threshold = 1;
    const SmcSamples samples = run(problem, options);
    CHECK(samples.resamplings[0] > 3);
    check_costs(problem, samples);
  });
}

TEST(islands_depend_on_the_seed_and_not_on_threads) {
  const fuzz::Problem problem = tic_tac_toe();
  SmcOptions options{.n_particles = 50, .n_islands = 5, .seed = 1};
  const SmcSamples one = run(problem, options);
  for (const std::int64_t threads : {1, 2, 3, 8})
    CHECK(same(one, run(problem, options, {.threads = threads})));
  CHECK(one.log_weights[0] != one.log_weights[1]);
  options.n_islands = 2;
  const SmcSamples fewer = run(problem, options);
  for (std::size_t i = 0; i < 2; ++i) CHECK(fewer.log_weights[i] == one.log_weights[i]);
  options.seed = 2;
  CHECK(run(problem, options).log_weights[0] != one.log_weights[0]);
}

TEST(islands_stop_in_time_with_the_trees_they_have_on_threads) {
  const fuzz::Problem problem = tic_tac_toe();
  for (const std::int64_t threads : {1, 2}) {
    for_every_kind({.n_particles = 100000, .n_islands = 300}, [&](const SmcOptions& options) {
      for (const std::int64_t late_from : {0, 200}) {
        const SmcSamples samples =
            run(problem, options, TurnedClock(late_from).limits({.threads = threads}, 100'000));
        CHECK(samples.status == SamplingStatus::time_limit);
        CHECK(samples.clock.n_readings <= late_from + threads);  // one late one each, at most
        CHECK(samples.clock.most_work <= 200'000);
        CHECK_EQUAL(samples.sample[0].size(), 100000u);
        CHECK(samples.sample.back().empty() && samples.log_weights.back().empty());
        CHECK(std::isfinite(maptree::log_sum_exp(samples.log_weights[0])));
        if (late_from == 0) CHECK_EQUAL(samples.forest.size(), 1u);
      }
    });
    int n_calls = 0;
    const SmcSamples samples =
        run(problem, {.n_particles = 1000, .n_islands = 65536},
            {.threads = threads, .poll_seconds = 0.001}, [&](const SamplingProgress& progress) {
              CHECK_EQUAL(progress.total_steps, 0);
              return ++n_calls == 20;
            });
    CHECK(samples.status == SamplingStatus::interrupted);
    CHECK_EQUAL(n_calls, 20);
    CHECK(samples.trace.back()[1] > 0);
    CHECK_EQUAL(samples.trace.back()[2], samples.forest.cost(samples.best).nats());
  }
}

TEST(a_filter_that_is_stopped_has_valid_trees) {
  // Whenever it is stopped: weights and costs are those of the trees as they are.
  const fuzz::Problem problem = tic_tac_toe();
  for (int n_polls = 1; n_polls < 12; ++n_polls) {
    int n_calls = 0;
    const SmcSamples samples =
        run(problem, {.n_particles = 300, .n_islands = 2}, {.poll_seconds = 0},
            [&](const SamplingProgress&) { return ++n_calls == n_polls; });
    check_costs(problem, samples);
    CHECK_EQUAL(samples.sample[0].size(), 300u);
  }
}

TEST(small_and_degenerate_problems_have_particles) {
  fuzz::Random random(22);
  for (const std::size_t n_rows : {1u, 2u, 64u, 65u, 129u}) {
    for (const std::size_t n_columns : {0u, 1u, 5u, 33u}) {
      for (const std::size_t n_classes : {1u, 2u, 300u}) {
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
        for (const auto proposal : {SmcProposal::prior, SmcProposal::optimal})
          check_costs(problem, run(problem, {.n_particles = 10, .proposal = proposal}));
      }
    }
  }
  for (const auto& [alpha, beta] : {std::pair{0.95, 1e6}, std::pair{1 - 1e-16, 0.0}}) {
    fuzz::Problem problem = tic_tac_toe();
    problem.model.alpha = alpha;
    problem.model.beta = beta;
    for_every_kind({.n_particles = 10},
                   [&](const SmcOptions& options) { check_costs(problem, run(problem, options)); });
  }
  // One particle is a tree drawn from the proposal, and an unbiased estimate still.
  const SmcSamples one = run(tic_tac_toe(), {.n_particles = 1, .ess_threshold = 1});
  CHECK_EQUAL(one.sample[0].size(), 1u);
  CHECK_EQUAL(one.resamplings[0], 0);
}

TEST(smc_refuses_a_callers_mistakes) {
  const fuzz::Problem problem = every_tree::tiny_problems()[0];
  CHECK_THROWS(std::invalid_argument, run(problem, {.n_particles = 0}));
  CHECK_THROWS(std::invalid_argument, run(problem, {.n_islands = 0}));
  CHECK_THROWS(std::invalid_argument, run(problem, {.ess_threshold = -0.1}));
  CHECK_THROWS(std::invalid_argument, run(problem, {.ess_threshold = 1.1}));
  CHECK_THROWS(std::invalid_argument, run(problem, {.ess_threshold = std::nan("")}));
}
