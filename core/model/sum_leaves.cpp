#include "model/sum_leaves.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

namespace maptree {

namespace {

// What a leaf may cost by the tables, at most, all leaves of a tree together: below Cost's range.
constexpr double most_nats = 0x1p26;
constexpr const char* too_many_rows = "too many rows: the cost of a tree would overflow";
constexpr const char* too_many_events = "too many events: the cost of a tree would overflow";
// What rounding may take from a cost, in units: of the table, of the second term, and of the sums
// in doubles behind it, which is relative to it.
constexpr double rounding = 4;
constexpr double relative_rounding = 0x1p-46;

// By Stirling's series, from 32 on: the error is below that of a double.
double log_gamma(double x) {
  double below = 0;
  for (; x < 32; ++x) below += std::log(x);
  const double r = 1 / (x * x);
  return (x - 0.5) * std::log(x) - x + 0.5 * std::log(2 * std::numbers::pi) +
         (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r / 1680))) / x - below;
}

const LogTables& log_tables() {
  static const LogTables tables = [] {
    LogTables out;
    for (int i = 0; i < LogTables::size; ++i) {
      const double middle = 1 + (i + 0.5) / LogTables::size;
      out.inverse[i] = 1 / middle;
      out.log[i] = -std::log(out.inverse[i]);
    }
    return out;
  }();
  return tables;
}

// The terms of a leaf of n rows that do not depend on the sums.
double of_rows(const NumberLeaves& m, double n) {
  return n / 2 * std::log(std::numbers::pi * m.nu * m.lambda) + 0.5 * std::log1p(n / m.kappa) +
         log_gamma(m.nu / 2) - log_gamma((m.nu + n) / 2);
}
// Of a leaf of so many events.
double of_events(const CountLeaves& m, double y) {
  return log_gamma(m.shape) - log_gamma(m.shape + y) + y * std::log(m.rate);
}

// Of rows in the order of their values, before a place: their weight, sum, and sum of squares about
// the middle one, which keeps the differences of these sums exact enough.
struct ValueSums {
  double weight, sum, squares;
};

void refuse_unless(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

[[nodiscard]] bool within(double x, double least, double most) { return x >= least && x <= most; }

}  // namespace

bool closest_rows(std::span<const Dataset::Value> values, std::vector<std::int64_t>& at,
                  std::vector<double>& squares, Watch& watch) {
  using Sums = ValueSums;
  std::vector<Sums> before(values.size() + 1);
  const double middle = static_cast<double>(values[values.size() / 2].value);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double v = static_cast<double>(values[i].value) - middle;
    const double w = static_cast<double>(values[i].weight);
    before[i + 1] = {before[i].weight + w, before[i].sum + w * v, before[i].squares + w * v * v};
  }
  const auto all = static_cast<std::int64_t>(before.back().weight);
  at.clear();
  squares.clear();
  constexpr std::int64_t one_by_one = 32;
  for (std::int64_t n = 1; n <= all; n = n < one_by_one ? n + 1 : n + n / 7) {
    if (watch.poll(static_cast<std::int64_t>(8 * values.size()))) return false;
    // The closest n rows are neighbours. Where the first and the last value are both there in part,
    // the sum of squares is concave in how many of one are exchanged for the other: so one of them
    // is there in full, or not at all.
    const auto want = static_cast<double>(n);
    double least = HUGE_VAL;
    const auto look = [&](const Sums& whole, double weight, double v) {
      // Whole values, and `weight` rows of the value v.
      const double sum = whole.sum + weight * v, of = whole.squares + weight * v * v;
      least = std::min(least, of - sum * sum / want - 0x1p-50 * of);  // less what rounding adds
    };
    const auto minus = [](const Sums& a, const Sums& b) {
      return Sums{a.weight - b.weight, a.sum - b.sum, a.squares - b.squares};
    };
    const auto value = [&](std::size_t i) { return static_cast<double>(values[i].value) - middle; };
    // From the i-th value on, upwards; and from it on, downwards.
    std::size_t up = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      while (up < values.size() && before[up + 1].weight - before[i].weight <= want) ++up;
      const Sums whole = minus(before[up], before[i]);
      if (whole.weight == want)
        look(whole, 0, 0);
      else if (up < values.size())
        look(whole, want - whole.weight, value(up));
    }
    std::size_t down = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {  // the last value is the i-th
      while (before[i + 1].weight - before[down].weight > want) ++down;
      const Sums whole = minus(before[i + 1], before[down]);
      if (whole.weight == want)
        look(whole, 0, 0);
      else if (down > 0 && down <= i + 1)
        look(whole, want - whole.weight, value(down - 1));
    }
    at.push_back(n);
    squares.push_back(std::max(0.0, least));
  }
  return true;
}

void SumLeaves::check(const LeafModel& model, const Dataset& data) {
  refuse_unless(data.has_amounts() == !std::holds_alternative<std::monostate>(model),
                "amounts need a prior for numbers or counts, and the other way round");
  if (const auto* m = std::get_if<NumberLeaves>(&model)) {
    refuse_unless(within(m->kappa, 1e-6, 1e6), "kappa must lie between 1e-6 and 1e6");
    refuse_unless(within(m->nu, 1e-3, 1e6), "nu must lie between 0.001 and 1e6");
    refuse_unless(within(m->lambda, 1e-9, 1e6), "lambda must lie between 1e-9 and 1e6");
    refuse_unless(within(m->steps, 1, 0x1p20), "steps must lie between 1 and 2^20");
  }
  if (const auto* m = std::get_if<CountLeaves>(&model)) {
    refuse_unless(within(m->shape, 1e-6, 1e9), "shape must lie between 1e-6 and 1e9");
    refuse_unless(within(m->rate, 1e-12, 1e12), "rate must lie between 1e-12 and 1e12");
    refuse_unless(within(m->units, 1, 0x1p20), "units must lie between 1 and 2^20");
    refuse_unless(data.values().empty() || data.values().front().value >= 0,
                  "counts must not be negative");
    refuse_unless(data.amount_totals().of[0] <= max_total_weight, "too many events: 2^25 at most");
    // B8 needs a greatest rate.
    for (const Segment& segment : data.segments())
      for (std::size_t i = 0; i < segment.n_rows; ++i) {
        const Amounts& row = data.amounts(segment.first_word * word_bits + i);
        refuse_unless(row.of[0] == 0 || row.of[1] > 0, "a row with events needs an exposure");
      }
  }
}

SumLeaves::SumLeaves(const LeafModel& model, const Dataset& data, Watch& watch) {
  check(model, data);
  costs_.logs = &log_tables();
  complete_ = std::visit([&](const auto& m) { return fill(m, data, watch); }, model);
  costs_.table = table_.data();
}

bool SumLeaves::fill(const NumberLeaves& m, const Dataset& data, Watch& watch) {
  const std::int64_t n_all = data.total_weight();
  costs_.kappa = m.kappa;
  costs_.scale = 1 / (m.steps * m.steps * m.nu * m.lambda);
  costs_.coefficient = m.nu / 2 * Cost::units_per_nat;
  costs_.per_t = 0.5 * Cost::units_per_nat;

  std::vector<std::int64_t> at;
  std::vector<double> squares;
  if (!closest_rows(data.values(), at, squares, watch)) return false;
  // The least that a row adds to a leaf of n rows, for every n.
  const double all_squares = static_cast<double>(data.amount_totals().of[1]) * costs_.scale;
  const double in_squares = 0x1p-50 * all_squares;
  PageVector<double> rows(static_cast<std::size_t>(n_all) + 1);
  double least = HUGE_VAL;
  for (std::size_t i = 0, n = 1; n < rows.size(); ++n) {
    if (n % 4096 == 0 && watch.poll(4096 * 60)) return false;
    while (i + 1 < at.size() && at[i + 1] <= static_cast<std::int64_t>(n)) ++i;
    const auto size = static_cast<double>(n);
    rows[n] = of_rows(m, size);
    const double spread = (m.nu + size) / 2 * std::log1p(squares[i] * costs_.scale);
    const double cost = rows[n] + spread;
    const double error = rounding / Cost::units_per_nat +
                         relative_rounding * (std::abs(rows[n]) + spread + size) +
                         (m.nu + size) / 2 * in_squares;
    least = std::min(least, (cost - error) / size);
  }
  // Before it is a Cost: where one number is large next to lambda, rounding may take any amount.
  refuse_unless(static_cast<double>(n_all) * std::abs(least) < most_nats, too_many_rows);
  const Cost floor = Cost::below(least);
  offset_ = Cost(floor.units() * n_all);
  table_.resize(rows.size());
  double most = 0;
  for (std::size_t n = 1; n < rows.size(); ++n) {
    if (n % 4096 == 0 && watch.poll(4096 * 10)) return false;
    const auto size = static_cast<double>(n);
    table_[n] = Cost::nearest(rows[n]).units() - floor.units() * static_cast<std::int64_t>(n);
    most = std::max(most, Cost(table_[n]).nats() / size);
  }
  // No tree costs more than this: each of its leaves has a row.
  const double all = static_cast<double>(n_all) *
                     (most + (m.nu + 1) / 2 * std::log1p(all_squares) + std::abs(least));
  refuse_unless(all < most_nats, too_many_rows);
  return true;
}

bool SumLeaves::fill(const CountLeaves& m, const Dataset& data, Watch& watch) {
  const std::int64_t events = data.amount_totals().of[0];
  costs_.of_counts = true;
  costs_.scale = 1 / (m.units * m.rate);
  costs_.coefficient = m.shape * Cost::units_per_nat;
  costs_.per_t = Cost::units_per_nat;
  // The greatest rate of any row bounds the likelihood of an event.
  double fastest = 0;
  for (const Segment& segment : data.segments())
    for (std::size_t i = 0; i < segment.n_rows; ++i) {
      const Amounts& row = data.amounts(segment.first_word * word_bits + i);
      fastest = std::max(fastest, static_cast<double>(row.of[0]) * m.units /
                                      static_cast<double>(std::max<std::int64_t>(1, row.of[1])));
    }
  const double exposure = static_cast<double>(data.amount_totals().of[1]) * costs_.scale;
  const auto all_events = static_cast<double>(events);
  double least = 0;
  if (events > 0) {
    const double size =
        std::abs(of_events(m, all_events)) + (m.shape + all_events) * (1 + std::log1p(exposure));
    least = 1 - std::log(fastest) - rounding / Cost::units_per_nat - relative_rounding * (size + 1);
  }
  refuse_unless(all_events * std::abs(least) < most_nats, too_many_events);
  const Cost floor = Cost::below(least);
  offset_ = Cost(floor.units() * events);
  table_.resize(static_cast<std::size_t>(events) + 1);
  double most = 0;
  for (std::size_t y = 0; y < table_.size(); ++y) {
    if (y % 4096 == 0 && watch.poll(4096 * 60)) return false;
    table_[y] = Cost::nearest(of_events(m, static_cast<double>(y))).units() -
                floor.units() * static_cast<std::int64_t>(y);
    if (y > 0) most = std::max(most, Cost(table_[y]).nats() / static_cast<double>(y));
  }
  const auto leaves = static_cast<double>(data.n_distinct_rows());
  const double all = all_events * (most + std::abs(least)) +
                     (m.shape * leaves + all_events) * std::log1p(exposure);
  refuse_unless(all < most_nats, too_many_events);
  return true;
}

std::size_t SumLeaves::bytes_for(const Dataset& data, const LeafModel& model) {
  if (std::holds_alternative<std::monostate>(model)) return 0;
  if (std::holds_alternative<CountLeaves>(model))
    return static_cast<std::size_t>(data.amount_totals().of[0] + 1) * sizeof(std::int64_t);
  // While it is filled: sums by value, and then what rows cost next to what they are given as.
  constexpr std::size_t of_closest = 4096;  // `at` and `squares`, a few hundred
  return std::max(sizeof(ValueSums) * (data.values().size() + 1),
                  static_cast<std::size_t>(data.total_weight() + 1) * 2 * sizeof(std::int64_t)) +
         of_closest;
}

double SumLeaves::lone_leaf(const LeafModel& model, const Dataset& data) {
  const auto n = static_cast<double>(data.total_weight());
  const auto a = static_cast<double>(data.amount_totals().of[0]);
  const auto b = static_cast<double>(data.amount_totals().of[1]);
  if (const auto* m = std::get_if<NumberLeaves>(&model)) {
    const double squares = std::max(0.0, b - a * a / (n + m->kappa)) / (m->steps * m->steps);
    return of_rows(*m, n) + (m->nu + n) / 2 * std::log1p(squares / (m->nu * m->lambda));
  }
  if (const auto* m = std::get_if<CountLeaves>(&model))
    return of_events(*m, a) + (m->shape + a) * std::log1p(b / (m->units * m->rate));
  return 0;
}

}  // namespace maptree
