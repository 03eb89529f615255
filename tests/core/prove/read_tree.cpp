// Prover: the tree that is read off costs no more than the bound says, and is one that is allowed.
#include <algorithm>
#include <vector>

#include "check.hpp"
#include "problem.hpp"
#include "prove/prover.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Cost;
using maptree::NodeId;
using maptree::Tree;
using workbench::Bench;
using workbench::never;
using workbench::noisy;

namespace {

// Whether all leaves, where there are splits, have as many rows as they must.
bool is_allowed(const Problem& problem, const Tree& tree) {
  std::vector<long> n_rows(tree.feature.size(), 0);
  for (std::size_t r = 0; r < problem.model.x.size(); ++r) {
    std::size_t at = 0;
    for (++n_rows[0]; tree.feature[at] >= 0; ++n_rows[at]) {
      const int value = problem.model.x[r][static_cast<std::size_t>(tree.feature[at])];
      at = static_cast<std::size_t>((value == 0 ? tree.left : tree.right)[at]);
    }
  }
  return tree.feature.size() == 1 ||
         *std::ranges::min_element(n_rows) >= std::max(1L, problem.model.min_leaf);
}

}  // namespace

TEST(trees_are_read_off_after_every_expansion) {
  Random random(77);
  int n_read = 0;
  for (int round = 0; round < 400; ++round) {
    Problem problem = noisy(static_cast<std::uint64_t>(round), random.between<std::size_t>(20, 80),
                            random.between<std::size_t>(5, 9), random.one_of({0.1, 0.3, 0.6}));
    // What depends on the depth weighs much, so that a wrong one leads to a worse tree.
    problem.model.beta = random.one_of({0.5, 2.0, 5.0});
    problem.model.alpha = random.one_of({0.5, 0.95, 0.999});
    problem.model.rho = random.one_of<std::vector<double>>({{0.2, 0.2}, {2.5, 2.5}});
    if (random.chance(0.4)) problem.model.min_leaf = random.between(2L, 8L);
    if (round % 3 == 0) fuzz::random_test_weights(random, problem.model);
    Bench bench(problem);
    maptree::Desk desk(bench.posterior.test_costs());
    if (random.chance(0.5)) desk.store.set_limit(random.between<std::size_t>(5'000, 20'000));
    maptree::Prover prover(bench.data, bench.posterior, bench.expander, desk);
    maptree::Proof proof(bench.data, bench.posterior, bench.options, maptree::no_limit);
    auto lock = std::unique_lock(desk.mutex);
    for (desk.max_expansions = 1; desk.max_expansions < 60; ++desk.max_expansions) {
      desk.out_of_expansions = false;
      prover.advance(lock, proof, Cost::infinity(), INT64_MAX / 2, never);
      if (proof.root == NodeId::none || desk.out_of_memory) break;
      Tree tree;
      prover.read_tree(proof, tree);
      CHECK(bench.cost(tree) <= desk.store[proof.root].upper);
      CHECK(is_allowed(problem, tree));
      ++n_read;
      if (desk.store[proof.root].solved()) break;
    }
  }
  CHECK(n_read > 1000);
}

// An expansion finds two leaves on both sides, and the proof that one side is better off with three
// and the other with one: what was known below the first is of no use then.
TEST(trees_of_few_leaves_are_read_off_after_every_expansion) {
  Random random(79);
  int n_lopsided = 0;
  for (int round = 0; round < 200; ++round) {
    const int low = random.below(2);
    Problem problem = workbench::noisy(
        random, random.between<std::size_t>(60, 120), 6, 0.1, 2, [&](const auto& row) {
          return row[0] == low ? row[1] & row[4] & row[5] : row[2] & row[3];
        });
    problem.model.rho = {0.5, 0.5};
    if (round % 3 == 0) fuzz::random_test_weights(random, problem.model);
    Bench bench(problem);
    const std::uint32_t leaves = random.between(3u, 6u);
    maptree::Desk desk(bench.posterior.test_costs());
    maptree::Prover prover(bench.data, bench.posterior, bench.expander, desk);
    maptree::Proof proof(bench.data, bench.posterior, bench.options, maptree::no_limit,
                         maptree::Proof::Pace::evenly, leaves);
    auto lock = std::unique_lock(desk.mutex);
    for (desk.max_expansions = 1; desk.max_expansions < 80; ++desk.max_expansions) {
      desk.out_of_expansions = false;
      prover.advance(lock, proof, Cost::infinity(), INT64_MAX / 2, never);
      Tree tree;
      prover.read_tree(proof, tree);
      CHECK(bench.cost(tree) <= desk.store[proof.root].upper);
      CHECK((tree.feature.size() + 1) / 2 <= leaves);
      const maptree::StoreNode& root = desk.store[proof.root];
      n_lopsided += root.best != maptree::no_column && root.best_share == 1 ? 1 : 0;
      if (root.solved()) break;
    }
  }
  CHECK(n_lopsided > 100);
}

// Where a split of two leaves is known below a node and a leaf is given a cost that differs from it
// by a unit, the cheaper one is read off: at the root, and below it.
TEST(the_cheaper_of_two_trees_is_read_off_to_the_unit) {
  Random random(78);
  int n_met[2] = {0, 0};
  for (int round = 0; round < 1200; ++round) {
    Problem problem = noisy(static_cast<std::uint64_t>(round), 150, 8, 0.3);
    if (round % 3 == 0) fuzz::random_test_weights(random, problem.model);
    Bench bench(problem);
    maptree::Desk desk(bench.posterior.test_costs());
    maptree::Store& store = desk.store;
    maptree::Prover prover(bench.data, bench.posterior, bench.expander, desk);
    maptree::Proof proof(bench.data, bench.posterior, bench.options, maptree::no_limit);
    auto lock = std::unique_lock(desk.mutex);
    desk.max_expansions = random.between(1L, 30L);
    prover.advance(lock, proof, Cost::infinity(), INT64_MAX / 2, never);
    const auto best_of = [&](const maptree::StoreNode& node) {
      maptree::SplitRecord best;
      store.for_each_split(node, [&](const maptree::SplitRecord& split) {
        if (split.column == node.best) best = split;
      });
      return best;
    };
    const auto try_at = [&](const maptree::StoreNode& node, int depth, const auto& place) {
      const maptree::SplitRecord best = best_of(node);
      for (int side = 0; side < 2; ++side) {
        if (!best.attached() || node.below[side] == maptree::no_column ||
            node.below[1 - side] != maptree::no_column || store[best.child[1 - side]].expanded)
          continue;
        const Cost below = node.upper - node.base - store.test_costs()[best.column] -
                           store[best.child[1 - side]].upper;
        maptree::StoreNode& child = store[best.child[side]];
        if (child.best != maptree::no_column || child.upper <= below) continue;
        Tree tree;
        prover.read_tree(proof, tree);
        if (tree.feature[static_cast<std::size_t>(place(tree))] !=
            static_cast<std::int32_t>(bench.data.original(node.best)))
          return;  // the node is not in the tree
        for (const std::int64_t more : {-1, 1}) {
          child.upper = below + Cost(more);
          tree = {};
          prover.read_tree(proof, tree);
          const auto at = static_cast<std::size_t>(place(tree));
          const auto next = (side == 0 ? tree.left : tree.right)[at];
          CHECK_EQUAL(tree.feature[static_cast<std::size_t>(next)] < 0, more < 0);
        }
        ++n_met[depth];
        return;
      }
    };
    const maptree::StoreNode& root = store[proof.root];
    const maptree::SplitRecord best = best_of(root);
    for (int side = 0; side < 2; ++side)
      if (best.attached())
        try_at(store[best.child[side]], 1,
               [&](const Tree& tree) { return (side == 0 ? tree.left : tree.right)[0]; });
    try_at(root, 0, [](const Tree&) { return 0; });
  }
  CHECK(n_met[0] > 10 && n_met[1] > 1);
}
