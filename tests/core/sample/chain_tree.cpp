// ChainTree: detailed balance of every move on every state of tiny problems, what a step accepts,
// and costs kept step by step.
#include "sample/chain_tree.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "check.hpp"
#include "every_tree.hpp"
#include "sample/random.hpp"
#include "transitions.hpp"

using every_tree::dataset_of;
using every_tree::Features;
using every_tree::tree_of;
using maptree::ChainTree;
using maptree::Cost;
using maptree::Move;
using maptree::Random;
using maptree::Transition;
using maptree::Tree;
using maptree::Watch;

namespace {

constexpr Move moves[] = {Move::grow, Move::prune, Move::change, Move::swap};

Features features_of(const Tree& tree) { return {tree.feature.begin(), tree.feature.end()}; }

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
