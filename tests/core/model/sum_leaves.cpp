// SumLeaves: what leaves of numbers and counts cost, by their definition (docs/design/outcomes.md)
// in long double; that none costs less than 0 (B8); and what is refused.
#include "model/sum_leaves.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <stdexcept>
#include <tuple>

#include "check.hpp"
#include "counted_memory.hpp"
#include "model/posterior.hpp"
#include "problem.hpp"
#include "turned_clock.hpp"

using fuzz::Random;
using maptree::Amounts;
using maptree::Cost;
using maptree::CountLeaves;
using maptree::Dataset;
using maptree::LeafModel;
using maptree::NumberLeaves;
using maptree::SumLeaves;
using Real = long double;

namespace {

struct Row {
  std::int64_t first, second, weight;
};

// Every row is one of its own, told apart by the bits of its number.
Dataset dataset(const std::vector<Row>& rows) {
  const std::size_t n_columns = static_cast<std::size_t>(std::bit_width(rows.size()));
  maptree::PackedTable table(rows.size(), n_columns);
  std::vector<Amounts> amounts;
  std::vector<std::int64_t> weights;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < n_columns; ++c)
      table.column(c)[r / 64] |= static_cast<maptree::Word>(r >> c & 1) << (r % 64);
    amounts.push_back({{rows[r].first, rows[r].second}});
    weights.push_back(rows[r].weight);
  }
  const std::vector<std::int32_t> labels(rows.size());
  return {std::move(table),    {}, labels, weights, 1, {}, SIZE_MAX,
          maptree::no_watch(), {}, {},     amounts};
}

Row number(std::int64_t z, std::int64_t weight = 1) { return {z, z * z, weight}; }

Real leaf_of(const NumberLeaves& m, Real n, Real sum, Real squares) {
  const Real scale = static_cast<Real>(m.nu) * m.lambda, nu = m.nu, kappa = m.kappa;
  const Real s = sum / m.steps, q = squares / m.steps / m.steps - s * s / (n + kappa);
  return n / 2 * std::log(std::numbers::pi_v<Real> * scale) + std::log((kappa + n) / kappa) / 2 +
         std::lgamma(nu / 2) - std::lgamma((nu + n) / 2) + (nu + n) / 2 * std::log1p(q / scale);
}
Real leaf_of(const CountLeaves& m, Real, Real events, Real exposed) {
  const Real a = m.shape, b = m.rate, e = exposed / m.units;
  return std::lgamma(a) - std::lgamma(a + events) + events * std::log(b) +
         (a + events) * std::log1p(e / b);
}

// What a double loses on the way, relative to the largest number there is.
double tolerance(const NumberLeaves& m, double n, double sum, double squares) {
  const double scale = 1 / (m.steps * m.steps * m.nu * m.lambda);
  const double q = std::max(0.0, squares - sum * sum / (n + m.kappa));
  const double lost = scale * squares / (1 + scale * q);
  return 2e-9 + 0x1p-49 * (2 * std::abs(std::lgamma((m.nu + n) / 2)) + m.nu +
                           n * (4 + std::abs(std::log(m.nu * m.lambda))) +
                           (m.nu + n) / 2 * (1 + std::log1p(scale * q) + lost));
}
double tolerance(const CountLeaves& m, double, double events, double exposed) {
  return 2e-9 + 0x1p-49 * (2 * std::abs(std::lgamma(m.shape + events)) +
                           events * (1 + std::abs(std::log(m.rate))) +
                           (m.shape + events) * (1 + std::log1p(exposed / (m.units * m.rate))));
}

struct Sums {
  std::int64_t n = 0, first = 0, second = 0;
  Sums& operator+=(const Row& row) {
    n += row.weight;
    first += row.weight * row.first;
    second += row.weight * row.second;
    return *this;
  }
};

// What a part of the offset a leaf has: the floor of a row, or of an event.
template <class Model>
Cost offset_of(const SumLeaves& leaves, const Model&, const Dataset& data, const Sums& set) {
  const bool numbers = std::is_same_v<Model, NumberLeaves>;
  const std::int64_t all = numbers ? data.total_weight() : data.amount_totals().of[0];
  if (all == 0) return Cost(0);
  CHECK_EQUAL(leaves.offset().units() % all, 0);
  return Cost(leaves.offset().units() / all * (numbers ? set.n : set.first));
}

template <class Model>
void check_leaf(const SumLeaves& leaves, const Model& model, const Dataset& data, const Sums& set) {
  const Cost cost = leaves.leaf(set.n, set.first, set.second);
  const auto n = static_cast<double>(set.n), a = static_cast<double>(set.first),
             b = static_cast<double>(set.second);
  const double right = static_cast<double>(leaf_of(model, n, a, b));
  const double found = (cost + offset_of(leaves, model, data, set)).nats();
  if (!(std::abs(found - right) <= tolerance(model, n, a, b)))
    check::report(__FILE__, __LINE__, "a leaf of ", n, " rows, ", a, ", ", b, " costs ", found,
                  ", not ", right, ", off by ", found - right, " of ", tolerance(model, n, a, b));
}

NumberLeaves random_number_leaves(Random& random) {
  NumberLeaves m;
  const bool extreme = random.chance(0.3);
  m.kappa = extreme ? random.log_uniform(1e-6, 1e6) : random.log_uniform(0.01, 10);
  m.nu = extreme ? random.log_uniform(1e-3, 1e6) : random.log_uniform(0.5, 20);
  m.lambda = extreme ? random.log_uniform(1e-9, 1e6) : random.log_uniform(0.001, 2);
  m.steps = random.one_of({256.0, 1.0, 10.0, 0x1p20});
  return m;
}
CountLeaves random_count_leaves(Random& random) {
  CountLeaves m;
  const bool extreme = random.chance(0.3);
  m.shape = extreme ? random.log_uniform(1e-6, 1e9) : random.log_uniform(0.1, 20);
  m.rate = extreme ? random.log_uniform(1e-12, 1e12) : random.log_uniform(0.05, 20);
  m.units = random.one_of({1.0, 16.0, 65536.0, 0x1p20});
  return m;
}

std::vector<Row> random_numbers(Random& random, std::size_t n_rows) {
  const double size = random.one_of({0.0, 1.0, 3.0, 256.0, 1e5});
  const double middle = random.one_of({0.0, 0.0, 1.0, -5.0}) * size;
  const bool weights = random.chance(0.3);
  std::vector<Row> rows;
  for (std::size_t r = 0; r < n_rows; ++r) {
    const double far = random.chance(0.1) ? 20 : 1;
    const std::int64_t z = std::llround(middle + far * size * (2 * random.uniform() - 1));
    rows.push_back(number(z, weights ? random.between<std::int64_t>(1, 9) : 1));
  }
  return rows;
}
std::vector<Row> random_counts(Random& random, std::size_t n_rows, double units) {
  const double size = random.one_of({0.0, 1.0, 3.0, 100.0});
  const bool exposed = random.chance(0.6), weights = random.chance(0.3);
  std::vector<Row> rows;
  for (std::size_t r = 0; r < n_rows; ++r) {
    const std::int64_t y = std::llround(random.one_of({0.0, 1.0, 10.0}) * size * random.uniform());
    const std::int64_t e = exposed ? 1 + std::llround(units * random.log_uniform(0.01, 10)) : 1;
    rows.push_back({y, e, weights ? random.between<std::int64_t>(1, 9) : 1});
  }
  return rows;
}

template <class Model>
std::vector<Row> random_rows(Random& random, const Model& model, std::size_t n_rows) {
  if constexpr (std::is_same_v<Model, NumberLeaves>)
    return random_numbers(random, n_rows);
  else
    return random_counts(random, n_rows, model.units);
}

// Every set of rows is a leaf: it costs what the definition says, and not less than 0. False where
// these rows are refused under such a prior.
template <class Model>
bool check_every_set(Random& random, const Model& model, const std::vector<Row>& rows) {
  const Dataset data = dataset(rows);
  const auto make = [&]() -> std::unique_ptr<SumLeaves> {
    try {
      return std::make_unique<SumLeaves>(LeafModel(model), data, maptree::no_watch());
    } catch (const std::invalid_argument&) {
      return nullptr;
    }
  };
  const std::unique_ptr<SumLeaves> leaves = make();
  if (!leaves) return false;
  CHECK(leaves->complete());
  std::vector<std::int64_t> of_set(std::size_t{1} << rows.size());
  for (std::size_t set = 1; set < of_set.size(); ++set) {
    Sums sums;
    for (std::size_t r = 0; r < rows.size(); ++r)
      if ((set >> r & 1) != 0) sums += rows[r];
    of_set[set] = leaves->leaf(sums.n, sums.first, sums.second).units();
    CHECK(of_set[set] >= 0);
    check_leaf(*leaves, model, data, sums);
  }
  // Random partitions: no tree costs less than nothing, nor more than fits.
  for (int round = 0; round < 20; ++round) {
    std::vector<std::size_t> part(random.between<std::size_t>(1, 4));
    for (std::size_t r = 0; r < rows.size(); ++r)
      part[random.below(part.size())] |= std::size_t{1} << r;
    Cost sum;
    for (const std::size_t set : part)
      if (set != 0) sum += Cost(of_set[set]);
    CHECK(sum >= Cost(0) && sum.units() < (std::int64_t{1} << 58));
  }
  const Cost lone = Cost::nearest(SumLeaves::lone_leaf(LeafModel(model), data));
  const Cost all = Cost(of_set.back()) + leaves->offset();
  Sums sums;
  for (const Row& row : rows) sums += row;
  CHECK(std::abs((lone - all).nats()) <= tolerance(model, static_cast<double>(sums.n),
                                                   static_cast<double>(sums.first),
                                                   static_cast<double>(sums.second)));
  return true;
}

}  // namespace

TEST(leaves_of_numbers_and_counts_cost_what_is_defined_and_not_less_than_nothing) {
  Random random(71);
  int n_numbers = 0, n_counts = 0, n_refused = 0;
  for (int round = 0; round < 1500; ++round) {
    const std::size_t n_rows = random.between<std::size_t>(1, 7);
    bool made;
    if (round % 2 == 0) {
      const NumberLeaves model = random_number_leaves(random);
      made = check_every_set(random, model, random_rows(random, model, n_rows));
      n_numbers += made;
    } else {
      const CountLeaves model = random_count_leaves(random);
      made = check_every_set(random, model, random_rows(random, model, n_rows));
      n_counts += made;
    }
    n_refused += made ? 0 : 1;
    if (check::failures > 0) {
      std::cout << "round " << round << '\n';
      return;
    }
  }
  CHECK(n_numbers > 500 && n_counts > 500 && n_refused < 400);
}

// Rows of the same value in every proportion are what is the closest to the floor.
TEST(floors_hold_for_rows_of_equal_values) {
  Random random(72);
  for (int round = 0; round < 300; ++round) {
    NumberLeaves model = random_number_leaves(random);
    model.nu = std::min(model.nu, 100.0);
    const std::int64_t z = random.between<std::int64_t>(-300, 300);
    const std::vector<Row> rows = {
        number(z, random.between<std::int64_t>(1, 3000)),
        number(z + random.below<std::int64_t>(3), random.between<std::int64_t>(1, 40))};
    const Dataset data = dataset(rows);
    const SumLeaves leaves(model, data, maptree::no_watch());
    for (std::int64_t a = 0; a <= rows[0].weight; a += 1 + a / 50)
      for (std::int64_t b = 0; b <= rows[1].weight; ++b) {
        if (a + b == 0) continue;
        Sums sums;
        sums += number(rows[0].first, a);
        sums += number(rows[1].first, b);
        CHECK(leaves.leaf(sums.n, sums.first, sums.second) >= Cost(0));
        check_leaf(leaves, model, data, sums);
      }
    if (check::failures > 0) return;
  }
}

// One event at the greatest rate of all: the likelihood that the floor is about.
TEST(floors_hold_at_the_greatest_rate) {
  Random random(73);
  for (int round = 0; round < 300; ++round) {
    CountLeaves model = random_count_leaves(random);
    const std::int64_t fast = random.between<std::int64_t>(1, 5000);
    const std::int64_t exposure = random.one_of<std::int64_t>({1, 3, 65536});
    // So that the rate of the leaf is nearly certain to be that of these rows.
    if (round % 2 == 0) {
      model.shape = random.log_uniform(1, 1e6);
      model.rate =
          model.shape * static_cast<double>(exposure) / model.units / static_cast<double>(fast);
      if (model.rate < 1e-12 || model.rate > 1e12) continue;
    }
    const std::vector<Row> rows = {{fast, exposure, 5}, {0, exposure, 1}, {1, exposure, 3}};
    const Dataset data = dataset(rows);
    try {
      const SumLeaves leaves(model, data, maptree::no_watch());
      for (std::int64_t a = 0; a <= 1; ++a)
        for (std::int64_t b = 0; b <= 1; ++b)
          for (std::int64_t c = 0; c <= 1; ++c) {
            if (a + b + c == 0) continue;
            Sums sums;
            if (a > 0) sums += rows[0];
            if (b > 0) sums += rows[1];
            if (c > 0) sums += rows[2];
            CHECK(leaves.leaf(sums.n, sums.first, sums.second) >= Cost(0));
            check_leaf(leaves, model, data, sums);
          }
    } catch (const std::invalid_argument&) {
    }
    if (check::failures > 0) return;
  }
}

// All sizes of leaves, up to a table of many rows.
TEST(leaves_of_many_rows_cost_what_is_defined) {
  Random random(74);
  for (const std::int64_t n_all : {1, 2, 31, 32, 33, 1000, 100'000}) {
    for (const bool usual : {true, false}) {
      NumberLeaves numbers;
      if (!usual) numbers = {1e-3, 0.01, 1e-4, 256};
      CountLeaves counts;
      if (!usual) counts = {1e-3, 300, 65536};
      const std::vector<Row> z = {number(-200, n_all), number(310, n_all / 2), number(9000, 1)};
      const std::vector<Row> y = {{0, 65536, n_all}, {3, 40000, n_all / 2 + 1}, {77, 100, 1}};
      const Dataset of_z = dataset(z), of_y = dataset(y);
      const SumLeaves leaves_z(numbers, of_z, maptree::no_watch());
      const SumLeaves leaves_y(counts, of_y, maptree::no_watch());
      for (std::int64_t n = 1; n <= n_all; n += 1 + n / 3) {
        for (int round = 0; round < 4; ++round) {
          Sums sums_z, sums_y;
          sums_z += number(-200, n);
          sums_z += number(310, random.between<std::int64_t>(0, n_all / 2));
          sums_y += {0, 65536, n};
          sums_y += {3, 40000, random.between<std::int64_t>(0, n_all / 2)};
          if (random.chance(0.5)) {
            sums_z += number(9000);
            sums_y += {77, 100, 1};
          }
          check_leaf(leaves_z, numbers, of_z, sums_z);
          check_leaf(leaves_y, counts, of_y, sums_y);
          CHECK(leaves_z.leaf(sums_z.n, sums_z.first, sums_z.second) >= Cost(0));
          CHECK(leaves_y.leaf(sums_y.n, sums_y.first, sums_y.second) >= Cost(0));
        }
      }
    }
  }
}

// Every n is between two that are given, and the lower one bounds it.
TEST(closest_rows_are_the_closest_of_all_sets) {
  Random random(75);
  for (int round = 0; round < 500; ++round) {
    const std::size_t n_values = random.between<std::size_t>(1, 5);
    const std::int64_t size = random.one_of<std::int64_t>({2, 20, 5000, 1 << 20});
    std::map<std::int64_t, std::int64_t> weight_of;
    for (std::size_t i = 0; i < n_values; ++i)
      weight_of[random.between(-size, size)] +=
          random.between<std::int64_t>(1, round % 3 == 0 ? 12 : 3);
    std::vector<Dataset::Value> values;
    std::int64_t all = 0;
    for (const auto& [value, weight] : weight_of) {
      values.push_back({value, weight});
      all += weight;
    }
    std::vector<Real> least(static_cast<std::size_t>(all) + 1,
                            std::numeric_limits<Real>::infinity());
    const std::function<void(std::size_t, Sums)> choose = [&](std::size_t i, const Sums& sums) {
      if (i == values.size()) {
        if (sums.n == 0) return;
        const Real n = sums.n, s = sums.first, q = sums.second;
        Real& to = least[static_cast<std::size_t>(sums.n)];
        to = std::min(to, (q * n - s * s) / n);
        return;
      }
      for (std::int64_t w = 0; w <= values[i].weight; ++w) {
        Sums more = sums;
        more += number(values[i].value, w);
        choose(i + 1, more);
      }
    };
    choose(0, {});
    std::vector<std::int64_t> at;
    std::vector<double> squares;
    CHECK(maptree::closest_rows(values, at, squares, maptree::no_watch()));
    CHECK_EQUAL(at.size(), squares.size());
    CHECK_EQUAL(at.front(), 1);
    for (std::size_t i = 0; i < at.size(); ++i) {
      CHECK(i == 0 || (at[i] > at[i - 1] && squares[i] >= squares[i - 1]));
      const auto right = static_cast<double>(least[static_cast<std::size_t>(at[i])]);
      CHECK(squares[i] <= right);
      // And not much below, but for what rounding may take.
      const auto largest =
          static_cast<double>(all) * static_cast<double>(size) * 4 * static_cast<double>(size);
      CHECK(squares[i] >= right - 0x1p-45 * largest);
      const std::int64_t next = i + 1 < at.size() ? at[i + 1] : all + 1;
      for (std::int64_t n = at[i]; n < next; ++n)
        CHECK(squares[i] <= static_cast<double>(least[static_cast<std::size_t>(n)]));
      CHECK(i >= 32 || at[i] == static_cast<std::int64_t>(i) + 1);
    }
    CHECK(at.back() <= all && at.back() + at.back() / 7 + 1 > all);
    if (check::failures > 0) return;
  }
}

// Counts of shape 1 and rate 1 without events cost log(1 + x), in units: by the tables of SumCosts.
TEST(logarithms_are_within_their_error) {
  Random random(76);
  const SumLeaves leaves(CountLeaves{}, dataset({{0, 1, 1}}), maptree::no_watch());
  maptree::SumCosts costs = leaves.costs();
  costs.coefficient = 0x1p51;  // so that an error of 2^-51 is a unit
  costs.per_t = 0;
  const auto check = [&](double x) {
    costs.scale = x;
    const std::int32_t n = 1;
    const std::int64_t none = 0, one = 1;
    std::int64_t out;
    costs.costs<1>(&n, &none, &one, &out);
    const Real right = std::log(static_cast<Real>(1 + x));
    const Real error = std::abs(static_cast<Real>(out) - right * 0x1p51L);
    // With half a unit by rounding; logarithms above 1 have fewer bits behind the point.
    CHECK(error <= 1 + right / 2);
  };
  for (int i = 0; i < 200'000; ++i) {
    check(random.uniform());
    check(random.log_uniform(1e-18, 1e27));
  }
  for (int i = 0; i <= 128; ++i)
    for (const double away : {-0x1p-52, 0.0, 0x1p-52}) check(std::max(0.0, i / 128.0 + away));
  check(0x1p62);
  check(1e30);
}

TEST(several_leaves_at_once_cost_what_each_does) {
  Random random(77);
  for (const bool counts : {false, true}) {
    const std::vector<Row> rows =
        counts ? random_counts(random, 200, 16) : random_numbers(random, 200);
    const SumLeaves leaves(counts ? LeafModel(CountLeaves{2, 0.5, 16}) : LeafModel(NumberLeaves{}),
                           dataset(rows), maptree::no_watch());
    constexpr int at_once = 32;
    for (int round = 0; round < 50; ++round) {
      std::int32_t n[at_once];
      std::int64_t a[at_once], b[at_once], cost[at_once];
      for (int l = 0; l < at_once; ++l) {
        Sums sums;
        const double share = random.uniform();
        for (const Row& row : rows)
          if (random.chance(share)) sums += row;
        n[l] = static_cast<std::int32_t>(sums.n);
        a[l] = sums.first;
        b[l] = sums.second;
      }
      leaves.costs().costs<at_once>(n, a, b, cost);
      for (int l = 0; l < at_once; ++l) CHECK_EQUAL(cost[l], leaves.leaf(n[l], a[l], b[l]).units());
    }
  }
}

TEST(priors_of_numbers_and_counts_out_of_range_are_refused) {
  const Dataset numbers = dataset({number(3), number(-2)});
  const Dataset counts = dataset({{3, 1, 1}, {0, 2, 1}});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto refused = [&](const LeafModel& model, const Dataset& data) {
    CHECK_THROWS(std::invalid_argument, SumLeaves::check(model, data));
    CHECK_THROWS(std::invalid_argument, SumLeaves(model, data, maptree::no_watch()));
    CHECK_THROWS(std::invalid_argument, maptree::Posterior({0.95, 0.5, {1}, model}, data));
  };
  refused({}, numbers);
  SumLeaves::check(NumberLeaves{}, numbers);
  SumLeaves::check(CountLeaves{}, counts);
  for (const auto& [member, least, most] :
       {std::tuple(&NumberLeaves::kappa, 1e-6, 1e6), std::tuple(&NumberLeaves::nu, 1e-3, 1e6),
        std::tuple(&NumberLeaves::lambda, 1e-9, 1e6),
        std::tuple(&NumberLeaves::steps, 1.0, 0x1p20)}) {
    for (const double wrong : {0.0, -1.0, 0.99 * least, 1.01 * most, nan, infinity, -infinity}) {
      NumberLeaves model;
      model.*member = wrong;
      refused(model, numbers);
    }
    for (const double right : {least, most}) {
      NumberLeaves model;
      model.*member = right;
      CHECK(SumLeaves(model, numbers, maptree::no_watch()).complete());
    }
  }
  for (const auto& [member, least, most] :
       {std::tuple(&CountLeaves::shape, 1e-6, 1e9), std::tuple(&CountLeaves::rate, 1e-12, 1e12),
        std::tuple(&CountLeaves::units, 1.0, 0x1p20)}) {
    for (const double wrong : {0.0, -1.0, 0.99 * least, 1.01 * most, nan, infinity, -infinity}) {
      CountLeaves model;
      model.*member = wrong;
      refused(model, counts);
    }
    for (const double right : {least, most}) {
      CountLeaves model{1, 1e3, 1};
      if (member == &CountLeaves::shape && right > 1) model.rate = 1e3 * right;
      model.*member = right;
      SumLeaves::check(model, counts);
    }
  }
  refused(CountLeaves{}, dataset({{-1, 1, 1}, {2, 1, 1}}));
  // Without exposure there is no event, and no bound on their rate.
  refused(CountLeaves{}, dataset({{0, 1, 1}, {2, 0, 1}}));
  SumLeaves::check(CountLeaves{}, dataset({{2, 1, 1}, {0, 0, 1}}));
  refused(CountLeaves{}, dataset({{maptree::max_total_weight, 1, 1}, {1, 1, 1}}));
  // Of classes there are no amounts.
  maptree::PackedTable table(2, 1);
  table.column(0)[0] = 1;
  const Dataset classes(std::move(table), std::vector<std::int32_t>{0, 0}, {}, 1);
  refused(NumberLeaves{}, classes);
  refused(CountLeaves{}, classes);
}

// Priors at the ends of their ranges, with the largest sums there may be: costs that fit, or a
// refusal, and never a number that overflows on the way.
TEST(costs_that_do_not_fit_are_refused) {
  Random random(78);
  int n_made = 0, n_refused = 0;
  const auto attempt = [&](const auto& model, const std::vector<Row>& rows) {
    (check_every_set(random, model, rows) ? n_made : n_refused) += 1;
  };
  const std::vector<std::vector<Row>> numbers = {
      {number(0), number(1)},
      {number(1 << 24), number(-(1 << 24)), number(3)},
      {number(1 << 24), number((1 << 24) - 1)},
      {number(255, 1'000'000), number(-70, 2'000'000), number(256, 40)}};
  for (const double kappa : {1e-6, 1e6})
    for (const double nu : {1e-3, 1.0, 1e6})
      for (const double lambda : {1e-9, 1.0, 1e6})
        for (const double steps : {1.0, 0x1p20})
          for (const auto& rows : numbers) attempt(NumberLeaves{kappa, nu, lambda, steps}, rows);
  const std::vector<std::vector<Row>> counts = {{{0, 1, 1}, {0, 1, 1}},
                                                {{1, 1, 1}, {0, std::int64_t{1} << 49, 1}},
                                                {{1 << 19, 1, 1}, {7, 1, 1}, {0, 1000, 20}},
                                                {{1 << 23, 1, 1}, {0, std::int64_t{1} << 49, 1}}};
  for (const double shape : {1e-6, 1.0, 1e9})
    for (const double rate : {1e-12, 1.0, 1e12})
      for (const double units : {1.0, 0x1p20})
        for (const auto& rows : counts) attempt(CountLeaves{shape, rate, units}, rows);
  CHECK(n_made > 40 && n_refused > 10);
}

TEST(amounts_that_do_not_fit_are_refused) {
  const std::int64_t large = std::int64_t{1} << 50;
  const Dataset exposed = dataset({{0, large, 1}}), below = dataset({{-large, 0, 1}});
  CHECK_EQUAL(exposed.amount_totals().of[1], large);
  CHECK_EQUAL(below.amount_totals().of[0], -large);
  CHECK_THROWS(std::invalid_argument, dataset({{0, large + 1, 1}}));
  CHECK_THROWS(std::invalid_argument, dataset({{0, large / 2, 2}, {0, 1, 1}}));
  CHECK_THROWS(std::invalid_argument, dataset({{large, 0, 1}, {-1, 0, 1}}));
  CHECK_THROWS(std::invalid_argument, dataset({{INT64_MIN, 0, 1}}));
  CHECK_THROWS(std::invalid_argument, dataset({{0, INT64_MAX, 1'000'000}}));
  CHECK_THROWS(std::invalid_argument, dataset({{0, -1, 1}}));
}

// Wherever the clock stops them, the tables are not complete.
TEST(tables_of_amounts_that_are_stopped_are_not_complete) {
  Random random(79);
  for (const bool counts : {false, true}) {
    std::vector<Row> rows = counts ? random_counts(random, 20, 1) : random_numbers(random, 20);
    rows[0].weight = 20'000;
    if (counts) rows[1].first = 20'000;
    const Dataset data = dataset(rows);
    const LeafModel model = counts ? LeafModel(CountLeaves{}) : LeafModel(NumberLeaves{});
    const auto complete = [&](const TurnedClock& clock, bool posterior) {
      maptree::Control control(clock.limits());
      maptree::Watch watch(control);
      if (posterior) return maptree::Posterior({0.95, 0.5, {1}, model}, data, watch).complete();
      return SumLeaves(model, data, watch).complete();
    };
    for (const bool posterior : {false, true}) {
      const TurnedClock counted;
      CHECK(complete(counted, posterior));
      CHECK(counted.n_readings() > 4);
      for (std::int64_t late_from = 0; late_from < counted.n_readings(); ++late_from)
        CHECK(!complete(TurnedClock(late_from), posterior));
    }
  }
}

TEST(tables_of_amounts_take_what_is_said) {
  const Dataset numbers = dataset({number(3, 1000), number(-2, 500)});
  const Dataset counts = dataset({{3, 1, 1000}, {0, 2, 1}});
  for (const auto& [model, data] :
       {std::pair<LeafModel, const Dataset*>(NumberLeaves{}, &numbers), {CountLeaves{}, &counts}}) {
    const SumLeaves leaves(model, *data, maptree::no_watch());
    CHECK(leaves.bytes() > 0 && leaves.bytes() <= SumLeaves::bytes_for(*data, model));
    const maptree::Posterior posterior({0.95, 0.5, {1}, model}, *data);
    CHECK(posterior.bytes() <= maptree::Posterior::bytes_for(*data, model));
    CHECK(posterior.offset() == leaves.offset());
  }
  CHECK_EQUAL(SumLeaves::bytes_for(numbers, {}), 0u);
  // While they are filled, too: values that all differ, and one that most rows have.
  for (const std::int64_t weight : {1, 50'000}) {
    std::vector<Row> rows;
    for (std::int64_t r = 0; r < 3000; ++r) rows.push_back(number(r));
    rows[0].weight = weight;
    const Dataset data = dataset(rows);
    const std::size_t before = counted_memory::held();
    counted_memory::start();
    const SumLeaves leaves(NumberLeaves{}, data, maptree::no_watch());
    CHECK(counted_memory::peak() - before <= SumLeaves::bytes_for(data, NumberLeaves{}));
  }
}
