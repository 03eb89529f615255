// A search that is stopped: at whichever reading of the clock, in whichever part of an expansion or
// of a collection, what it claims is so. A part that was not finished must not count as one.
#include "check.hpp"
#include "turned_clock.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Cost;
using maptree::Limits;
using maptree::Result;
using maptree::Status;

namespace {

class Stopped {
 public:
  explicit Stopped(const Problem& problem) : problem_(problem) {
    Problem shallow = problem;
    for (shallow.model.max_depth = 0; shallow.model.max_depth < 9; ++shallow.model.max_depth)
      best_.push_back(workbench::run(shallow).upper);
    optimum_ = workbench::run(problem).upper;
  }

  // At so many readings, spread over all of them.
  void check(std::int64_t n, const Limits& limits = {}) const {
    const TurnedClock counted;
    workbench::run(problem_, counted.limits(limits));
    const std::int64_t n_readings = counted.n_readings();
    for (std::int64_t i = 0; i < std::min(n, n_readings); ++i) {
      const std::int64_t late_from = n_readings * i / std::min(n, n_readings);
      const Result result = workbench::run(problem_, TurnedClock(late_from).limits(limits));
      CHECK(result.lower <= optimum_ && result.upper >= optimum_);
      CHECK_EQUAL(result.status == Status::optimal, result.lower == result.upper);
      const auto depth = static_cast<std::size_t>(std::min<std::int64_t>(result.proved_depth, 8));
      if (result.proved_depth >= 0) CHECK(best_[depth] >= result.upper);
    }
  }

 private:
  Problem problem_;
  Cost optimum_;
  std::vector<Cost> best_;  // by depth
};

Problem noisy(std::uint64_t seed, std::size_t n_rows, std::size_t n_columns) {
  Random random(seed);
  return workbench::noisy(random, n_rows, n_columns, 0.5, 2,
                          [](const auto& row) { return row[0] ^ row[1]; });
}

}  // namespace

TEST(a_stopped_search_claims_nothing_that_is_not_so) {
  for (int variant = 0; variant < 6; ++variant) {
    Problem problem = noisy(static_cast<std::uint64_t>(variant), 40, 8);
    // No other tree hides what the first expansions claim.
    problem.options.greedy_start = problem.options.improve = false;
    if (variant == 1) problem.options.compact = false;
    if (variant == 2) problem.options.fold_columns = false;
    if (variant == 3) problem.options.pair_expansion = false;
    if (variant == 4) problem.options.fold_rows = false;
    if (variant == 5) problem.options.depth_first = false;
    Stopped(problem).check(1500);
  }
}

TEST(a_search_stopped_while_it_collects_claims_nothing_that_is_not_so) {
  const Problem problem = noisy(9, 90, 10);
  Limits limits;
  limits.max_expansions = 0;
  const std::int64_t start = workbench::run(problem, limits).peak_bytes;
  limits.max_expansions = 2000;
  limits.memory_bytes = start + (workbench::run(problem).peak_bytes - start) / 3;
  for (limits.threads = 1; limits.threads < 3; ++limits.threads)
    Stopped(problem).check(400, limits);
}
