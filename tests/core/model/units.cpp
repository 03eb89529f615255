// What is rounded is rounded to the nearest unit, and what bounds add to each other is added
// exactly.
#include <bit>
#include <cmath>

#include "check.hpp"
#include "model/bounds.hpp"
#include "problem.hpp"

using fuzz::Random;
using maptree::Cost;
using maptree::Posterior;

namespace {

fuzz::Problem noise(Random& random, int n_rows, std::size_t n_columns) {
  fuzz::Problem problem;
  for (int r = 0; r < n_rows; ++r) {
    problem.model.x.push_back(std::vector<int>(n_columns));
    for (int& value : problem.model.x.back()) value = random.below(2);
    problem.model.y.push_back(r % 3);
    problem.model.weight.push_back(1);
  }
  problem.model.rho = {1, 1, 1};
  return problem;
}

bool is_nearest(std::int64_t units, long double nats) {
  return std::abs(static_cast<long double>(units) - nats * 4294967296.0L) < 0.51L;
}

}  // namespace

TEST(every_entry_of_a_table_is_the_nearest_unit) {
  Random random(27);
  const maptree::Dataset data = fuzz::make_dataset(noise(random, 90, 12));
  for (int round = 0; round < 20; ++round) {
    const long double alpha = random.one_of({0.95, 0.5, 0.05});
    const long double beta = random.one_of({0.5, 0.0, 2.0});
    const std::vector<double> rho = {random.log_uniform(0.1, 20), 2.5, random.log_uniform(0.1, 20)};
    const Posterior posterior({static_cast<double>(alpha), static_cast<double>(beta), rho}, data);
    for (std::size_t d = 0; d <= posterior.max_depth(); ++d) {
      const long double log_p =
          std::log(alpha) - beta * std::log(1.0L + static_cast<long double>(d));
      CHECK(is_nearest(posterior.split(d).units(), -log_p));
      CHECK(is_nearest(posterior.stop(d).units(), -std::log1p(-std::exp(log_p))));
    }
    for (std::int64_t v = 1; v <= 12; ++v)
      CHECK(is_nearest(posterior.log_weight(v).units(), std::log(static_cast<long double>(v))));
    const long double sum = static_cast<long double>(rho[0]) + rho[1] + rho[2];
    const std::int64_t* const rising = posterior.rising_table();
    for (std::int64_t n = 0; n < 90; ++n)
      CHECK(is_nearest(rising[n + 1] - rising[n], std::log(static_cast<long double>(n) + sum)));
    for (int k = 0; k < 3; ++k)
      for (std::int64_t c = 0; c < 30; ++c) {
        const long double of_k = static_cast<long double>(c) + rho[static_cast<std::size_t>(k)];
        CHECK(is_nearest((posterior.pure(k, c + 1) - posterior.pure(k, c)).units(),
                         std::log((static_cast<long double>(c) + sum) / of_k)));
      }
  }
}

TEST(columns_that_must_vary_take_the_place_of_those_that_rows_need) {  // B5
  Random random(37);
  const maptree::Dataset data = fuzz::make_dataset(noise(random, 120, 12));
  const Posterior posterior({0.95, 0.5, {1, 1, 1}}, data);
  for (const bool on : {true, false}) {
    maptree::Options options;
    options.varying_bound = on;
    const maptree::Bounds bounds(posterior, data, options);
    for (std::size_t depth = 0; depth < 4; ++depth) {
      for (std::int32_t rows = 0; rows <= 100; ++rows) {
        const auto capped = static_cast<std::size_t>(std::min(rows, maptree::floor_cap));
        std::int64_t needed = 0;  // columns, to tell that many rows apart
        while (rows > 0 && (std::size_t{1} << needed) < capped) ++needed;
        for (std::int32_t varying = 0; varying <= 12; ++varying) {
          std::int64_t right = bounds.level(depth).floor[capped];
          if (on && rows > 1 && varying > needed)
            right += (posterior.log_weight(varying) - posterior.log_weight(needed)).units();
          CHECK_EQUAL(bounds.floor(depth, rows, bounds.least_test_cost(varying)), right);
        }
      }
    }
  }
}

TEST(logs_of_weights_are_the_nearest_units_and_rise) {
  Random random(38);
  const maptree::Dataset data = fuzz::make_dataset(noise(random, 40, 12));
  const Posterior posterior({0.95, 0.5, {1, 1, 1}}, data);
  const auto check = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t sum = std::max<std::int64_t>(1, first); sum < last; ++sum) {
      CHECK(is_nearest(posterior.log_weight(sum).units(), std::log(static_cast<long double>(sum))));
      CHECK(posterior.log_weight(sum) < posterior.log_weight(sum + 1));
    }
  };
  check(1, 5000);  // across the end of the table
  check(maptree::max_test_weight - 5000, maptree::max_test_weight);
  for (int round = 0; round < 1000; ++round) {
    const auto sum = static_cast<std::int64_t>(random.log_uniform(1, 2e9));
    check(sum - 10, sum + 10);
  }
}

// What the bounds of weighted tests take off for rounding is enough, and not too much: ratios that
// are equal, from other weights.
TEST(logs_of_equal_ratios_differ_by_two_units_at_most) {
  Random random(39);
  const maptree::Dataset data = fuzz::make_dataset(noise(random, 40, 12));
  const Posterior posterior({0.95, 0.5, {1, 1, 1}}, data);
  std::int64_t most = 0;
  for (int round = 0; round < 200'000; ++round) {
    const auto a = random.between<std::int64_t>(1, 1000), b = random.between<std::int64_t>(1, 1000);
    const auto first = random.between<std::int64_t>(1, 1'000'000),
               second = random.between<std::int64_t>(1, 1'000'000);
    const Cost one = posterior.log_weight(first * a) - posterior.log_weight(first * b);
    const Cost two = posterior.log_weight(second * a) - posterior.log_weight(second * b);
    most = std::max(most, (one - two).units());
  }
  CHECK(most == 1 || most == 2);
}

TEST(the_least_cost_of_a_test_is_that_of_its_definition) {  // B5 with weights
  Random random(40);
  fuzz::Problem problem = noise(random, 40, 6);
  problem.model.test_weight = {1, 2, 3, 4, 5, 6};
  const maptree::Dataset data = fuzz::make_dataset(problem);
  const Posterior posterior({0.95, 0.5, {1, 1, 1}}, data);
  const maptree::Bounds bounds(posterior, data, {});
  CHECK_EQUAL(bounds.least_test_cost(0, 0, 5).units(), 0);
  for (int round = 0; round < 5000; ++round) {
    // Columns that are known to vary, and others that may or may not.
    std::vector<std::int64_t> known, other;
    const double most = random.one_of({4.0, 1000.0, 1e8});
    for (int n = random.between(1, 5); n > 0; --n)
      known.push_back(static_cast<std::int64_t>(random.log_uniform(1, most)));
    for (int n = random.below(4); n > 0; --n)
      other.push_back(static_cast<std::int64_t>(random.log_uniform(1, most)));
    std::int64_t sum = 0, heaviest = 0, heaviest_of_all = 0;
    for (const std::int64_t w : known) {
      sum += w;
      heaviest = std::max(heaviest, w);
    }
    heaviest_of_all = heaviest;
    for (const std::int64_t w : other) heaviest_of_all = std::max(heaviest_of_all, w);
    const Cost told = bounds.least_test_cost(sum, heaviest, heaviest_of_all);
    Cost least = Cost::infinity();
    for (unsigned there = 0; there < (1u << other.size()); ++there) {
      std::vector<std::int64_t> all = known;
      std::int64_t weight = sum;
      for (std::size_t i = 0; i < other.size(); ++i)
        if ((there >> i & 1) != 0) {
          all.push_back(other[i]);
          weight += other[i];
        }
      for (const std::int64_t w : all)
        least = std::min(least, posterior.log_weight(weight) - posterior.log_weight(w));
    }
    CHECK(told <= least);
    CHECK(told >= Cost(0));
    CHECK(told + Cost(2) >= least);  // and no more is known
  }
}

TEST(the_lone_leaf_costs_the_same_without_tables) {
  // Beyond some thousand rows by Stirling's series.
  for (const long most : {3L, 4095L, 4096L, 4097L, 5000L, 60'000L}) {
    fuzz::Problem problem;
    problem.model.x = {{0}, {1}, {1}};
    problem.model.y = {0, 1, 2};
    problem.model.weight = {most, 2, 4200};
    for (const double rho : {0.1, 1.0, 2.5, 1e6}) {
      const maptree::Prior prior{0.95, 0.5, {rho, 2 * rho, 3.0}};
      problem.model.rho = prior.rho;
      const maptree::Dataset data = fuzz::make_dataset(problem);
      const Posterior posterior(prior, data);
      const Cost right = posterior.leaf(data.class_totals()) + posterior.stop(0);
      CHECK(std::abs((maptree::lone_leaf_cost(prior, data) - right).nats()) < 5e-7);
    }
  }
}

TEST(the_lone_leaf_costs_the_nearest_unit_of_few_rows) {
  // One factor after the other, in more digits than Stirling's series is taken in.
  const auto log_rising = [](long double from, long n) {
    long double sum = 0;
    for (long t = 0; t < n; ++t) sum += std::log(from + static_cast<long double>(t));
    return sum;
  };
  for (const long n : {1L, 5L, 63L, 64L, 65L, 66L, 70L, 100L, 300L}) {
    for (const double rho : {maptree::min_rho, 0.1, 1.0, 2.5, 1e4}) {
      fuzz::Problem problem;
      problem.model.x = {{0}, {1}};
      problem.model.y = {0, 1};
      problem.model.weight = {n, 2};
      problem.model.rho = {rho, 3};
      const long double sum = static_cast<long double>(rho) + 3;
      const long double right =
          -std::log1p(-0.95L) - log_rising(rho, n) - log_rising(3, 2) + log_rising(sum, n + 2);
      CHECK(is_nearest(
          maptree::lone_leaf_cost({0.95, 0.5, problem.model.rho}, fuzz::make_dataset(problem))
              .units(),
          right));
    }
  }
}
