// Prover and Store: whatever was raised, dropped and found again, the bounds of every node in the
// store enclose its optimum, in units, and no split that could be cheaper is forgotten.
#include <set>

#include "check.hpp"
#include "exact_optimum.hpp"
#include "prove/leaf_shares.hpp"
#include "prove/prover.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Cost;
using maptree::NodeId;
using maptree::RowSet;
using maptree::StoreNode;

namespace {

// One proof, and all that splits can make of the rows.
class Nodes {
 public:
  Nodes(const workbench::Bench& bench, maptree::Desk& desk, std::uint32_t limit,
        maptree::Proof::Pace pace, std::uint32_t leaves = maptree::any_leaves)
      : proof(bench.data, bench.posterior, bench.options, limit, pace, leaves),
        bench_(bench),
        store_(desk.store),
        exact_(bench.data, bench.posterior,
               limit == maptree::no_limit ? -1 : static_cast<std::int64_t>(limit),
               bench.options.min_samples_leaf) {}

  // The number of nodes that are in the store.
  int check() {
    seen_.clear();
    n_found_ = 0;
    visit(bench_.data.all_rows(), 0);
    return n_found_;
  }
  [[nodiscard]] Cost optimum() { return optimum(bench_.data.all_rows(), 0, proof.leaves); }

  [[nodiscard]] int n_limited() const { return n_limited_; }

  maptree::Proof proof;

 private:
  void visit(const RowSet& rows, std::size_t depth) {
    if (!seen_.insert({depth, exact::Solver::words_of(rows)}).second) return;
    const maptree::StoreKey key{bench_.data.key(rows), static_cast<std::uint32_t>(depth),
                                proof.limit, 0};
    store_.for_each_depth(key, [&](const StoreNode& node) {
      if (node.key.depth == depth) check(node, rows, depth);
    });
    for (std::size_t c = 0; c < bench_.data.n_columns(); ++c) {
      RowSet part[2];
      if (!exact_.sides(rows, c, part)) continue;
      for (int side = 0; side < 2; ++side) visit(part[side], depth + 1);
    }
  }

  [[nodiscard]] Cost optimum(const RowSet& rows, std::size_t depth, std::uint32_t leaves) {
    return exact_.optimum(rows, depth, 1000, leaves == maptree::any_leaves ? 0 : leaves);
  }
  [[nodiscard]] Cost side_optimum(const RowSet& part, std::size_t depth, int side,
                                  std::uint32_t share, std::uint32_t leaves) {
    maptree::Tests split;
    split.share = share & 127;
    return optimum(part, depth, maptree::leaves_of_side(split, side, leaves));
  }

  void check(const StoreNode& node, const RowSet& rows, std::size_t depth) {
    ++n_found_;
    const std::uint32_t leaves = node.key.leaves;
    n_limited_ += leaves != maptree::any_leaves ? 1 : 0;
    CHECK(node.lower <= optimum(rows, depth, leaves));
    CHECK(node.upper >= optimum(rows, depth, leaves));
    CHECK_EQUAL(node.weight, static_cast<std::uint32_t>(exact_.weight(rows)));
    CHECK(!node.marked && !node.busy);
    if (!node.expanded || !exact_.may_split(depth)) return;
    CHECK_EQUAL(node.base.units(), exact_.base(rows, depth).units());
    std::set<std::pair<std::uint32_t, std::uint32_t>> there;  // columns and shares
    Cost before = Cost(0) - Cost::infinity();
    store_.for_each_split(node, [&](const maptree::SplitRecord& split) {
      RowSet part[2];
      CHECK(exact_.may_test(split.column, depth) && exact_.sides(rows, split.column, part));
      CHECK(there.insert({split.column, split.share}).second);
      CHECK_EQUAL(split.share > 0, leaves != maptree::any_leaves);
      for (int side = 0; side < 2; ++side)
        CHECK(split.lower[side] <= side_optimum(part[side], depth + 1, side, split.share, leaves));
      CHECK(store_.place(split).total >= before);
      if (split.fresh()) before = store_.place(split).total;
      if (!split.attached()) return;
      for (int side = 0; side < 2; ++side) {
        const StoreNode& child = store_[split.child[side]];
        CHECK(child.key.rows == bench_.data.key(part[side]));
        CHECK_EQUAL(child.key.depth, depth + 1);
        CHECK_EQUAL(child.key.limit, proof.limit);
        CHECK(child.key.leaves == maptree::any_leaves ||
              child.key.leaves == maptree::leaves_of_side(split, side, leaves));
      }
    });
    // What is known below the best split, in place of a child, is a split that is allowed there.
    if (node.best != maptree::no_column) {
      RowSet part[2], below[2];
      CHECK(exact_.may_test(node.best, depth) && exact_.sides(rows, node.best, part));
      for (int side = 0; side < 2; ++side)
        if (node.below[side] != maptree::no_column)
          CHECK(exact_.may_split(depth + 1) && exact_.may_test(node.below[side], depth + 1) &&
                exact_.sides(part[side], node.below[side], below) && below[0].n_stored() > 0 &&
                below[1].n_stored() > 0);
    }
    // A split that is not there costs no less than what is said of those, or than one that is.
    const std::uint32_t first = leaves == maptree::any_leaves ? 0 : 1;
    const std::uint32_t last = leaves == maptree::any_leaves ? 0 : leaves - 1;
    for (std::size_t c = 0; c < bench_.data.n_columns(); ++c) {
      RowSet part[2];
      if (!exact_.may_test(c, depth) || !exact_.sides(rows, c, part)) continue;
      const auto cost = [&](std::uint32_t share) {
        return exact_.test(c) + side_optimum(part[0], depth + 1, 0, share, leaves) +
               side_optimum(part[1], depth + 1, 1, share, leaves);
      };
      Cost least = Cost::infinity();  // of those that are there, with this column or one like it
      for (const auto& [other, share] : there) {
        RowSet like;
        like.assign_side(rows, bench_.data.column(other), 0);
        if (exact::Solver::words_of(like) == exact::Solver::words_of(part[0]))
          least = std::min(least, cost(share));
        if (exact::Solver::words_of(like) == exact::Solver::words_of(part[1]))
          least = std::min(least, cost(first == 0 ? 0 : leaves - share));
      }
      for (std::uint32_t share = first; share <= last; ++share)
        CHECK(cost(share) >= std::min({node.upper - node.base, node.rest, least}));
    }
  }

  const workbench::Bench& bench_;
  maptree::Store& store_;
  exact::Solver exact_;
  std::set<std::pair<std::size_t, std::vector<maptree::Word>>> seen_;
  int n_found_ = 0, n_limited_ = 0;
};

}  // namespace

TEST(every_node_of_the_store_encloses_its_optimum) {
  Random random(74);
  int found = 0, solved = 0, limited = 0;
  std::int64_t collections = 0;
  for (int round = 0; round < 120; ++round) {
    // Noise makes proofs of many turns; random models, rows that repeat and weigh differently.
    Problem problem = workbench::noisy(random, random.between<std::size_t>(20, 60), 6, 0.7, 2,
                                       [](const auto& row) { return row[0] ^ row[1]; });
    if (round % 3 == 0) problem.model = fuzz::random_model(random, fuzz::Shape::tall);
    while (problem.model.n_columns() > 6)
      for (auto& row : problem.model.x) row.pop_back();
    problem.model.max_depth = -1;
    if (round % 2 == 0) fuzz::random_test_weights(random, problem.model);
    if (random.chance(0.3)) problem.model.min_leaf = random.between(1L, 4L);
    if (round % 5 == 1) fuzz::random_uses(random, problem);
    const double off = random.one_of({0.0, 0.3});
    for (const auto member :
         {&maptree::Options::fold_rows, &maptree::Options::fold_columns,
          &maptree::Options::pair_expansion, &maptree::Options::distinct_rows_bound,
          &maptree::Options::structure_bound, &maptree::Options::equivalent_rows_bound,
          &maptree::Options::depth_transfer})
      problem.options.*member = !random.chance(off);
    workbench::Bench bench(problem);
    maptree::Desk desk(bench.posterior.test_costs());
    desk.store.set_limit(random.one_of<std::size_t>({4000, 6000, 10'000, SIZE_MAX}));
    desk.max_expansions = 3000;
    maptree::Prover prover(bench.data, bench.posterior, bench.expander, desk);
    Nodes whole(bench, desk, maptree::no_limit, maptree::Proof::Pace::evenly);
    Nodes shallow(bench, desk, random.between<std::uint32_t>(2, 4),
                  maptree::Proof::Pace::by_splits);
    Nodes small(bench, desk, maptree::no_limit, maptree::Proof::Pace::evenly, 1 + round % 7);
    Nodes both(bench, desk, random.between<std::uint32_t>(2, 4), maptree::Proof::Pace::by_splits,
               3 + round % 4);
    auto lock = std::unique_lock(desk.mutex);
    const bool to_optimum = random.chance(0.5);
    const std::int64_t work = random.one_of({1L, 1000L, 100'000L});
    for (int step = 0; step < 40; ++step) {
      for (Nodes* nodes : {&whole, &shallow, &small, &both}) {
        const Cost goal = to_optimum ? nodes->optimum() : Cost::infinity();
        prover.advance(lock, nodes->proof, goal, work, workbench::never);
        if (nodes->proof.root == NodeId::none) continue;
        maptree::Tree tree;
        prover.read_tree(nodes->proof, tree);
        CHECK(bench.cost(tree) <= desk.store[nodes->proof.root].upper);
        CHECK(bench.cost(tree) >= nodes->optimum());
        CHECK((tree.feature.size() + 1) / 2 <= nodes->proof.leaves ||
              nodes->proof.leaves == maptree::any_leaves);
      }
      if (step % 8 < 2) found += whole.check() + shallow.check() + both.check();
      if (desk.out_of_memory || desk.out_of_expansions) break;
    }
    found += whole.check() + shallow.check() + both.check();
    for (Nodes* nodes : {&whole, &shallow, &small, &both}) {
      if (nodes->proof.root == NodeId::none) continue;
      const StoreNode& root = desk.store[nodes->proof.root];
      if (!root.solved()) continue;
      CHECK_EQUAL(root.lower.units(), nodes->optimum().units());
      ++solved;
    }
    collections += desk.collections;
    limited += whole.n_limited() + both.n_limited();
  }
  CHECK(limited > 2000);
  CHECK(found > 5000);
  CHECK(solved > 100);
  CHECK(collections > 50);
}
