// Problems whose outcome is a number or a count (docs/design/outcomes.md).
#include <algorithm>
#include <cmath>

#include "problem.hpp"

namespace fuzz {

using Model = brute_force::Problem;

namespace {

// About 0, of a standard deviation of 1.
double random_normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

// Of all rows, by weight: how many there are, and their amounts.
struct Totals {
  double rows = 0, first = 0, second = 0;
};
Totals totals_of(const Model& model) {
  Totals out;
  for (std::size_t r = 0; r < model.x.size(); ++r) {
    const auto weight = static_cast<double>(model.weight[r]);
    out.rows += weight;
    if (!model.has_amounts()) continue;
    out.first += weight * static_cast<double>(std::abs(model.amount[r]));
    out.second += weight * static_cast<double>(model.second(r));
  }
  return out;
}

// What random columns say of each row, from 0 to 7.
std::vector<int> random_levels(Random& random, const Model& model) {
  std::vector<int> out(model.x.size(), 0);
  for (int i = random.between(0, 3); i > 0 && model.n_columns() > 0; --i) {
    const std::size_t column = random.below(model.n_columns());
    for (std::size_t r = 0; r < out.size(); ++r) out[r] = 2 * out[r] + model.x[r][column];
  }
  return out;
}

// Numbers as they are made of a table, and others.
void random_numbers(Random& random, Model& model) {
  const bool extreme = random.chance(0.15);
  model.kappa = extreme ? random.log_uniform(1e-6, 1e6) : random.log_uniform(0.01, 10);
  model.nu = extreme ? random.log_uniform(1e-3, 1e6) : random.log_uniform(0.5, 20);
  model.lambda = extreme ? random.log_uniform(1e-9, 1e6) : random.log_uniform(0.001, 2);
  model.steps = random.one_of({256.0, 256.0, 1.0, 16.0, 0x1p20, random.log_uniform(1, 1000)});
  const std::vector<int> levels = random_levels(random, model);
  const double noise = random.one_of({0.0, 0.01, 0.3, 1.0});
  const double step = random.one_of({0.0, 0.3, 1.0, 3.0});
  const bool ties = random.chance(0.3), outliers = random.chance(0.2), same = random.chance(0.05);
  // Sums of all squares stay below 2^50, and with so large ones two sums are not in one number.
  const double total = std::max(totals_of(model).rows, 1.0);
  const bool large = random.chance(0.15);
  const auto most = std::min(std::sqrt(0x1p49 / total), 0x1p24);
  const double scale = large ? most / 16 : model.steps > 1000 ? 256 : model.steps;
  const double middle = random.chance(0.2) ? scale * random.one_of({-3.0, 1.0, 10.0}) : 0;
  for (std::size_t r = 0; r < model.x.size(); ++r) {
    double value = step * levels[r] + noise * random_normal(random);
    if (ties) value = std::round(2 * value) / 2;
    if (outliers && random.chance(0.1)) value += random.one_of({-20.0, 20.0, 100.0});
    value = std::clamp(same ? middle : scale * value + middle, -most, most);
    model.amount.push_back(std::llround(value));
  }
}

void random_counts(Random& random, Model& model) {
  const bool extreme = random.chance(0.15);
  model.shape = extreme ? random.log_uniform(1e-6, 1e6) : random.log_uniform(0.1, 20);
  model.rate = extreme ? random.log_uniform(1e-9, 1e9) : random.log_uniform(0.05, 20);
  const bool exposed = random.chance(0.5);
  model.units = exposed ? random.one_of({65536.0, 16.0, 1.0}) : 1;
  const std::vector<int> levels = random_levels(random, model);
  const double usual = random.one_of({0.0, 0.2, 2.0, 30.0, 2000.0});
  const double step = random.one_of({0.0, 0.5, 2.0});
  const bool ties = random.chance(0.3), outliers = random.chance(0.2);
  const bool large = exposed && random.chance(0.3);
  const double total = std::max(totals_of(model).rows, 1.0);
  const auto most = std::floor(0x1p18 / total);
  const auto longest = static_cast<long long>(0x1p49 / total);
  for (std::size_t r = 0; r < model.x.size(); ++r) {
    double exposure = exposed ? model.units * random.log_uniform(0.1, 10) : 1;
    if (large) exposure *= 0x1p30;
    model.exposure.push_back(std::clamp(std::llround(exposure), 1LL, longest));
    double mean = usual * (1 + step * levels[r]) * (large ? 1 : exposure / model.units);
    if (outliers && random.chance(0.1)) mean *= 50;
    if (ties) mean = std::round(mean);
    // Spread like a count, roughly: the leaves need not know how they came about.
    if (!ties) mean += std::sqrt(mean) * random_normal(random);
    model.amount.push_back(std::llround(std::clamp(mean, 0.0, most)));
  }
}

// Whether trees may cost 2^24 nats: rows, as many leaves, each with a prior far off.
bool costs_are_large(const Model& model) {
  const Totals all = totals_of(model);
  if (model.outcome == brute_force::Outcome::counts)
    return (all.rows * model.shape + all.first) *
                   std::log1p(all.second / (model.units * model.rate)) +
               all.first * std::abs(std::log(model.rate)) >
           0x1p24;
  const double x = all.second / (model.steps * model.steps * model.nu * model.lambda);
  return all.rows * ((model.nu + 1) * (std::log1p(x) + 0x1p-48 * x) + 60) > 0x1p24;
}

}  // namespace

void random_amounts(Random& random, Problem& problem) {
  Model& model = problem.model;
  model.outcome = brute_force::Outcome::classes;  // until there are amounts
  model.rho.resize(1);
  std::fill(model.y.begin(), model.y.end(), 0);
  model.amount.clear();
  model.exposure.clear();
  const bool numbers = random.chance(0.6);
  numbers ? random_numbers(random, model) : random_counts(random, model);
  model.outcome = numbers ? brute_force::Outcome::numbers : brute_force::Outcome::counts;
  if (costs_are_large(model)) {  // some of these are refused
    const Model usual;
    model.nu = usual.nu;
    model.lambda = usual.lambda;
    model.shape = usual.shape;
    model.rate = usual.rate;
  }
}

double tolerance_of(const Problem& problem) {
  const Model& model = problem.model;
  const auto [rows, events, second] = totals_of(model);
  // A table step is rounded by half a unit; a leaf of n rows adds 3 n of them (posterior.hpp), an
  // inner node two, and there are fewer inner nodes than rows.
  const double units = 1e-8 + 4 * rows / maptree::Cost::units_per_nat;
  // What a double may be wrong by after some operations, relative to the largest on the way.
  constexpr double relative = 0x1p-49;
  const auto log_gamma = [](double x) { return std::abs(std::lgamma(x)) + x + 1; };
  if (model.outcome == brute_force::Outcome::numbers) {
    const double scale = 1 / (model.steps * model.steps * model.nu * model.lambda);
    // The sum of squares is a difference, at least kappa / (n + kappa) of the larger number.
    const double lost = std::min(scale * second, (rows + model.kappa) / model.kappa);
    const double leaf = 2 * log_gamma((model.nu + rows) / 2) + log_gamma(model.nu / 2) +
                        std::abs(std::log(model.kappa)) +
                        rows * (2 + std::abs(std::log(model.nu * model.lambda)));
    return units +
           relative * rows * (leaf + (model.nu + 1) / 2 * (1 + std::log1p(scale * second) + lost));
  }
  if (model.outcome == brute_force::Outcome::counts)
    return units + relative * (std::min(rows, events) * 2 * log_gamma(model.shape + events) +
                               events * (1 + std::abs(std::log(model.rate))) +
                               (rows * model.shape + events) *
                                   (1 + std::log1p(second / (model.units * model.rate))));
  return units;
}

}  // namespace fuzz
