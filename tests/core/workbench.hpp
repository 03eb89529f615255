// Workbench: what tests of the search and of its parts start from. A problem to solve, a search of
// it, and for tests of a part all that the part stands on, without a search around it.
#pragma once

#include <vector>

#include "problem.hpp"
#include "scan/expand.hpp"
#include "search/search.hpp"

namespace workbench {

inline maptree::Watch never;

// Random rows, labels by a rule, many of them wrong: a proof that takes a while.
template <class Rule>
fuzz::Problem noisy(fuzz::Random& random, std::size_t n_rows, std::size_t n_columns, double noise,
                    int n_classes, const Rule& rule) {
  fuzz::Problem problem;
  for (std::size_t r = 0; r < n_rows; ++r) {
    std::vector<int> row(n_columns);
    for (int& value : row) value = random.below(2);
    problem.model.y.push_back(random.chance(noise) ? random.below(n_classes) : rule(row));
    problem.model.x.push_back(row);
    problem.model.weight.push_back(1);
  }
  return problem;
}

// Labels by a small tree.
inline fuzz::Problem noisy(std::uint64_t seed, std::size_t n_rows, std::size_t n_columns,
                           double noise = 0.3) {
  fuzz::Random random(seed);
  return noisy(random, n_rows, n_columns, noise, 2,
               [](const std::vector<int>& row) { return row[0] == 1 ? row[1] : row[2] ^ row[3]; });
}

inline maptree::Result run(const fuzz::Problem& problem, const maptree::Limits& limits = {},
                           const maptree::Monitor& monitor = {}) {
  return maptree::search(fuzz::make_dataset(problem), fuzz::make_prior(problem),
                         fuzz::make_options(problem), limits, monitor);
}

// All that a prover or an improver stands on.
struct Bench {
  explicit Bench(const fuzz::Problem& problem)
      : options(fuzz::make_options(problem)),
        data(fuzz::make_dataset(problem)),
        posterior(fuzz::make_prior(problem), data),
        bounds(posterior, data, options),
        expander(data, posterior, bounds, options) {}

  [[nodiscard]] maptree::Cost cost(const maptree::Tree& tree) const {
    return maptree::score(tree, data, posterior).subtree[0];
  }

  const maptree::Options options;
  const maptree::Dataset data;
  const maptree::Posterior posterior;
  const maptree::Bounds bounds;
  maptree::Expander expander;
};

}  // namespace workbench
