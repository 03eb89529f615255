// Posterior: the tables are the model, and what the bounds rest on holds between their integers.
#include "model/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "check.hpp"
#include "model/tree.hpp"
#include "problem.hpp"
#include "turned_clock.hpp"

using fuzz::Random;
using maptree::Cost;
using maptree::Posterior;
using maptree::Prior;

namespace {

// Class counts are all a leaf knows: one row a class, weighted, and one column that varies.
maptree::Dataset data_of(const std::vector<long>& class_totals) {
  fuzz::Problem problem;
  problem.model.rho.assign(class_totals.size(), 1);
  for (std::size_t k = 0; k < class_totals.size(); ++k) {
    problem.model.x.push_back({k == 0 ? 0 : 1});
    problem.model.y.push_back(static_cast<int>(k));
    problem.model.weight.push_back(class_totals[k]);
  }
  return fuzz::make_dataset(problem);
}

std::vector<double> random_rho(Random& random, std::size_t n_classes) {
  std::vector<double> rho(n_classes, random.log_uniform(0.1, 20));
  const int kind = random.below(5);
  for (double& r : rho) {
    if (kind == 1) r = 1e-6;
    if (kind == 2) r = 1e6;
    if (kind == 3) r = random.log_uniform(0.1, 20);
    if (kind == 4) r = random.one_of({maptree::min_rho, 1e-6, 0.3, 1e6, maptree::max_rho});
  }
  return rho;
}

// -log(B(c + rho) / B(rho)).
double exact_leaf(const std::vector<std::int64_t>& c, const std::vector<double>& rho) {
  long double cost = 0, n = 0, sum = 0;
  for (std::size_t k = 0; k < c.size(); ++k) {
    const long double r = rho[k], count = static_cast<long double>(c[k]);
    cost -= std::lgamma(count + r) - std::lgamma(r);
    n += count;
    sum += r;
  }
  return static_cast<double>(cost + std::lgamma(n + sum) - std::lgamma(sum));
}

std::vector<std::int64_t> random_counts(Random& random, const std::vector<long>& most) {
  std::vector<std::int64_t> counts;
  const int kind = random.below(3);  // all of it, few, anything
  for (const long n : most)
    counts.push_back(kind == 0 ? n - random.below(std::min(n, 2L) + 1)
                               : random.below((kind == 1 ? std::min(n, 3L) : n) + 1));
  return counts;
}

Cost sum_of_pure(const Posterior& posterior, const std::vector<std::int64_t>& counts) {
  Cost sum;
  for (std::size_t k = 0; k < counts.size(); ++k)
    sum += posterior.pure(static_cast<int>(k), counts[k]);
  return sum;
}

}  // namespace

TEST(leaf_costs_are_the_beta_function_ratio) {
  Random random(21);
  for (int round = 0; round < 60; ++round) {
    std::vector<long> totals(random.between<std::size_t>(1, 5));
    for (long& n : totals) n = random.between(1L, 60L);
    Prior prior;
    prior.rho = random_rho(random, totals.size());
    const Posterior posterior(prior, data_of(totals));
    for (int i = 0; i < 200; ++i) {
      const std::vector<std::int64_t> counts = random_counts(random, totals);
      CHECK(std::abs(posterior.leaf(counts).nats() - exact_leaf(counts, prior.rho)) < 1e-7);
    }
  }
}

TEST(pure_costs_are_leaves_of_one_class) {
  Random random(22);
  const std::vector<long> totals = {40, 1, 300};
  Prior prior;
  prior.rho = {0.7, 3, 11};
  const Posterior posterior(prior, data_of(totals));
  CHECK_EQUAL(posterior.leaf(std::vector<std::int64_t>{0, 0, 0}).units(), 0);
  for (int k = 0; k < 3; ++k) {
    for (std::int64_t c = 0; c <= totals[static_cast<std::size_t>(k)]; ++c) {
      std::vector<std::int64_t> counts(3, 0);
      counts[static_cast<std::size_t>(k)] = c;
      CHECK_EQUAL(posterior.leaf(counts).units(), posterior.pure(k, c).units());
      CHECK_EQUAL(posterior.pure_table(k)[c], posterior.pure(k, c).units());
      CHECK_EQUAL(posterior.mixed_table(k)[c],
                  posterior.rising_table()[c] - posterior.pure_table(k)[c]);
    }
  }
}

TEST(the_table_of_two_classes_holds_the_same_costs) {
  for (const auto& totals : {std::vector<long>{30, 7}, {1, 400}, {250, 250}}) {
    const Posterior posterior({0.95, 0.5, {0.4, 9}}, data_of(totals));
    const Posterior::TwoClassTable& table = posterior.two_class_table();
    for (std::size_t k = 0; k < 2; ++k) CHECK(table.limit[k] <= totals[k] + 1);
    CHECK(table.limit[0] > 1 && table.limit[1] > 1 && table.stride >= table.limit[1]);
    for (std::int64_t a = 0; a < table.limit[0]; ++a) {
      for (std::int64_t b = 0; b < table.limit[1]; ++b) {
        const auto at = static_cast<std::size_t>(2 * (a * table.stride + b));
        const std::vector<std::int64_t> counts = {a, b};
        CHECK_EQUAL(table.entries[at], sum_of_pure(posterior, counts).units());
        CHECK_EQUAL(table.entries[at + 1], posterior.leaf(counts).units());
      }
    }
  }
}

TEST(mixing_classes_never_pays) {  // P1, in integers
  Random random(23);
  for (int round = 0; round < 100; ++round) {
    std::vector<long> totals(random.between<std::size_t>(1, 6));
    for (long& n : totals) n = random.between(1L, 500L);
    Prior prior;
    prior.rho = random_rho(random, totals.size());
    const Posterior posterior(prior, data_of(totals));
    for (int i = 0; i < 300; ++i) {
      const std::vector<std::int64_t> counts = random_counts(random, totals);
      CHECK(posterior.leaf(counts) >= sum_of_pure(posterior, counts));
    }
  }
}

TEST(parting_one_class_never_pays) {  // P2, in integers
  Random random(24);
  for (int round = 0; round < 40; ++round) {
    const std::vector<long> totals = {200, 3};
    Prior prior;
    prior.rho = random_rho(random, 2);
    const Posterior posterior(prior, data_of(totals));
    for (std::int64_t a = 0; a <= 200; ++a)
      for (std::int64_t b = 0; a + b <= 200; ++b)
        CHECK(posterior.pure(0, a + b) <= posterior.pure(0, a) + posterior.pure(0, b));
  }
}

TEST(a_group_adds_at_least_its_floor_to_any_leaf) {  // the fixed-point claim of group_floor
  Random random(25);
  for (int round = 0; round < 300; ++round) {
    const std::size_t n_classes = random.between<std::size_t>(2, 5);
    std::vector<std::int32_t> group(n_classes);
    const std::int32_t largest = random.one_of({1, 3, 50, 2000});
    for (std::int32_t& c : group) c = random.below(largest + 1);
    group[0] += 1;
    // The closest call: a prior, or a rest, in the proportions of the group, and as strong as can
    // be. Even there the roundings of the tables stay within what the group really adds, so that no
    // test can tell whether group_floor needs its slack; the slack is there for the proof.
    Prior prior;
    prior.rho = random_rho(random, n_classes);
    const int kind = random.below(3);
    const std::int64_t copies = random.one_of({1, 30});
    const double most = *std::max_element(group.begin(), group.end());
    if (kind == 1)
      for (std::size_t k = 0; k < n_classes; ++k)
        prior.rho[k] = std::max(maptree::min_rho, maptree::max_rho * group[k] / most);
    std::vector<long> totals(n_classes);
    for (std::size_t k = 0; k < n_classes; ++k)
      totals[k] = (kind == 2 ? copies + 1 : 1) * group[k] + (kind == 2 ? 0 : random.below(100L));
    const Posterior posterior(prior, data_of(totals));
    maptree::Pattern pattern;
    for (std::size_t k = 0; k < n_classes; ++k)
      if (group[k] > 0) pattern.push_back({static_cast<std::int32_t>(k), group[k]});
    const Cost floor = posterior.group_floor(pattern);
    for (int i = 0; i < 20; ++i) {
      std::vector<long> room(n_classes);
      for (std::size_t k = 0; k < n_classes; ++k) room[k] = totals[k] - group[k];
      const std::vector<std::int64_t> rest = random_counts(random, room);
      std::vector<std::int64_t> whole = rest;
      for (std::size_t k = 0; k < n_classes; ++k) whole[k] += group[k];
      CHECK(posterior.leaf(whole) >= posterior.leaf(rest) + floor);
      CHECK(posterior.leaf(whole) >= sum_of_pure(posterior, rest) + floor);
    }
    // And it is worth having: the maximum likelihood cost but for rounding.
    const double n = std::accumulate(group.begin(), group.end(), 0.0);
    double entropy = 0;
    for (const std::int32_t c : group)
      if (c > 0) entropy -= c * std::log(c / n);
    CHECK(floor.nats() <= entropy);
    CHECK(floor.nats() >= entropy - 1e-8 - n * 1e-9);
  }
}

TEST(prior_tables_are_the_formulas) {
  Random random(26);
  fuzz::Problem problem;
  for (int r = 0; r < 40; ++r) {
    problem.model.x.push_back(std::vector<int>(30));
    for (int& value : problem.model.x.back()) value = random.below(2);
    problem.model.y.push_back(r % 2);
    problem.model.weight.push_back(1);
  }
  const maptree::Dataset data = fuzz::make_dataset(problem);
  for (int round = 0; round < 100; ++round) {
    Prior prior{random.one_of({1e-300, 1e-3, 0.95, 1 - 1e-15, random.uniform()}),
                random.one_of({0.0, 0.5, 8.0, random.uniform()}),
                {2.5, 2.5}};
    const Posterior posterior(prior, data);
    CHECK(posterior.max_depth() >= data.n_columns());
    for (std::size_t d = 0; d <= posterior.max_depth(); ++d) {
      const double log_p =
          std::log(prior.alpha) - prior.beta * std::log(1.0 + static_cast<double>(d));
      CHECK(std::abs(posterior.split(d).nats() + log_p) < 1e-9);
      CHECK(std::abs(posterior.stop(d).nats() + std::log1p(-std::exp(log_p))) < 1e-9);
    }
    CHECK_EQUAL(posterior.split(1000).units(), posterior.split(posterior.max_depth()).units());
    for (std::int64_t v = 1; v <= 30; ++v)
      CHECK(std::abs(posterior.log_weight(v).nats() - std::log(static_cast<double>(v))) < 1e-9);
  }
}

TEST(every_prior_that_is_accepted_has_costs_in_range) {
  const maptree::Dataset data = data_of({20, 20});
  for (const double alpha : {std::numeric_limits<double>::denorm_min(), 1e-300, 0.5, 1 - 0x1p-53})
    for (const double beta : {0.0, 1e3, 1e6, 1e9, 1e18, 1e300})
      for (const double rho : {maptree::min_rho, maptree::max_rho}) {
        try {
          const Posterior posterior({alpha, beta, {rho, rho}}, data);
          for (std::size_t d = 0; d <= posterior.max_depth(); ++d) {
            CHECK(posterior.split(d) >= Cost(0) && posterior.split(d).finite());
            CHECK(posterior.stop(d) >= Cost(0) && posterior.stop(d).finite());
          }
          CHECK(posterior.leaf(std::vector<std::int64_t>{20, 20}) >= Cost(0));
        } catch (const std::invalid_argument&) {
          CHECK(beta > 1e3);  // to refuse is fine where nobody asks
        }
      }
}

TEST(posterior_refuses_a_prior_out_of_range) {
  const maptree::Dataset data = data_of({2, 3});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto make = [&](double alpha, double beta, std::vector<double> rho) {
    return Posterior({alpha, beta, std::move(rho)}, data);
  };
  CHECK_EQUAL(make(0.5, 0, {1, 1}).n_classes(), 2);
  for (const double alpha : {0.0, 1.0, -0.5, 1.5, nan, infinity})
    CHECK_THROWS(std::invalid_argument, make(alpha, 0.5, {1, 1}));
  for (const double beta : {-1e-9, nan, infinity})
    CHECK_THROWS(std::invalid_argument, make(0.5, beta, {1, 1}));
  for (const double rho : {0.0, -1.0, 1e-10, 1e10, nan, infinity})
    CHECK_THROWS(std::invalid_argument, make(0.5, 0.5, {1, rho}));
  CHECK_THROWS(std::invalid_argument, make(0.5, 0.5, {1}));
  CHECK_THROWS(std::invalid_argument, make(0.5, 0.5, {1, 1, 1}));
  CHECK_THROWS(std::invalid_argument, make(0.5, 0.5, {}));
}

// At whichever reading of the clock: tables with entries that are not filled would make every cost
// that is read from them wrong.
TEST(tables_that_are_not_filled_are_not_complete) {
  const maptree::Dataset data = data_of({100'000, 170'000});
  const Prior prior{0.95, 0.5, {1, 2}};
  const auto fill = [&](const TurnedClock& clock) {
    maptree::Control control(clock.limits());
    maptree::Watch watch(control);
    const Posterior posterior(prior, data, watch);
    CHECK_EQUAL(posterior.complete(), !watch.stopped());
    return posterior.complete();
  };
  const TurnedClock counted;
  CHECK(fill(counted));
  CHECK(counted.n_readings() > 5);  // in the table of all rows, and in those of both classes
  for (std::int64_t late_from = 0; late_from < counted.n_readings(); ++late_from)
    CHECK(!fill(TurnedClock(late_from)));
}

TEST(a_tree_that_tests_a_column_which_is_not_there_has_no_cost) {
  fuzz::Problem problem;
  problem.model.x = {{0, 1, 0}, {0, 1, 1}, {1, 1, 1}};  // the second is constant
  problem.model.y = {0, 1, 0};
  problem.model.weight = {1, 1, 1};
  const maptree::Dataset data = fuzz::make_dataset(problem);
  const Posterior posterior(fuzz::make_prior(problem), data);
  const auto cost = [&](std::int32_t feature) {
    return maptree::score({{feature, -1, -1}, {1, -1, -1}, {2, -1, -1}, {}}, data, posterior);
  };
  CHECK(cost(0).subtree[0] > Cost(0));
  CHECK(cost(2).subtree[0] > Cost(0));
  CHECK_THROWS(std::logic_error, cost(1));  // the first number beyond those of its tests
  CHECK_THROWS(std::logic_error, cost(3));
}
