// Prover and Store where columns are ordered: the bounds of every node, every split and every span
// hold, and each threshold that could be cheaper is a split or in a span.
#include <set>

#include "check.hpp"
#include "exact_optimum.hpp"
#include "ordered_rows.hpp"
#include "prove/leaf_shares.hpp"
#include "prove/prover.hpp"
#include "turned_clock.hpp"
#include "workbench.hpp"

using fuzz::Random;
using maptree::Cost;
using maptree::NodeId;
using maptree::RowSet;
using maptree::SplitRecord;
using maptree::StoreNode;

namespace {

int n_spans, n_raised, n_retired, n_limited;  // so that the test can tell that it met them

class Nodes {
 public:
  Nodes(const ordered_rows::Bench& bench, maptree::Desk& desk, std::uint32_t limit,
        std::uint32_t leaves)
      : proof(bench.data, bench.posterior, bench.options, limit, maptree::Proof::Pace::evenly,
              leaves),
        bench_(bench),
        store_(desk.store),
        exact_(bench.data, bench.posterior,
               limit == maptree::no_limit ? -1 : static_cast<std::int64_t>(limit),
               bench.options.min_samples_leaf) {}

  void check() {
    seen_.clear();
    visit(bench_.data.all_rows(), 0);
  }
  [[nodiscard]] Cost optimum() { return optimum(bench_.data.all_rows(), 0, proof.leaves); }

  maptree::Proof proof;

 private:
  using Words = std::vector<maptree::Word>;

  void visit(const RowSet& rows, std::size_t depth) {
    if (!seen_.insert({depth, exact::Solver::words_of(rows)}).second) return;
    bool found = false;
    const maptree::StoreKey key{bench_.data.key(rows), static_cast<std::uint32_t>(depth),
                                proof.limit, 0};
    store_.for_each_depth(key, [&](const StoreNode& node) {
      if (node.key.depth != depth) return;
      found = true;
      check(node, rows, depth);
    });
    for (std::size_t test = 0; found && test < bench_.data.n_tests(); ++test)
      for (int side = 0; side < 2; ++side) {
        RowSet part;
        bench_.data.part(rows, test, side, part);
        if (exact_.weight(part) > 0) visit(part, depth + 1);
      }
  }

  [[nodiscard]] Words low_side(const RowSet& rows, std::size_t test) const {
    RowSet part;
    bench_.data.part(rows, test, 1, part);
    return exact::Solver::words_of(part);
  }
  [[nodiscard]] Cost optimum(const RowSet& rows, std::size_t depth, std::uint32_t leaves) {
    return exact_.optimum(rows, depth, 1000, leaves == maptree::any_leaves ? 0 : leaves);
  }
  // Of a test and the best trees on its sides, which share out the leaves; infinite where it may
  // not be a split.
  [[nodiscard]] Cost cost(const RowSet& rows, std::size_t depth, std::size_t test,
                          std::uint32_t share, std::uint32_t leaves) {
    RowSet part[2];
    if (!exact_.may_test(test, depth) || !exact_.sides(rows, test, part)) return Cost::infinity();
    if (exact_.weight(part[0]) == 0 || exact_.weight(part[1]) == 0) return Cost::infinity();
    maptree::Tests split;
    split.share = share & 127;
    Cost sum = exact_.test(test);
    for (int side = 0; side < 2; ++side)
      sum += optimum(part[side], depth + 1, maptree::leaves_of_side(split, side, leaves));
    return sum;
  }

  void check(const StoreNode& node, const RowSet& rows, std::size_t depth) {
    const std::uint32_t leaves = node.key.leaves;
    n_limited += leaves != maptree::any_leaves && node.expanded ? 1 : 0;
    CHECK(node.lower <= optimum(rows, depth, leaves));
    CHECK(node.upper >= optimum(rows, depth, leaves));
    if (!node.expanded || node.solved() || !exact_.may_split(depth)) return;
    CHECK_EQUAL(node.base.units(), exact_.base(rows, depth).units());
    std::set<std::pair<Words, std::uint32_t>> there;  // low sides and shares
    Cost before = Cost(0) - Cost::infinity();
    store_.for_each_split(node, [&](const SplitRecord& split) {
      const Cost total = store_.place(split).total;
      CHECK(total >= before);
      if (split.fresh()) before = total;
      n_retired += total >= Cost::infinity() ? 1 : 0;
      if (total >= Cost::infinity()) return;
      CHECK(exact_.may_test(split.column, depth));
      CHECK_EQUAL(split.share > 0, leaves != maptree::any_leaves);
      for (int side = 0; side < 2; ++side) {
        RowSet part;
        bench_.data.part(rows, split.test_of_side(side), side, part);
        const std::uint32_t few = maptree::leaves_of_side(split, side, leaves);
        CHECK(split.lower[side] <= optimum(part, depth + 1, few));
        if (!split.attached()) continue;
        const StoreNode& child = store_[split.child[side]];
        CHECK(child.key.rows == bench_.data.key(part));
        CHECK_EQUAL(child.key.depth, depth + 1);
        CHECK_EQUAL(child.key.limit, proof.limit);
        CHECK(child.key.leaves == maptree::any_leaves || child.key.leaves == few);
      }
      const Words first = low_side(rows, split.column), last = low_side(rows, split.last());
      if (split.is_span()) ++n_spans;
      if (split.is_span() && split.attached()) ++n_raised;
      for (std::uint32_t test = split.column; test <= split.last(); ++test) {
        CHECK(total <= cost(rows, depth, test, split.share, leaves));
        const Words low = low_side(rows, test);
        if (split.is_span() &&
            ((low == first && split.first_open == 0) || (low == last && split.last_open == 0)))
          continue;
        there.insert({low, split.share});
      }
    });
    // What is not there costs no less than what is said of it, or than another share that is there.
    const std::uint32_t first = leaves == maptree::any_leaves ? 0 : 1;
    const std::uint32_t last = leaves == maptree::any_leaves ? 0 : leaves - 1;
    for (std::size_t test = 0; test < bench_.data.n_tests(); ++test) {
      const Words low = low_side(rows, test);
      Cost least = std::min(node.upper - node.base, node.rest);
      for (std::uint32_t share = first; share <= last; ++share)
        if (there.contains({low, share}))
          least = std::min(least, cost(rows, depth, test, share, leaves));
      for (std::uint32_t share = first; share <= last; ++share)
        CHECK(there.contains({low, share}) || cost(rows, depth, test, share, leaves) >= least);
    }
  }

  const ordered_rows::Bench& bench_;
  maptree::Store& store_;
  exact::Solver exact_;
  std::set<std::pair<std::size_t, Words>> seen_;
};

// Blocks of labels that fit no leaf of the least size alone: a smaller part may cost more than a
// larger one.
void label_in_blocks(Random& random, ordered_rows::Table& table) {
  const std::uint32_t width = random.between(1u, 4u);
  for (std::size_t r = 0; r < table.labels.size(); ++r)
    if (!random.chance(0.1)) table.labels[r] = static_cast<int>(table.ranks[0][r] / width % 2);
}

ordered_rows::Bench random_bench(Random& random) {
  ordered_rows::Shape shape;
  shape.n_rows = random.between<std::size_t>(20, 60);
  shape.n_ordered = random.between<std::size_t>(1, 2);
  shape.n_binary = random.one_of<std::size_t>({0, 0, 1});
  shape.most_ranks = shape.n_ordered == 1 ? 25 : 6;
  shape.weighted_rows = random.chance(0.3);
  shape.weighted_tests = random.chance(0.4);
  shape.restricted = random.chance(0.25);
  ordered_rows::Table table = ordered_rows::random_table(random, shape);
  if (random.chance(0.6)) label_in_blocks(random, table);
  maptree::Options options;
  if (random.chance(0.5)) options.min_samples_leaf = random.between(2, 6);
  options.spans = !random.chance(0.15);
  options.depth_transfer = !random.chance(0.2);
  maptree::Prior prior{0.95, 0.5, std::vector<double>(2, random.one_of({2.5, 0.1, 0.1}))};
  if (random.chance(0.2)) prior.alpha = 0.999999;
  return {table, prior, options};
}

std::uint32_t random_limit(Random& random) {
  return random.one_of<std::uint32_t>({maptree::no_limit, 5, 4, 3, 2});
}
std::uint32_t random_leaves(Random& random) {
  return random.chance(0.6) ? maptree::any_leaves : random.between(2u, 6u);
}

}  // namespace

namespace {

// Proofs step by step, and after some of the steps all nodes; how many proofs came to an end.
int check_proofs(Random& random, int n_proofs, bool of_few_leaves, std::int64_t& collections) {
  n_spans = n_raised = n_retired = n_limited = 0;
  int solved = 0;
  for (int round = 0; round < n_proofs; ++round) {
    const ordered_rows::Bench bench = random_bench(random);
    maptree::Expander expander(bench.data, bench.posterior, bench.bounds, bench.options);
    maptree::Desk desk(bench.posterior.test_costs());
    desk.store.set_limit(random.one_of<std::size_t>({2500, 4000, 8000, SIZE_MAX}));
    desk.max_expansions = 2000;
    maptree::Prover prover(bench.data, bench.posterior, expander, desk);
    Nodes nodes(bench, desk, random_limit(random),
                of_few_leaves ? random.between(3u, 6u) : random_leaves(random));
    auto lock = std::unique_lock(desk.mutex);
    const std::int64_t work = random.one_of({1L, 1L, 1000L, 100'000L});
    for (int step = 0; step < 60; ++step) {
      prover.advance(lock, nodes.proof, Cost::infinity(), work, workbench::never);
      if (nodes.proof.root == NodeId::none || desk.out_of_memory || desk.out_of_expansions) break;
      maptree::Tree tree;
      prover.read_tree(nodes.proof, tree);
      const Cost cost = maptree::score(tree, bench.data, bench.posterior).subtree[0];
      CHECK(cost <= desk.store[nodes.proof.root].upper && cost >= nodes.optimum());
      CHECK((tree.feature.size() + 1) / 2 <= nodes.proof.leaves ||
            nodes.proof.leaves == maptree::any_leaves);
      if (step < (of_few_leaves ? 12 : 3) || step % 20 == 0) nodes.check();
      if (desk.store[nodes.proof.root].solved()) break;
    }
    if (nodes.proof.root == NodeId::none) continue;
    nodes.check();
    const StoreNode& root = desk.store[nodes.proof.root];
    if (root.solved()) {
      CHECK_EQUAL(root.lower.units(), nodes.optimum().units());
      maptree::Tree tree;
      prover.read_tree(nodes.proof, tree);
      CHECK_EQUAL(maptree::score(tree, bench.data, bench.posterior).subtree[0].units(),
                  nodes.optimum().units());
      ++solved;
    }
    collections += desk.collections;
  }
  return solved;
}

}  // namespace

TEST(every_span_of_the_store_bounds_its_thresholds) {
  Random random(75);
  std::int64_t collections = 0;
  const int solved = check_proofs(random, 240, false, collections);
  CHECK(n_spans > 500);
  CHECK(n_raised > 100);
  CHECK(n_retired > 100);
  CHECK(solved > 50);
  CHECK(collections > 50);
}

TEST(every_span_of_every_share_bounds_its_thresholds) {
  Random random(77);
  std::int64_t collections = 0;
  CHECK(check_proofs(random, 160, true, collections) > 80);
  CHECK(n_spans > 1000);
  CHECK(n_retired > 300);
  CHECK(n_limited > 600);
}

// Whenever one lets go of the lock the other goes on: spans are parted that the first stands on.
TEST(two_provers_over_spans_find_the_optimum) {
  Random random(76);
  int n_turns = 0;
  for (int round = 0; round < 120; ++round) {
    const ordered_rows::Bench bench = random_bench(random);
    maptree::Expander expander(bench.data, bench.posterior, bench.bounds, bench.options);
    maptree::Expander others(bench.data, bench.posterior, bench.bounds, bench.options);
    maptree::Desk desk(bench.posterior.test_costs());
    maptree::Prover prover(bench.data, bench.posterior, expander, desk);
    maptree::Prover other(bench.data, bench.posterior, others, desk);
    Nodes nodes(bench, desk, random_limit(random), random_leaves(random));
    maptree::Limits limits = TurnedClock().limits();
    limits.poll_seconds = 0;
    maptree::Control control(limits);
    auto lock = std::unique_lock(desk.mutex);
    control.set_poll([&](double) {
      if (lock.owns_lock() || nodes.proof.root == NodeId::none || !random.chance(0.3)) return false;
      auto turn = std::unique_lock(desk.mutex);
      if (desk.store[nodes.proof.root].solved()) return false;
      other.advance(turn, nodes.proof, Cost::infinity(), random.one_of({1L, 1000L}),
                    workbench::never);
      ++n_turns;
      return false;
    });
    maptree::Watch watch(control);
    for (int step = 0; step < 100'000; ++step) {
      prover.advance(lock, nodes.proof, Cost::infinity(), 1, watch);
      if (desk.store[nodes.proof.root].solved()) break;
      if (step == 3) nodes.check();
    }
    nodes.check();
    const StoreNode& root = desk.store[nodes.proof.root];
    CHECK(root.solved());
    CHECK_EQUAL(root.lower.units(), nodes.optimum().units());
  }
  CHECK(n_turns > 1000);
}
