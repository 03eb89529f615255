// Prover where others are at work: a node that somebody else is expanding is passed by, all that is
// not in others' hands is done, and no bound suffers. One thread plays all the others, by the marks
// that they would leave in the store.
#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "check.hpp"
#include "prove/prover.hpp"
#include "turned_clock.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Cost;
using maptree::NodeId;
using maptree::Proof;
using maptree::SplitRecord;
using maptree::StoreNode;
using workbench::Bench;
using workbench::never;

namespace {

struct Table {
  Table(Random& random, Proof::Pace pace)
      : bench(problem(random)),
        desk(bench.posterior.test_costs()),
        prover(bench.data, bench.posterior, bench.expander, desk),
        proof(bench.data, bench.posterior, bench.options, maptree::no_limit, pace),
        lock(desk.mutex) {}

  static Problem problem(Random& random) {
    Problem out = workbench::noisy(random, random.between<std::size_t>(60, 150), 10, 0.5, 2,
                                   [](const auto& row) { return row[0] == 1 ? row[1] : row[2]; });
    out.model.rho = {1, 1};
    if (random.chance(0.4)) out.options.pair_expansion = false;
    if (random.chance(0.2)) out.options.depth_transfer = false;
    return out;
  }
  void advance(Cost goal, std::int64_t work = INT64_MAX / 2) {
    prover.advance(lock, proof, goal, work, never);
  }
  StoreNode& root() { return desk.store[proof.root]; }
  // Calls visit for each node below this one, and for itself.
  void each(NodeId id, std::set<NodeId>& seen, const std::function<void(NodeId)>& visit) {
    if (!seen.insert(id).second) return;
    visit(id);
    desk.store.for_each_split(desk.store[id], [&](const SplitRecord& split) {
      if (!split.attached()) return;
      for (const NodeId child : split.child) each(child, seen, visit);
    });
  }
  std::vector<NodeId> nodes() {
    std::vector<NodeId> all;
    std::set<NodeId> seen;
    each(proof.root, seen, [&](NodeId id) { all.push_back(id); });
    return all;
  }
  bool anybody_below(const SplitRecord& split) {
    bool found = false;
    std::set<NodeId> seen;
    if (split.attached())
      for (const NodeId child : split.child)
        each(child, seen, [&](NodeId id) { found = found || desk.store[id].busy; });
    return found;
  }

  Bench bench;
  maptree::Desk desk;
  maptree::Prover prover;
  Proof proof;
  std::unique_lock<std::mutex> lock;
};

}  // namespace

TEST(a_node_is_busy_while_it_is_expanded_and_then_no_more) {
  Random random(90);
  Table table(random, Proof::Pace::evenly);
  maptree::Limits limits = TurnedClock().limits();
  limits.poll_seconds = 0;
  maptree::Control control(limits);
  int n_seen = 0;
  control.set_poll([&](double) {
    if (table.lock.owns_lock() || table.proof.root == NodeId::none) return false;
    const std::unique_lock others(table.desk.mutex);
    int n_busy = 0;
    for (const NodeId id : table.nodes()) n_busy += table.desk.store[id].busy ? 1 : 0;
    CHECK(n_busy <= 1);
    n_seen += n_busy;
    return false;
  });
  maptree::Watch watch(control);
  table.prover.advance(table.lock, table.proof, Cost::infinity(), INT64_MAX / 2, watch);
  CHECK(table.root().solved());
  CHECK(n_seen >= table.desk.expansions);
  for (const NodeId id : table.nodes()) CHECK(!table.desk.store[id].busy);
}

TEST(a_root_that_others_expand_is_left_to_them) {
  Random random(91);
  for (int round = 0; round < 20; ++round) {
    Table table(random, Proof::Pace::evenly);
    table.desk.max_expansions = 0;
    table.advance(Cost::infinity());
    CHECK(table.desk.out_of_expansions && !table.root().expanded);
    table.desk.max_expansions = -1;
    table.desk.out_of_expansions = false;
    table.root().busy = true;
    const Cost lower = table.root().lower;
    table.advance(Cost::infinity());
    CHECK(!table.root().expanded && table.root().lower == lower);
    CHECK_EQUAL(table.desk.expansions, 0);
    table.root().busy = false;
    table.advance(Cost::infinity());
    CHECK(table.root().solved());
  }
}

TEST(splits_that_others_find_again_are_left_to_them) {
  Random random(92);
  int n_left = 0;
  for (int round = 0; round < 60; ++round) {
    Table table(random, round % 2 == 0 ? Proof::Pace::evenly : Proof::Pace::by_splits);
    table.advance(Cost::infinity(), random.one_of({1L, 20'000L, 200'000L}));
    if (table.root().solved()) continue;
    CHECK(table.desk.store.collect({}, SIZE_MAX, Cost(0), never));  // drops all but the least
    if (table.root().rest == Cost::infinity()) continue;
    const std::uint32_t n_splits = table.root().n_splits;
    const Cost rest = table.root().base + table.root().rest;
    table.root().busy = true;
    table.advance(Cost::infinity());
    CHECK(table.root().solved() || table.root().n_splits == n_splits);
    if (!table.root().solved()) {
      CHECK(table.root().lower <= rest);
      ++n_left;
    }
    table.root().busy = false;
    table.advance(Cost::infinity());
    CHECK(table.root().solved());
  }
  CHECK(n_left > 10);
}

TEST(all_that_is_not_in_others_hands_is_done) {
  Random random(93);
  int n_busy = 0, n_left = 0;
  for (int round = 0; round < 100; ++round) {
    Table table(random, Proof::Pace::by_splits);
    table.advance(Cost::infinity(), random.one_of({1L, 20'000L, 100'000L, 300'000L}));
    std::set<NodeId> busy;
    for (const NodeId id : table.nodes()) {
      StoreNode& node = table.desk.store[id];
      if (node.expanded || node.solved() || !random.chance(0.4)) continue;
      node.busy = true;
      busy.insert(id);
    }
    n_busy += static_cast<int>(busy.size());
    for (int again = 0; again < 2; ++again) table.advance(Cost::infinity());
    for (const NodeId id : busy) CHECK(!table.desk.store[id].expanded);
    StoreNode& root = table.root();
    if (!root.solved()) {
      if (root.expanded)
        table.desk.store.for_each_split(root, [&](const SplitRecord& split) {
          const Cost total = root.base + table.desk.store.place(split).total;
          CHECK(table.anybody_below(split) || total >= root.upper);
          if (total < root.upper) ++n_left;
        });
    }
    for (const NodeId id : busy) table.desk.store[id].busy = false;
    table.advance(Cost::infinity());
    CHECK(table.root().solved());
    // As a prover that was always alone.
    maptree::Desk desk(table.bench.posterior.test_costs());
    maptree::Prover alone(table.bench.data, table.bench.posterior, table.bench.expander, desk);
    Proof proof(table.bench.data, table.bench.posterior, table.bench.options, maptree::no_limit);
    auto lock = std::unique_lock(desk.mutex);
    alone.advance(lock, proof, Cost::infinity(), INT64_MAX / 2, never);
    CHECK_EQUAL(desk.store[proof.root].upper.units(), table.root().upper.units());
  }
  CHECK(n_busy > 100 && n_left > 10);
}

// The second works wherever the first lets go of the lock and reads the clock: within expansions,
// and while children are measured.
TEST(two_provers_in_turns_find_the_optimum) {
  Random random(94);
  int n_turns = 0, n_solved = 0;
  std::int64_t collections = 0;
  for (int round = 0; round < 60; ++round) {
    Table table(random, random.one_of({Proof::Pace::evenly, Proof::Pace::by_splits}));
    if (round % 2 == 0) table.desk.store.set_limit(random.between<std::size_t>(6'000, 30'000));
    maptree::Expander expander(table.bench.data, table.bench.posterior, table.bench.bounds,
                               table.bench.options);
    maptree::Prover other(table.bench.data, table.bench.posterior, expander, table.desk);
    table.desk.max_expansions = 3000;
    maptree::Limits limits = TurnedClock().limits();
    limits.poll_seconds = 0;
    maptree::Control control(limits);
    const std::int64_t work = random.one_of({1L, 3000L, 100'000L, 1'000'000L});
    const double often = random.one_of({0.01, 0.1, 0.5});
    Cost lower, upper = Cost::infinity();
    const auto check = [&] {
      CHECK(table.root().lower >= lower && table.root().upper <= upper);
      CHECK(table.root().lower <= table.root().upper);
      lower = table.root().lower;
      upper = table.root().upper;
    };
    control.set_poll([&](double) {
      if (table.lock.owns_lock() || table.proof.root == NodeId::none || !random.chance(often))
        return false;
      auto lock = std::unique_lock(table.desk.mutex);
      other.advance(lock, table.proof, Cost::infinity(), work, never);
      check();
      ++n_turns;
      return false;
    });
    maptree::Watch watch(control);
    for (int step = 0; step < 1000; ++step) {
      table.prover.advance(table.lock, table.proof, Cost::infinity(), 200'000, watch);
      if (table.proof.root == NodeId::none) break;
      check();
      if (table.root().solved() || table.desk.out_of_memory || table.desk.out_of_expansions) break;
    }
    collections += table.desk.collections;
    if (table.proof.root == NodeId::none || !table.root().solved()) continue;
    ++n_solved;
    maptree::Tree tree;
    table.prover.read_tree(table.proof, tree);
    maptree::Desk desk(table.bench.posterior.test_costs());
    maptree::Prover alone(table.bench.data, table.bench.posterior, table.bench.expander, desk);
    Proof proof(table.bench.data, table.bench.posterior, table.bench.options, maptree::no_limit);
    auto lock = std::unique_lock(desk.mutex);
    alone.advance(lock, proof, Cost::infinity(), INT64_MAX / 2, never);
    CHECK_EQUAL(table.root().upper.units(), desk.store[proof.root].upper.units());
    CHECK_EQUAL(table.bench.cost(tree).units(), table.root().upper.units());
  }
  CHECK(n_turns > 1000 && n_solved > 30 && collections > 50);
}

// What it stood on may be gone by then: it must not be touched.
TEST(a_prover_makes_nothing_where_others_have_solved_all) {
  Random random(97);
  int n_solved = 0;
  for (std::int64_t nth = 1; nth < 300; nth += 2) {
    Table table(random, Proof::Pace::by_splits);
    maptree::Expander expander(table.bench.data, table.bench.posterior, table.bench.bounds,
                               table.bench.options);
    maptree::Prover other(table.bench.data, table.bench.posterior, expander, table.desk);
    maptree::Limits limits = TurnedClock().limits();
    limits.poll_seconds = 0;
    maptree::Control control(limits);
    std::int64_t n = 0;
    std::size_t n_made = 0;
    control.set_poll([&](double) {
      if (table.lock.owns_lock() || table.proof.root == NodeId::none || ++n < nth || n_made > 0)
        return false;
      auto lock = std::unique_lock(table.desk.mutex);
      other.advance(lock, table.proof, Cost::infinity(), INT64_MAX / 2, never);
      const std::vector<NodeId>& path = *table.desk.pinned[0];
      if (std::ranges::all_of(path, [&](NodeId id) { return table.desk.store[id].solved(); }))
        n_made = table.desk.store.n_made();
      return false;
    });
    maptree::Watch watch(control);
    table.prover.advance(table.lock, table.proof, Cost::infinity(), INT64_MAX / 2, watch);
    if (n_made == 0) continue;
    CHECK_EQUAL(table.desk.store.n_made(), n_made);
    ++n_solved;
  }
  CHECK(n_solved > 10);
}

TEST(a_prover_returns_where_the_desk_breaks) {
  Random random(95);
  for (std::int64_t nth = 1; nth < 400; nth += 3) {
    Table table(random, Proof::Pace::by_splits);
    maptree::Limits limits = TurnedClock().limits();
    limits.poll_seconds = 0;
    maptree::Control control(limits);
    std::int64_t n = 0, expansions = 0;
    std::size_t n_made = 0;
    control.set_poll([&](double) {
      if (table.lock.owns_lock() || ++n != nth) return false;
      const std::unique_lock others(table.desk.mutex);
      table.desk.broken = true;
      n_made = table.desk.store.n_made();
      expansions = table.desk.expansions;
      return false;
    });
    maptree::Watch watch(control);
    table.prover.advance(table.lock, table.proof, Cost::infinity(), INT64_MAX / 2, watch);
    CHECK(table.desk.broken || table.root().solved());
    if (!table.desk.broken) break;
    CHECK_EQUAL(table.desk.store.n_made(), n_made);
    CHECK(table.desk.expansions <= expansions);
  }
}

TEST(a_prover_returns_where_there_is_no_room) {
  Random random(96);
  int n_refused = 0, n_solved = 0;
  for (std::size_t bytes = 2'000; bytes < 30'000; bytes += 250) {
    Table table(random, Proof::Pace::evenly);
    table.desk.store.set_limit(bytes);
    table.desk.max_expansions = 500;
    table.prover.advance(table.lock, table.proof, Cost::infinity(), INT64_MAX / 2, never);
    if (table.desk.out_of_memory) ++n_refused;
    CHECK(!table.desk.out_of_memory || !table.desk.out_of_expansions);  // the first one ends it
    if (table.proof.root == NodeId::none) {
      CHECK(table.desk.out_of_memory);
      continue;
    }
    CHECK(table.desk.out_of_memory || table.desk.out_of_expansions || table.root().solved());
    CHECK(table.desk.store.bytes() <= bytes);
    if (table.root().solved()) ++n_solved;
  }
  CHECK(n_refused > 10 && n_solved > 10);
}
