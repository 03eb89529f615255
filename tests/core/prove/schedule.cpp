// Desk and Schedule: room that is made or refused, what is claimed after every piece of work, and
// that nothing is claimed of a store that is out of order.
#include "prove/schedule.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "check.hpp"
#include "exact_optimum.hpp"
#include "ordered_rows.hpp"
#include "prove/team.hpp"
#include "store_nodes.hpp"
#include "turned_clock.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Cost;
using maptree::Desk;
using maptree::NodeId;
using maptree::Schedule;
using maptree::StoreNode;
using maptree::Tree;
using store_test::key_of;
using workbench::Bench;
using workbench::never;

namespace {

Problem noisy(Random& random, std::size_t n_rows) {
  Problem problem = workbench::noisy(random, n_rows, 8, 0.2, 2, [](const auto& row) {
    return row[0] == 1 ? row[1] ^ row[4] : row[2] ^ row[3];
  });
  problem.model.rho = {0.5, 0.5};
  if (random.chance(0.3)) problem.model.min_leaf = random.between(1L, 4L);
  if (random.chance(0.4)) problem.model.max_depth = random.between(0L, 5L);
  if (random.chance(0.4)) fuzz::random_test_weights(random, problem.model);
  return problem;
}

// The optimum of everything, and by depth; of trees of any number of leaves, or of a few.
class Optima {
 public:
  Optima(const Bench& bench, std::int64_t max_depth)
      : bench_(bench),
        exact_(bench.data, bench.posterior, max_depth, bench.options.min_samples_leaf) {}
  Cost of(std::int64_t depth) {
    return exact_.optimum(bench_.data.all_rows(), 0, static_cast<int>(depth),
                          leaves_ == maptree::any_leaves ? 0 : leaves_);
  }
  Cost all() { return of(1000); }
  void limit_leaves(std::uint32_t leaves) { leaves_ = leaves; }

 private:
  const Bench& bench_;
  exact::Solver exact_;
  std::uint32_t leaves_ = maptree::any_leaves;
};

// Nodes until there is no room for more; the first one is a root.
void fill(Desk& desk, std::size_t bytes) {
  desk.store.set_limit(bytes);
  for (std::uint64_t n = 0; desk.store.has_room(0); ++n) {
    const NodeId id = desk.store.intern(key_of(n), Cost(0), Cost(100), {1});
    desk.store[id].effort = 1 + n % 8;
    if (n == 0) desk.roots.push_back(id);
  }
}

}  // namespace

TEST(room_is_made_by_collections_or_refused) {
  for (const std::size_t n_splits : {0u, 1u, 30u, 60u, 300u}) {
    Desk desk{maptree::TestCosts()};
    const std::vector<NodeId> stands_on;
    desk.pinned.push_back(&stands_on);
    CHECK(desk.make_room(n_splits, never));
    CHECK_EQUAL(desk.collections, 0);
    fill(desk, 12'000);
    const std::size_t before = desk.store.n_nodes();
    const bool made = desk.make_room(n_splits, never);
    CHECK_EQUAL(made, desk.store.has_room(n_splits));
    CHECK_EQUAL(made, n_splits < 300);
    CHECK_EQUAL(desk.out_of_memory, !made);
    CHECK(!desk.broken);
    CHECK(desk.store[desk.roots[0]].key == key_of(0));
    // A quarter of the nodes, more or less, where that is enough.
    if (n_splits == 0) CHECK_EQUAL(desk.collections, 1);
    if (n_splits == 0) CHECK(2 * desk.store.n_nodes() > before);
    if (!made) CHECK_EQUAL(desk.store.n_nodes(), 1u);
    if (!made) CHECK_EQUAL(desk.collections, 2);
    desk.pinned.clear();
  }
}

TEST(a_desk_whose_collection_was_stopped_is_broken) {
  const auto make_room = [](std::int64_t late_from) {
    Desk desk{maptree::TestCosts()};
    fill(desk, 12'000);
    const TurnedClock clock(late_from);
    maptree::Control control(clock.limits());
    maptree::Watch watch(control);
    const bool made = desk.make_room(0, watch);
    CHECK_EQUAL(made, clock.n_readings() <= late_from);
    CHECK_EQUAL(desk.broken, !made);
    CHECK(!desk.out_of_memory);
    return clock.n_readings();
  };
  const std::int64_t all = make_room(TurnedClock::never);
  CHECK(all > 100);
  for (std::int64_t late_from = 0; late_from <= all; ++late_from) make_room(late_from);
}

TEST(nothing_is_done_with_a_broken_desk) {
  Random random(81);
  for (int round = 0; round < 20; ++round) {
    Bench bench(noisy(random, 40));
    Schedule schedule(bench.data, bench.posterior, bench.options, -1);
    Desk& desk = schedule.desk();
    maptree::Prover prover(bench.data, bench.posterior, bench.expander, desk);
    auto lock = schedule.lock();
    if (round > 0)
      for (int i = 0; i < round % 4; ++i) schedule.work(prover, lock, 1, never);
    const Cost lower = schedule.lower();
    const std::int64_t depth = schedule.proved_depth(), expansions = desk.expansions;
    const std::size_t n_made = desk.store.n_made(), n_roots = desk.roots.size();
    desk.broken = true;
    CHECK(schedule.is_over());
    Tree tree;
    CHECK(!schedule.read_cheaper(prover, tree));
    CHECK(tree.feature.empty());
    const std::int64_t work_done = schedule.work_done();
    schedule.work(prover, lock, 1'000'000, never);
    schedule.limit_leaves(3);
    schedule.set_goal(Cost(0));  // all is proved of it, but by what may be out of order
    CHECK_EQUAL(schedule.work_done(), work_done);
    CHECK(schedule.lower() == lower);
    CHECK_EQUAL(schedule.proved_depth(), depth);
    CHECK_EQUAL(desk.expansions, expansions);
    CHECK_EQUAL(desk.store.n_made(), n_made);
    CHECK_EQUAL(desk.roots.size(), n_roots);
  }
}

TEST(a_schedule_claims_nothing_that_is_not_so) {
  Random random(82);
  int n_over = 0, n_cheaper = 0, n_deep = 0, n_limited = 0;
  for (int round = 0; round < 200; ++round) {
    Problem problem = noisy(random, random.between<std::size_t>(30, 120));
    if (random.chance(0.3)) problem.options.graded_proof = false;
    if (random.chance(0.3)) problem.options.fold_rows = false;
    if (random.chance(0.3)) problem.options.pair_expansion = false;
    Bench bench(problem);
    Optima optima(bench, problem.model.max_depth);
    const std::int64_t most = random.one_of<std::int64_t>({-1, -1, 0, 1, 5, 30});
    Schedule schedule(bench.data, bench.posterior, bench.options, most);
    Desk& desk = schedule.desk();
    if (random.chance(0.3)) desk.store.set_limit(random.between<std::size_t>(5'000, 20'000));
    maptree::Prover prover(bench.data, bench.posterior, bench.expander, desk);
    auto lock = schedule.lock();
    // The leaf is known, the best tree, or one that is a little dearer.
    const std::uint32_t leaves = random.chance(0.5) ? maptree::any_leaves : random.between(2u, 8u);
    const int limit_at = random.one_of({0, 0, 1, 3, 20});  // from that step on
    bool limited = leaves == maptree::any_leaves;
    optima.limit_leaves(leaves);
    Cost goal = optima.of(0);
    if (random.chance(0.3)) goal = optima.all();
    if (random.chance(0.3)) goal = std::min(goal, optima.all() + Cost::nearest(random.uniform()));
    optima.limit_leaves(maptree::any_leaves);
    schedule.set_goal(goal);
    CHECK(!schedule.is_over());  // nothing is proved before the root is there
    CHECK(schedule.lower() <= optima.all());
    CHECK_EQUAL(schedule.proved_depth(), 0);
    const double patience = random.one_of({0.0, 0.4, 0.98});  // until a tree is asked for
    const std::int64_t work = random.one_of({1L, 5000L, 50'000L, 200'000L});
    std::map<NodeId, Cost> lower;
    int steps = 0;
    for (; !schedule.is_over() && steps < 3000; ++steps) {
      if (leaves != maptree::any_leaves && steps >= limit_at) {
        const Cost before = schedule.lower();
        schedule.limit_leaves(leaves);
        optima.limit_leaves(leaves);
        limited = true;
        CHECK(schedule.lower() >= before && schedule.lower() <= optima.all());
        if (schedule.is_over()) break;
      }
      const std::int64_t done = schedule.work_done(), proved = schedule.proved_depth();
      schedule.work(prover, lock, work, never);
      CHECK(schedule.work_done() >= done);
      CHECK(schedule.lower() <= optima.all());
      CHECK(schedule.proved_depth() >= proved);
      CHECK(optima.of(schedule.proved_depth()) >= goal);
      if (schedule.proved_depth() > 2) ++n_deep;
      if (most >= 0) CHECK(desk.expansions <= most);
      Cost least = Cost::infinity();
      for (const NodeId root : desk.roots) {
        const StoreNode& node = desk.store[root];
        CHECK(node.key.depth == 0);
        // Proofs by depth are of less than all that is allowed.
        if (root != desk.roots[0]) CHECK(node.key.limit < desk.store[desk.roots[0]].key.limit);
        CHECK(node.lower >= lower[root]);
        lower[root] = node.lower;
        least = std::min(least, node.upper);
      }
      CHECK(problem.options.graded_proof || schedule.proved_depth() == 0);
      if (random.chance(patience) || !limited) continue;  // trees of more leaves are of no use
      Tree tree;
      const bool cheaper = schedule.read_cheaper(prover, tree);
      CHECK_EQUAL(cheaper, least < goal);
      if (!cheaper) continue;
      CHECK(bench.cost(tree) <= least && bench.cost(tree) >= optima.all());
      CHECK(leaves == maptree::any_leaves || (tree.feature.size() + 1) / 2 <= leaves);
      ++n_cheaper;
      goal = bench.cost(tree);
      schedule.set_goal(goal);
      CHECK(optima.of(schedule.proved_depth()) >= goal);
    }
    CHECK(steps < 3000);
    CHECK(!desk.broken);
    // All trees are refuted, or what there is to be found has too many leaves.
    if (!limited && schedule.lower() < goal) continue;
    if (Tree tree; limited && schedule.read_cheaper(prover, tree)) goal = bench.cost(tree);
    if (desk.out_of_memory) continue;
    CHECK_EQUAL(desk.out_of_expansions, most >= 0 && schedule.lower() < goal);
    if (desk.out_of_expansions) {
      CHECK_EQUAL(desk.expansions, most);
      continue;
    }
    optima.limit_leaves(leaves);
    CHECK_EQUAL(std::min(schedule.lower(), goal).units(), optima.all().units());
    ++n_over;
    n_limited += leaves != maptree::any_leaves ? 1 : 0;
  }
  CHECK(n_over > 40 && n_cheaper > 20 && n_deep > 10 && n_limited > 30);
}

// Where columns are ordered, expanding the root does not tell all trees of depth two.
TEST(a_schedule_claims_no_depth_that_only_some_thresholds_were_tried_for) {
  Random random(86);
  for (int round = 0; round < 10; ++round) {
    ordered_rows::Table table;
    table.n_ranks.assign(5, 8);
    table.ranks.resize(5);
    for (int r = 0; r < 60; ++r) {
      for (auto& of : table.ranks) of.push_back(random.below(8u));
      const bool one = table.ranks[0].back() < 4, other = table.ranks[1].back() < 4;
      table.labels.push_back(one != other ? 1 : 0);  // neither column tells anything alone
      table.weights.push_back(1);
    }
    const ordered_rows::Bench bench(table, {0.95, 0.5, {0.5, 0.5}}, {});
    exact::Solver exact(bench.data, bench.posterior, -1, 1);
    const auto rows = bench.data.all_rows();
    const Cost goal = exact.leaf(rows, 0);
    CHECK(exact.optimum(rows, 0, 2) < goal);
    maptree::Expander expander(bench.data, bench.posterior, bench.bounds, bench.options);
    Schedule schedule(bench.data, bench.posterior, bench.options, -1);
    maptree::Prover prover(bench.data, bench.posterior, expander, schedule.desk());
    auto lock = schedule.lock();
    schedule.set_goal(goal);
    for (int step = 0; step < 20 && !schedule.is_over(); ++step) {
      schedule.work(prover, lock, 1, never);
      CHECK(schedule.proved_depth() < 2);
    }
  }
}

// Before anything is done: the bound of the root's counts, which may be the optimum itself.
TEST(a_schedule_begins_with_a_bound) {
  for (const std::size_t n_rows : {1, 2, 30}) {
    Problem problem = workbench::noisy(5, n_rows, 4);
    for (auto& row : problem.model.x) row = {0, 1, 0, 1};
    const Bench bench(problem);
    Optima optima(bench, -1);
    Schedule schedule(bench.data, bench.posterior, bench.options, -1);
    CHECK_EQUAL(schedule.lower().units(), optima.all().units());
    CHECK(bench.bounds.root_lower() == optima.all());
  }
}

// Depths that are proved say nothing of trees of any number of leaves, however many depths they
// are.
TEST(no_depth_is_deep_enough_for_any_number_of_leaves) {
  ordered_rows::Table table;
  table.n_ranks = {300};
  table.ranks.resize(1);
  for (std::uint32_t r = 0; r < 300; ++r) {
    table.ranks[0].push_back(r);
    table.labels.push_back(static_cast<std::int32_t>(r / 7 % 2));
    table.weights.push_back(1);
  }
  const ordered_rows::Bench bench(table, {0.95, 0.5, {0.5, 0.5}}, {});
  maptree::Expander expander(bench.data, bench.posterior, bench.bounds, bench.options);
  Schedule schedule(bench.data, bench.posterior, bench.options, -1);
  maptree::Prover prover(bench.data, bench.posterior, expander, schedule.desk());
  auto lock = schedule.lock();
  schedule.work(prover, lock, 1, never);
  const Cost lower = schedule.lower(), goal(1);
  CHECK(lower > goal);
  schedule.set_goal(goal);  // refuted at every depth as soon as it is asked
  for (int step = 0; step < 290; ++step) schedule.work(prover, lock, 1, never);
  CHECK(schedule.proved_depth() > 260);
  CHECK(schedule.lower() >= lower);
}

TEST(a_schedule_is_over_where_its_goal_is_proved) {
  Random random(85);
  for (int round = 0; round < 20; ++round) {
    Bench bench(noisy(random, 80));
    Optima optima(bench, bench.options.max_depth);
    Schedule schedule(bench.data, bench.posterior, bench.options, -1);
    maptree::Prover prover(bench.data, bench.posterior, bench.expander, schedule.desk());
    auto lock = schedule.lock();
    const Cost goal = optima.all() - Cost::nearest(random.uniform());
    schedule.set_goal(goal);
    for (int step = 0; step < 1000 && !schedule.is_over(); ++step) {
      CHECK(step == 0 || schedule.lower() < goal);
      schedule.work(prover, lock, 10'000, never);
    }
    CHECK(schedule.is_over() && schedule.lower() >= goal && schedule.lower() <= optima.all());
  }
}

TEST(what_goes_wrong_in_a_thread_breaks_the_desk) {
  Random random(86);
  const maptree::RowKey zero;
  for (int round = 0; round < 10; ++round) {
    Problem problem = noisy(random, 60);
    problem.model.max_depth = -1;
    const Bench bench(problem);
    maptree::Dataset data = fuzz::make_dataset(problem);
    data.use_keys(maptree::RowKeys({&zero, 1}, data.n_words()));  // all sets collide
    Schedule schedule(data, bench.posterior, bench.options, -1);
    maptree::Control control({});
    maptree::Team team(schedule, data, bench.posterior, bench.bounds, bench.options, control, 1);
    team.start();
    {
      // Without the lock in between, or the other thread might never get it.
      auto lock = schedule.lock();
      while (!schedule.is_over())
        schedule.desk().changed.wait_for(lock, std::chrono::milliseconds(1));
    }
    team.stop();
    CHECK(schedule.desk().broken);
    CHECK_THROWS(maptree::KeyCollision, team.rethrow());
    CHECK_THROWS(maptree::KeyCollision, team.rethrow_collision());
  }
}

TEST(a_limit_beyond_every_depth_is_none) {
  Random random(83);
  for (int round = 0; round < 5; ++round) {
    Problem problem = noisy(random, 60);
    problem.model.max_depth = -1;
    const Cost optimum = workbench::run(problem).upper;
    for (const std::int64_t more : {-2, -1, 0, 1, 2}) {
      problem.model.max_depth = static_cast<long>((std::int64_t{1} << 32) + more);
      CHECK_EQUAL(workbench::run(problem).upper.units(), optimum.units());
    }
  }
}
