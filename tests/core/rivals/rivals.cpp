// The list of the best trees against brute force that lists all of them.
#include "rivals/rivals.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "check.hpp"
#include "problem.hpp"
#include "refusals.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Cost;
using maptree::Dataset;
using maptree::RivalList;
using maptree::RivalWish;
using maptree::Status;

namespace {

using Parts = std::vector<brute_force::Set>;  // sorted: the rows of each leaf

// Every way to part the rows by a tree, and what the cheapest such tree costs; by the definition.
class EveryPartition {
 public:
  explicit EveryPartition(const brute_force::Problem& problem) : solver_(problem) {
    for (const auto& [parts, cost] : below(solver_.all(), 0)) sorted_.emplace_back(cost, parts);
    std::erase_if(sorted_, [&](const auto& entry) {
      return problem.max_leaves > 0 && static_cast<long>(entry.second.size()) > problem.max_leaves;
    });
    std::ranges::sort(sorted_);
  }

  [[nodiscard]] const std::vector<std::pair<double, Parts>>& sorted() const { return sorted_; }
  [[nodiscard]] double cost(const Parts& parts) { return below(solver_.all(), 0).at(parts); }
  [[nodiscard]] const brute_force::Solver& solver() const { return solver_; }
  // The leaves of a tree.
  [[nodiscard]] Parts parts_of(const maptree::Tree& tree) const {
    Parts out;
    collect(tree, 0, solver_.all(), out);
    std::ranges::sort(out);
    return out;
  }

 private:
  using Costs = std::map<Parts, double>;

  const Costs& below(const brute_force::Set& rows, long depth) {
    const auto [known, fresh] = below_.try_emplace({depth, rows});
    if (!fresh) return known->second;
    Costs costs;
    costs[{rows}] = solver_.leaf(rows, depth);
    const brute_force::Problem& p = solver_.problem();
    const std::vector<std::size_t> columns = solver_.varying(rows);
    for (const std::size_t f : columns) {
      if (p.max_depth >= 0 && depth >= p.max_depth) break;
      if (!p.may_test(f, depth)) continue;
      const brute_force::Set side[2] = {solver_.side(rows, f, 0), solver_.side(rows, f, 1)};
      if (weight(side[0]) < p.min_leaf || weight(side[1]) < p.min_leaf) continue;
      const Costs zero = below(side[0], depth + 1), one = below(side[1], depth + 1);
      const double inner = solver_.inner(columns, f, depth);
      for (const auto& [a, cost_a] : zero)
        for (const auto& [b, cost_b] : one) {
          Parts parts = a;
          parts.insert(parts.end(), b.begin(), b.end());
          std::ranges::sort(parts);
          const auto [at, added] = costs.try_emplace(parts, inner + cost_a + cost_b);
          if (!added) at->second = std::min(at->second, inner + cost_a + cost_b);
        }
    }
    return below_[{depth, rows}] = std::move(costs);
  }
  [[nodiscard]] long weight(const brute_force::Set& rows) const {
    long sum = 0;
    for (const long c : solver_.counts(rows)) sum += c;
    return sum;
  }
  void collect(const maptree::Tree& tree, std::size_t node, const brute_force::Set& rows,
               Parts& out) const {
    if (tree.feature[node] < 0) {
      out.push_back(rows);
      return;
    }
    const auto f = static_cast<std::size_t>(tree.feature[node]);
    collect(tree, static_cast<std::size_t>(tree.left[node]), solver_.side(rows, f, 0), out);
    collect(tree, static_cast<std::size_t>(tree.right[node]), solver_.side(rows, f, 1), out);
  }

  brute_force::Solver solver_;
  std::map<std::pair<long, brute_force::Set>, Costs> below_;
  std::vector<std::pair<double, Parts>> sorted_;
};

// Few enough trees to list them all. Rows are met twice, columns are equal or complements.
Problem tiny(Random& random) {
  Problem problem;
  brute_force::Problem& model = problem.model;
  const auto n_classes = random.between<std::size_t>(2, 3);
  const auto n_rows = random.between<std::size_t>(1, 10);
  const auto n_columns = random.between<std::size_t>(1, 5);
  const bool twins = random.chance(0.4);
  for (std::size_t r = 0; r < n_rows; ++r) {
    std::vector<int> row(n_columns);
    for (int& value : row) value = random.below(2);
    if (twins && r > 0 && random.chance(0.5)) row = model.x[random.below(r)];
    if (n_columns > 2 && twins) row[1] = 1 - row[0];
    model.x.push_back(row);
    model.y.push_back(random.chance(0.3) ? random.below(static_cast<int>(n_classes))
                                         : row[0] % static_cast<int>(n_classes));
    model.weight.push_back(random.chance(0.2) ? random.between(0L, 6L) : 1);
  }
  model.weight[0] = std::max(model.weight[0], 1L);
  model.rho.assign(n_classes, random.log_uniform(0.1, 20));
  if (random.chance(0.5)) model.alpha = random.one_of({0.2, 0.5, 0.99});
  if (random.chance(0.5)) model.beta = random.one_of({0.0, 1.0, 2.0});
  if (random.chance(0.4)) fuzz::random_test_weights(random, model);
  if (random.chance(0.3)) model.max_depth = random.between(0L, 3L);
  if (random.chance(0.3)) model.min_leaf = random.between(1L, 4L);
  if (random.chance(0.3))
    for (const fuzz::Switch& one : fuzz::switches)
      if (random.chance(0.3)) problem.options.*(one.member) = false;
  if (random.chance(0.25)) model.max_leaves = random.between(1L, 5L);
  if (random.chance(0.4)) fuzz::make_ordered(random, problem);
  if (random.chance(0.25)) fuzz::random_uses(random, problem);
  return problem;
}

// The same rows without ordered columns, and with amounts.
Problem tiny_of_amounts(Random& random) {
  Problem problem = tiny(random);
  problem.ordered.clear();  // their thresholds are columns like any other
  do fuzz::random_amounts(random, problem);
  while (fuzz::tolerance_of(problem) > 1e-7);
  return problem;
}

constexpr double tolerance = 1e-6;

// What must hold of a list, wherever it ended.
void check_list(const RivalList& list, EveryPartition& all, const RivalWish& wish) {
  const auto& sorted = all.sorted();
  CHECK(list.rivals.size() <= sorted.size());
  CHECK(static_cast<std::int64_t>(list.rivals.size()) <= wish.most);
  std::vector<Parts> seen;
  for (std::size_t i = 0; i < list.rivals.size() && i < sorted.size(); ++i) {
    const maptree::Rival& rival = list.rivals[i];
    const Parts parts = all.parts_of(rival.tree);
    const double cost = (rival.cost + rival.offset).nats();
    CHECK(rival.offset == list.offset);
    CHECK(std::abs(cost - sorted[i].first) < tolerance);
    CHECK(std::abs(all.cost(parts) - cost) < tolerance);
    CHECK(std::abs(all.solver().cost(rival.tree) - cost) < tolerance);
    CHECK(std::ranges::find(seen, parts) == seen.end());
    CHECK(i == 0 || rival.cost >= list.rivals[i - 1].cost);
    seen.push_back(parts);
  }
  // All others are no cheaper than is said.
  double next = std::numeric_limits<double>::infinity();
  for (const auto& [cost, parts] : sorted)
    if (std::ranges::find(seen, parts) == seen.end()) {
      next = cost;
      break;
    }
  CHECK(list.complete.nats() + list.offset.nats() <= next + tolerance);
  CHECK(list.rivals.empty() || list.complete >= list.rivals.back().cost);
  if (list.status != Status::optimal) return;
  const bool enough = static_cast<std::int64_t>(list.rivals.size()) == wish.most;
  const bool far = wish.within.finite() && !list.rivals.empty() &&
                   list.complete > list.rivals[0].cost + wish.within;
  CHECK(enough || far || !list.complete.finite());
  if (!list.complete.finite()) CHECK_EQUAL(list.rivals.size(), sorted.size());
  if (wish.within.finite())
    for (const maptree::Rival& rival : list.rivals)
      CHECK(rival.cost <= list.rivals[0].cost + wish.within);
}

RivalList find(const Problem& problem, const RivalWish& wish, const maptree::Limits& limits = {}) {
  return maptree::find_rivals(fuzz::make_dataset(problem), fuzz::make_prior(problem),
                              fuzz::make_options(problem), wish, limits);
}

}  // namespace

TEST(the_best_trees_are_those_of_brute_force) {
  std::size_t n_rivals = 0, n_whole = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Problem problem = tiny(random);
    EveryPartition all(problem.model);
    RivalWish wish{random.one_of<std::int64_t>({1, 5, 30, 100000}), Cost::infinity()};
    if (random.chance(0.4)) wish.within = Cost::nearest(random.one_of({0.0, 0.5, 2.0, 10.0}));
    const RivalList list = find(problem, wish);
    CHECK(list.status == Status::optimal);
    check_list(list, all, wish);
    n_rivals += list.rivals.size();
    n_whole += list.complete.finite() ? 0 : 1;
    if (check::failures > 0) {
      std::cout << "seed " << seed << '\n';
      fuzz::write(std::cout, problem);
      return;
    }
  }
  std::cout << "rivals: " << n_rivals << ", lists of all trees: " << n_whole << '\n';
}

// As above, of numbers and counts.
TEST(the_best_trees_for_amounts_are_those_of_brute_force) {
  for (std::uint64_t seed = 0; seed < 800; ++seed) {
    Random random(seed + 20'000);
    const Problem problem = tiny_of_amounts(random);
    EveryPartition all(problem.model);
    RivalWish wish{random.one_of<std::int64_t>({1, 5, 30, 100000}), Cost::infinity()};
    if (random.chance(0.4)) wish.within = Cost::nearest(random.one_of({0.0, 0.5, 2.0, 10.0}));
    const RivalList list = find(problem, wish);
    CHECK(list.status == Status::optimal);
    check_list(list, all, wish);
    if (check::failures > 0) {
      std::cout << "seed " << seed << '\n';
      fuzz::write(std::cout, problem);
      return;
    }
  }
}

TEST(what_is_stopped_is_a_true_beginning) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed + 10'000);
    const Problem problem = seed < 150 ? tiny(random) : tiny_of_amounts(random);
    EveryPartition all(problem.model);
    const RivalWish wish{50, Cost::infinity()};
    const RivalList whole = find(problem, wish);
    Cost complete(-1);
    for (std::int64_t most = 0; most <= whole.expansions; ++most) {
      const RivalList list = find(problem, wish, {.max_expansions = most});
      check_list(list, all, wish);
      CHECK(list.expansions <= most);
      CHECK(list.complete >= complete);
      CHECK((list.status == Status::expansion_limit) == (most < whole.expansions));
      complete = list.complete;
    }
    if (check::failures > 0) {
      std::cout << "seed " << seed << '\n';
      return;
    }
  }
}
