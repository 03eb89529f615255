// MCMC: detailed balance of every move on every state of tiny problems, costs kept step by step,
// the posterior of long chains, and what stops them.
#include "sample/mcmc.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "check.hpp"
#include "every_tree.hpp"
#include "sample/random.hpp"
#include "transitions.hpp"
#include "turned_clock.hpp"

using every_tree::dataset_of;
using every_tree::Features;
using maptree::ChainTree;
using maptree::Cost;
using maptree::Limits;
using maptree::McmcOptions;
using maptree::McmcSamples;
using maptree::Move;
using maptree::Random;
using maptree::SamplingProgress;
using maptree::SamplingStatus;
using maptree::Transition;
using maptree::Tree;
using maptree::Watch;

namespace {

constexpr Move moves[] = {Move::grow, Move::prune, Move::change, Move::swap};

Features features_of(const Tree& tree) { return {tree.feature.begin(), tree.feature.end()}; }

// With children, which follow from the preorder.
Tree tree_of(const Features& feature) {
  maptree::Forest forest;
  forest.add(std::vector<std::int32_t>(feature.begin(), feature.end()), {}, Cost());
  return forest.tree(0);
}

// Probability of going from one state to another by one move.
using Row = std::map<Features, double>;

Row transition_row(const maptree::Dataset& data, const maptree::Prior& prior, const Features& from,
                   Move move) {
  Row row;
  double total = 0;
  for (const Transition& way : maptree::mcmc_transitions(data, prior, tree_of(from), move)) {
    CHECK(way.proposal_probability > 0 && way.proposal_probability <= 1);
    CHECK(way.acceptance_probability >= 0 && way.acceptance_probability <= 1);
    total += way.proposal_probability;
    row[features_of(way.tree)] += way.proposal_probability * way.acceptance_probability;
  }
  CHECK(std::abs(total - 1) < 1e-12);
  return row;
}

double probability(const Row& row, const Features& to) {
  const auto found = row.find(to);
  return found == row.end() ? 0 : found->second;
}

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

// Draws as a chain does, but decides as it is told.
struct Decided {
  Random random;
  double threshold = 0;
  std::size_t below(std::size_t n) { return random.below(n); }
  double exponential() const { return threshold; }
};

}  // namespace

TEST(every_move_keeps_detailed_balance) {
  std::size_t n_ways[4] = {};
  std::vector<fuzz::Problem> problems = every_tree::tiny_problems();
  for (const fuzz::Problem& problem : every_tree::random_problems(60, 300))
    problems.push_back(problem);
  for (const fuzz::Problem& problem : problems) {
    const maptree::Dataset data = dataset_of(problem);
    const maptree::Prior prior = fuzz::make_prior(problem);
    const std::vector<every_tree::Entry> states = every_tree::enumerate(problem.model);
    const double log_evidence = every_tree::log_evidence(problem.model);
    std::map<Features, double> log_posterior;
    double total = 0;
    for (const auto& state : states) {
      log_posterior[state.feature] = -state.cost - log_evidence;
      total += std::exp(-state.cost - log_evidence);
    }
    CHECK(std::abs(total - 1) < 1e-9);
    CHECK_EQUAL(log_posterior.size(), states.size());

    std::map<Features, Row> row[4];
    for (const auto& state : states) {
      for (const Move move : moves) {
        Row& to = row[static_cast<int>(move)][state.feature] =
            transition_row(data, prior, state.feature, move);
        for (const auto& entry : to) CHECK(log_posterior.contains(entry.first));
      }
    }
    const auto balanced = [&](Move forth, Move back) {
      for (const auto& [from, way] : row[static_cast<int>(forth)]) {
        for (const auto& [to, p] : way) {
          if (to == from) continue;
          ++n_ways[static_cast<int>(forth)];
          const double returning = probability(row[static_cast<int>(back)][to], from);
          const double there = log_posterior[from] + std::log(p);
          const double back_again = log_posterior[to] + std::log(returning);
          CHECK(std::abs(std::exp(there) - std::exp(back_again)) < 1e-9);
          // That says little of improbable trees; but what is below 1e-300 is 0.
          if (std::min(p, returning) > 1e-290) CHECK(std::abs(there - back_again) < 1e-6);
        }
      }
    };
    balanced(Move::grow, Move::prune);
    balanced(Move::prune, Move::grow);
    balanced(Move::change, Move::change);
    balanced(Move::swap, Move::swap);

    // Grow and prune alone reach every tree, so this is the only stationary distribution.
    for (const auto& state : states) {
      if (state.feature.size() == 1) continue;
      std::size_t n_down = 0;
      for (const auto& way : row[static_cast<int>(Move::prune)][state.feature])
        n_down += way.first.size() < state.feature.size() ? 1 : 0;
      CHECK(n_down > 0);
    }
  }
  for (const std::size_t n : n_ways) CHECK(n > 1000);
}

TEST(swap_gives_both_children_the_rule_where_they_share_one) {
  // Column 0 at the root, column 1 below it on both sides: one swap, from either child.
  fuzz::Problem problem;
  problem.model.x = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  problem.model.y = {0, 1, 1, 0};
  problem.model.weight = {1, 1, 1, 1};
  const Features from = {0, 1, -1, -1, 1, -1, -1}, to = {1, 0, -1, -1, 0, -1, -1};
  const auto ways = maptree::mcmc_transitions(dataset_of(problem), fuzz::make_prior(problem),
                                              tree_of(from), Move::swap);
  CHECK_EQUAL(ways.size(), 2u);
  for (const Transition& way : ways) CHECK(features_of(way.tree) == to);
}

TEST(impossible_and_invalid_moves_stay_where_they_are) {
  fuzz::Problem problem = every_tree::tiny_problems()[0];
  const maptree::Dataset data = dataset_of(problem);
  for (const Move move : {Move::prune, Move::change, Move::swap}) {
    const auto ways =
        maptree::mcmc_transitions(data, fuzz::make_prior(problem), tree_of({-1}), move);
    CHECK_EQUAL(ways.size(), 1u);
    CHECK_EQUAL(ways[0].acceptance_probability, 0.0);
    CHECK(features_of(ways[0].tree) == Features{-1});
  }
  // Nothing to split: every row the same.
  for (auto& row : problem.model.x) row = problem.model.x[0];
  for (const Move move : moves) {
    const auto ways = maptree::mcmc_transitions(dataset_of(problem), fuzz::make_prior(problem),
                                                tree_of({-1}), move);
    CHECK_EQUAL(ways.size(), 1u);
    CHECK_EQUAL(ways[0].acceptance_probability, 0.0);
  }
}

TEST(a_step_accepts_up_to_its_threshold) {
  // The step gives up early where it can; that must not change what is accepted.
  fuzz::Random random(7);
  Watch never;
  int n_accepted = 0, n_refused = 0;
  for (int round = 0; round < 60; ++round) {
    fuzz::Problem problem;
    problem.model =
        fuzz::random_model(random, random.one_of({fuzz::Shape::tall, fuzz::Shape::wide}));
    if (round % 2 == 0) fuzz::random_test_weights(random, problem.model);
    const maptree::Dataset data = dataset_of(problem);
    const maptree::Posterior posterior(fuzz::make_prior(problem), data);
    ChainTree tree(data, posterior);
    Random choices(static_cast<std::uint64_t>(round), 0);
    for (int i = 0; i < 100; ++i) {
      const Move move = moves[choices.below(4)];
      Decided draws{choices};
      ChainTree tried = tree;
      const maptree::Proposal proposal = maptree::propose(move, tried, draws, never);
      ChainTree::Edit edit;
      const bool valid = proposal.at != ChainTree::Id::none &&
                         maptree::build(proposal, move, tried, edit, Cost::infinity(), never);
      if (valid) {
        const double needed = (edit.cost - tried.cost()).nats() - proposal.log_ratio;
        for (const double margin : {-1e-6, 1e-6}) {
          ChainTree other = tree;
          Decided again{choices, needed + margin};
          const bool accepted = maptree::step(move, other, again, never);
          const bool stays = move == Move::change && proposal.column == tree.column(proposal.at);
          CHECK_EQUAL(accepted, stays || margin > 0);
          CHECK(other.cost() == (accepted ? edit.cost : tree.cost()));
          CHECK(other.is_ok());
          (accepted ? n_accepted : n_refused) += 1;
        }
      }
      maptree::step(move, tree, choices, never);
    }
  }
  CHECK(n_accepted > 1000 && n_refused > 1000);
}

TEST(costs_are_exact_after_every_step) {
  fuzz::Random random(11);
  Watch never;
  for (int round = 0; round < 150; ++round) {
    fuzz::Problem problem;
    problem.model = fuzz::random_model(
        random, random.one_of({fuzz::Shape::tall, fuzz::Shape::wide, fuzz::Shape::shallow}));
    problem.model.max_depth = -1;
    problem.model.min_leaf = 1;
    if (round % 2 == 0) fuzz::random_test_weights(random, problem.model);
    const maptree::Dataset data = dataset_of(problem);
    const maptree::Posterior posterior(fuzz::make_prior(problem), data);
    const brute_force::Solver solver(problem.model);
    ChainTree tree(data, posterior);
    Random choices(5, static_cast<std::uint64_t>(round));
    maptree::Forest forest;
    std::vector<std::int32_t> feature;
    std::vector<std::int64_t> counts;
    for (int i = 0; i < 200; ++i) {
      maptree::step(moves[choices.below(4)], tree, choices, never);
      CHECK(tree.is_ok());
      tree.write(feature, counts);
      const auto t = static_cast<std::size_t>(forest.add(feature, counts, tree.cost()));
      const Tree flat = forest.tree(t);
      CHECK(maptree::score(flat, data, posterior).subtree[0] == tree.cost());
      const double expected = solver.cost(flat);  // throws where the tree is not valid
      CHECK(std::abs(tree.cost().nats() - expected) < 1e-6 * (1 + expected));
    }
  }
}

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
