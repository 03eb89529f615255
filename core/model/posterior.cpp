#include "model/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace maptree {

namespace {
constexpr std::size_t two_class_limit =
    192;  // entries of 16 bytes: the table stays in the L2 cache

// log(from (from + 1) ... (from + n - 1)): the first factors one by one, the rest by Stirling's
// series, whose error is far below a unit there. (The log-gamma function of the C library cancels
// for a large `from`, and keeps a sign in a global variable.)
double log_rising(double from, std::int64_t n) {
  constexpr std::int64_t one_by_one = 64;
  double sum = 0;
  for (std::int64_t t = 0; t < std::min(n, one_by_one); ++t)
    sum += std::log(from + static_cast<double>(t));
  if (n <= one_by_one) return sum;
  const double a = from + static_cast<double>(one_by_one);
  const double b = from + static_cast<double>(n);
  const double ratio = std::log1p((b - a) / a);
  const auto rest = [](double x) { return (1 - (1 - 2 / (7 * x * x)) / (30 * x * x)) / (12 * x); };
  // (b - 1/2) log b - b - (a - 1/2) log a + a, without the difference of large numbers.
  return sum + (b - 0.5) * ratio + (b - a) * (std::log(a) - 1) + rest(b) - rest(a);
}

// Logs of sums of weights that are in the table: |V| where there are not millions of thresholds.
[[nodiscard]] std::size_t n_logs(const Dataset& data) {
  return std::min<std::size_t>(data.n_features(), 1 << 16) + 1;
}

}  // namespace

void Posterior::check(const Prior& prior, const Dataset& data) {
  if (!(prior.alpha > 0 && prior.alpha < 1))
    throw std::invalid_argument("alpha must lie strictly between 0 and 1");
  if (!(prior.beta >= 0 && prior.beta <= max_beta))
    throw std::invalid_argument("beta must lie between 0 and 1e6");
  if (prior.rho.size() != static_cast<std::size_t>(data.n_classes()))
    throw std::invalid_argument("rho must have one entry per class");
  for (const double r : prior.rho)
    if (!(r >= min_rho && r <= max_rho))
      throw std::invalid_argument("rho must lie between 1e-9 and 1e9");
  SumLeaves::check(prior.leaves, data);
}

Posterior::Posterior(const Prior& prior, const Dataset& data, Watch& watch) : data_(data) {
  check(prior, data);
  const std::size_t depths = depths_for(data);
  for (std::size_t d = 0; d < depths; ++d) {
    const double log_p = std::log(prior.alpha) - prior.beta * std::log1p(static_cast<double>(d));
    split_.push_back(Cost::nearest(-log_p));
    stop_.push_back(Cost::nearest(-std::log1p(-std::exp(log_p))));
  }

  log_weight_.resize(n_logs(data), 0);
  for (std::size_t v = 1; v < log_weight_.size(); ++v)
    log_weight_[v] =
        std::max(log_weight_[v - 1], Cost::nearest(std::log(static_cast<double>(v))).units());
  if (data.weighted())
    for (std::size_t c = 0; c < data.n_columns(); ++c)
      test_costs_.push_back(Cost(0) - log_weight(data.test_weight(c)));
  for (const std::int32_t weight : data.ordered().weights())
    code_costs_.push_back(Cost(0) - log_weight(weight));

  const std::vector<std::int64_t>& class_total = data.class_totals();
  complete_ = fill_counts(prior, class_total, watch);
  if (!complete_) return;
  // A part of the rows never costs more than all of them (its likelihood is a marginal of theirs),
  // so this one check keeps every cost the search can form inside the range of Cost.
  if (leaf(class_total).units() >= (std::int64_t{1} << 58))
    throw std::invalid_argument("too many rows and classes: the cost of one leaf would overflow");
  if (class_total.size() == 2) fill_two_class_table();
  if (!data.has_amounts()) return;
  sum_leaves_ = std::make_shared<const SumLeaves>(prior.leaves, data, watch);
  complete_ = sum_leaves_->complete();
}

Posterior Posterior::priced(Cost price) const {
  Posterior out(*this);
  out.add_price(price);
  return out;
}

void Posterior::add_price(Cost price) {
  for (Cost& cost : split_) cost += price;
}

bool Posterior::fill_counts(const Prior& prior, std::span<const std::int64_t> class_total,
                            Watch& watch) {
  // Entry by entry, so that memory is made while it is filled and the clock is read in between: the
  // tables of 32 million rows take 768 MB, and longer than a time limit may be overrun.
  constexpr std::size_t block = 1 << 16;
  constexpr std::int64_t work = 20;  // a logarithm, and its share of new pages
  std::size_t n_filled = 0;
  const auto stopped = [&] { return ++n_filled % block == 0 && watch.poll(work * block); };
  const auto total = static_cast<std::size_t>(
      std::accumulate(class_total.begin(), class_total.end(), std::int64_t{0}));
  const double sum = std::accumulate(prior.rho.begin(), prior.rho.end(), 0.0);
  tables_->rising.resize(total + 1);
  // The running maximum and minimum keep the steps monotone even if a library's log is not.
  std::int64_t step = INT64_MIN;
  for (std::size_t n = 0; n < total; ++n) {
    if (stopped()) return false;
    step = std::max(step, Cost::nearest(std::log(static_cast<double>(n) + sum)).units());
    tables_->rising[n + 1] = tables_->rising[n] + step;
  }
  tables_->pure.resize(total + class_total.size());
  tables_->mixed.resize(total + class_total.size());
  tables_->start.reserve(class_total.size());
  std::size_t next = 0;
  for (std::size_t k = 0; k < class_total.size(); ++k) {
    const auto n_k = static_cast<std::size_t>(class_total[k]);
    tables_->start.push_back(next);
    std::int64_t* const pure = &tables_->pure[next];
    std::int64_t* const mixed = &tables_->mixed[next];
    next += n_k + 1;
    step = INT64_MAX;
    for (std::size_t c = 0; c < n_k; ++c) {
      if (stopped()) return false;
      // log1p keeps a large rho exact where the ratio is close to one.
      const double excess = (sum - prior.rho[k]) / (static_cast<double>(c) + prior.rho[k]);
      step = std::min(step, Cost::nearest(std::log1p(excess)).units());
      pure[c + 1] = pure[c] + step;
      mixed[c + 1] = tables_->rising[c + 1] - pure[c + 1];
    }
  }
  return true;
}

void Posterior::fill_two_class_table() {
  TwoClassTable& two_class = tables_->two_class;
  const std::size_t size[] = {tables_->start[1], tables_->pure.size() - tables_->start[1]};
  for (std::size_t k = 0; k < 2; ++k)
    two_class.limit[k] = static_cast<std::int32_t>(std::min(two_class_limit, size[k]));
  two_class.stride = two_class.limit[1] | 1;
  two_class.entries.resize(2 * static_cast<std::size_t>(two_class.limit[0]) *
                           static_cast<std::size_t>(two_class.stride));
  for (std::int64_t a = 0; a < two_class.limit[0]; ++a) {
    for (std::int64_t b = 0; b < two_class.limit[1]; ++b) {
      const auto at = static_cast<std::size_t>(2 * (a * two_class.stride + b));
      const std::int64_t counts[] = {a, b};
      two_class.entries[at] = (pure(0, a) + pure(1, b)).units();
      two_class.entries[at + 1] = leaf(counts).units();
    }
  }
}

Cost Posterior::leaf(std::span<const std::int64_t> sums) const {
  std::int64_t n = 0;
  std::int64_t mixed = 0;
  for (std::size_t k = 0; k < tables_->start.size(); ++k) {
    n += sums[k];
    mixed += tables_->mixed[tables_->start[k] + static_cast<std::size_t>(sums[k])];
  }
  const Cost classes(tables_->rising[static_cast<std::size_t>(n)] - mixed);
  return sum_leaves_ ? classes + sum_leaves_->leaf(n, sums[1], sums[2]) : classes;
}

Cost Posterior::group_floor(const Pattern& group) const {
  double n = 0;
  for (const ClassWeight& part : group) n += part.weight;
  double nats = 0;
  for (const ClassWeight& part : group) nats -= part.weight * std::log(part.weight / n);
  // A leaf with the group and one without differ by n steps of `rising` (each rounded by half
  // a unit at most) and n of `mixed` (by one): 2 n units cover both.
  return std::max(Cost(0), Cost::below(nats) - Cost(2 * static_cast<std::int64_t>(n)));
}

std::size_t Posterior::bytes_for(const Dataset& data, const LeafModel& leaves) {
  const auto weight = static_cast<std::size_t>(data.total_weight());
  const auto n_classes = static_cast<std::size_t>(data.n_classes());
  const std::size_t depths = depths_for(data);
  const std::size_t limit = std::min(two_class_limit, weight + 1);
  const std::size_t two_class = n_classes == 2 ? 2 * limit * (limit + 1) : 0;
  return SumLeaves::bytes_for(data, leaves) +
         sizeof(std::int64_t) *
             (3 * weight + 1 + 3 * n_classes + 2 * depths + two_class + n_logs(data) +
              (data.weighted() ? data.n_columns() : 0) + data.ordered().weights().size());
}

std::size_t Posterior::bytes() const {
  const Tables& large = *tables_;
  return own_bytes() + (sum_leaves_ ? sum_leaves_->bytes() : 0) +
         sizeof(std::int64_t) * (large.rising.size() + large.start.size() + large.pure.size() +
                                 large.mixed.size() + large.two_class.entries.size());
}

std::size_t Posterior::own_bytes() const {
  return sizeof(std::int64_t) * (log_weight_.size() + split_.size() + stop_.size() +
                                 test_costs_.size() + code_costs_.size());
}

Cost lone_leaf_cost(const Prior& prior, const Dataset& data) {
  const std::vector<std::int64_t>& counts = data.class_totals();
  double nats = data.any_varies() ? -std::log1p(-prior.alpha) : 0;
  double sum = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    nats -= log_rising(prior.rho[k], counts[k]);
    sum += prior.rho[k];
  }
  nats += log_rising(sum, data.total_weight());
  if (data.has_amounts()) return Cost::nearest(nats + SumLeaves::lone_leaf(prior.leaves, data));
  return std::max(Cost(0), Cost::nearest(nats));
}

}  // namespace maptree
