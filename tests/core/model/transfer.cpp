// Bounds::transferred (result T): the recursion of bounds.md, level by level, at any depth.
#include "check.hpp"
#include "model/bounds.hpp"
#include "problem.hpp"

using fuzz::Random;
using maptree::Cost;
using maptree::Posterior;

namespace {

// The least that a tree costs more at depth d than at e; below the deepest level there is none.
// In units, without a limit on their size.
long double t(const Posterior& posterior, std::size_t e, std::size_t d, bool splits) {
  if (d > posterior.max_depth()) return 0;
  const auto more = [](Cost a, Cost b) { return static_cast<long double>((a - b).units()); };
  const long double split =
      more(posterior.split(d), posterior.split(e)) + 2 * t(posterior, e + 1, d + 1, false);
  if (splits) return split;
  return std::min({0.0L, more(posterior.stop(d), posterior.stop(e)), split});
}

}  // namespace

TEST(bounds_are_transferred_as_the_recursion_says) {
  Random random(36);
  fuzz::Problem problem;
  for (int r = 0; r < 60; ++r) {
    problem.model.x.push_back(std::vector<int>(20));
    for (int& value : problem.model.x.back()) value = random.below(2);
    problem.model.y.push_back(r % 2);
    problem.model.weight.push_back(1);
  }
  const maptree::Dataset data = fuzz::make_dataset(problem);
  for (int round = 0; round < 40; ++round) {
    const Posterior posterior({random.one_of({0.95, 0.5, 0.999, 0.05, random.uniform()}),
                               random.one_of({0.5, 0.0, 2.0, 8.0, 3 * random.uniform()}),
                               {2.5, 2.5}},
                              data);
    const maptree::Bounds bounds(posterior, data, {});
    const Cost known = Cost::nearest(100 * random.uniform());
    CHECK(posterior.max_depth() > maptree::transfer_cap + 8);
    for (std::size_t d = 1; d <= posterior.max_depth(); ++d) {
      for (std::size_t e = 0; e < d; ++e) {
        const Cost found = bounds.transferred(known, e, d);
        if (d - e > maptree::transfer_cap) {
          CHECK_EQUAL(found.units(), 0);
          continue;
        }
        const long double right =
            static_cast<long double>(known.units()) + t(posterior, e, d, true);
        if (right < 0)
          CHECK(found < Cost(0));  // of no use, however far below
        else
          CHECK_EQUAL(found.units(), static_cast<std::int64_t>(right));
      }
    }
  }
}
