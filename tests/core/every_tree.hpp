// Every tree on tiny data, each with its cost, and the evidence: what samplers are compared with.
// From the brute force of the search's tests, so it shares no code with the core.
#pragma once

#include <cmath>
#include <map>
#include <vector>

#include "problem.hpp"
#include "sample/forest.hpp"

namespace every_tree {

using Features = std::vector<int>;  // in preorder, -1 at leaves: enough to tell trees apart

// With children, which follow from the preorder.
[[nodiscard]] inline maptree::Tree tree_of(const Features& feature) {
  maptree::Forest forest;
  forest.add(std::vector<std::int32_t>(feature.begin(), feature.end()), {}, maptree::Cost());
  return forest.tree(0);
}

struct Entry {
  Features feature;
  double cost = 0;
};

inline std::vector<Entry> below(const brute_force::Solver& solver, const brute_force::Set& rows,
                                long depth) {
  std::vector<Entry> all = {{{-1}, solver.leaf(rows, depth)}};
  const std::vector<std::size_t> columns = solver.varying(rows);
  for (const std::size_t f : columns) {
    const auto zero = below(solver, solver.side(rows, f, 0), depth + 1);
    const auto one = below(solver, solver.side(rows, f, 1), depth + 1);
    for (const Entry& a : zero) {
      for (const Entry& b : one) {
        Entry entry{{static_cast<int>(f)}, solver.inner(columns, f, depth) + a.cost + b.cost};
        entry.feature.insert(entry.feature.end(), a.feature.begin(), a.feature.end());
        entry.feature.insert(entry.feature.end(), b.feature.begin(), b.feature.end());
        all.push_back(entry);
      }
    }
  }
  return all;
}

[[nodiscard]] inline std::vector<Entry> enumerate(const brute_force::Problem& problem) {
  const brute_force::Solver solver(problem);
  return below(solver, solver.all(), 0);
}

// log of the sum over all trees of P(tree, Y | X), without naming them.
inline double log_evidence(const brute_force::Solver& solver, const brute_force::Set& rows,
                           long depth) {
  const auto add = [](double a, double b) {
    return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
  };
  double sum = -solver.leaf(rows, depth);
  const std::vector<std::size_t> columns = solver.varying(rows);
  for (const std::size_t f : columns)
    sum = add(sum, log_evidence(solver, solver.side(rows, f, 0), depth + 1) +
                       log_evidence(solver, solver.side(rows, f, 1), depth + 1) -
                       solver.inner(columns, f, depth));
  return sum;
}

[[nodiscard]] inline double log_evidence(const brute_force::Problem& problem) {
  const brute_force::Solver solver(problem);
  return log_evidence(solver, solver.all(), 0);
}

// Total variation between the posterior and weighted trees. Trees that are none of the problem's
// count in full.
[[nodiscard]] inline double distance(const fuzz::Problem& problem, const maptree::Forest& forest,
                                     const std::vector<double>& weight) {
  std::map<Features, double> difference;
  const double evidence = log_evidence(problem.model);
  for (const Entry& entry : enumerate(problem.model))
    difference[entry.feature] = std::exp(-entry.cost - evidence);
  for (std::size_t t = 0; t < forest.size(); ++t) {
    const auto feature = forest.feature(t);
    difference[{feature.begin(), feature.end()}] -= weight[t];
  }
  double sum = 0;
  for (const auto& [feature, d] : difference) sum += std::abs(d) / 2;
  return sum;
}

// Tiny problems of every kind that matters: two and three classes, rows that repeat and disagree,
// weights, columns that are equal, complementary or constant, some more probable than others.
[[nodiscard]] inline std::vector<fuzz::Problem> tiny_problems() {
  std::vector<fuzz::Problem> problems;
  fuzz::Random random(2024);
  const auto add = [&](std::size_t n_rows, std::size_t n_columns, std::size_t n_classes) {
    fuzz::Problem problem;
    problem.model.rho.assign(n_classes, 1.0);
    for (double& r : problem.model.rho) r = random.log_uniform(0.3, 4);
    problem.model.alpha = random.one_of({0.95, 0.7, 0.4});
    problem.model.beta = random.one_of({0.5, 0.0, 1.5});
    for (std::size_t i = 0; i < n_rows; ++i) {
      std::vector<int> row(n_columns);
      for (int& value : row) value = random.below(2);
      problem.model.y.push_back((row[0] + (random.chance(0.3) ? 1 : 0)) %
                                static_cast<int>(n_classes));
      if (n_classes > 2 && random.chance(0.3)) problem.model.y.back() = 2;
      problem.model.x.push_back(row);
      problem.model.weight.push_back(1);
    }
    problems.push_back(problem);
    return problems.size() - 1;
  };
  add(7, 3, 2);
  add(7, 3, 3);
  add(25, 3, 2);  // rows repeat, and disagree
  add(25, 3, 3);
  add(5, 4, 2);
  const auto append = [](fuzz::Problem& problem, auto value) {
    for (auto& row : problem.model.x) row.push_back(value(row));
  };
  for (const std::size_t n_classes : {2u, 3u}) {
    fuzz::Problem& twice = problems[add(9, 2, n_classes)];
    append(twice, [](const auto& row) { return row[0]; });      // equal
    append(twice, [](const auto& row) { return 1 - row[1]; });  // complementary
    append(twice, [](const auto&) { return 1; });               // constant
  }
  fuzz::Problem& weighted = problems[add(8, 3, 2)];
  for (long& w : weighted.model.weight) w = random.between(0L, 3L);
  weighted.model.weight[0] = 1;
  // Small, for some tests take a way for every unit of weight.
  problems[add(7, 3, 2)].model.test_weight = {1, 4, 2};
  fuzz::Problem& unequal = problems[add(9, 2, 3)];
  append(unequal, [](const auto& row) { return row[0]; });
  append(unequal, [](const auto& row) { return 1 - row[1]; });
  unequal.model.test_weight = {1, 3, 5, 1};
  return problems;
}

inline double n_trees(const brute_force::Solver& solver, const brute_force::Set& rows) {
  double n = 1;
  for (const std::size_t f : solver.varying(rows))
    n += n_trees(solver, solver.side(rows, f, 0)) * n_trees(solver, solver.side(rows, f, 1));
  return n;
}

// Random ones, of no more trees than this.
[[nodiscard]] inline std::vector<fuzz::Problem> random_problems(std::size_t n, double most_trees) {
  std::vector<fuzz::Problem> problems;
  fuzz::Random random(77);
  while (problems.size() < n) {
    fuzz::Problem problem;
    problem.model = fuzz::random_model(random, fuzz::Shape::tall);
    for (double& r : problem.model.rho) r = random.log_uniform(0.1, 20);
    problem.model.max_depth = -1;
    problem.model.min_leaf = 1;
    if (problem.model.n_columns() > 5) continue;
    if (problems.size() % 3 == 0)
      for (std::size_t c = 0; c < problem.model.n_columns(); ++c)
        problem.model.test_weight.push_back(random.between(1L, 4L));
    const brute_force::Solver solver(problem.model);
    const double trees = n_trees(solver, solver.all());
    if (trees > 1 && trees <= most_trees) problems.push_back(problem);
  }
  return problems;
}

[[nodiscard]] inline maptree::Dataset dataset_of(const fuzz::Problem& problem) {
  return fuzz::make_dataset(problem, {.rows = true, .columns = false});
}

}  // namespace every_tree
