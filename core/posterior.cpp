#include "posterior.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace maptree {

Posterior::Posterior(const Prior& prior, const Dataset& data) {
  const std::size_t k_count = static_cast<std::size_t>(data.n_classes());
  if (!(prior.alpha > 0 && prior.alpha < 1))
    throw std::invalid_argument("alpha must lie strictly between 0 and 1");
  if (!(prior.beta >= 0 && prior.beta <= max_beta))
    throw std::invalid_argument("beta must lie between 0 and 1e6");
  if (prior.rho.size() != k_count) throw std::invalid_argument("rho must have one entry per class");
  for (const double r : prior.rho)
    if (!(r >= min_rho && r <= max_rho))
      throw std::invalid_argument("rho must lie between 1e-9 and 1e9");

  const std::size_t depths = std::min(data.n_columns(), data.n_distinct_rows()) + 3;
  for (std::size_t d = 0; d < depths; ++d) {
    const double log_p = std::log(prior.alpha) - prior.beta * std::log1p(static_cast<double>(d));
    split_.push_back(Cost::nearest(-log_p));
    stop_.push_back(Cost::nearest(-std::log1p(-std::exp(log_p))));
  }

  log_columns_.resize(data.n_features() + 1, 0);
  for (std::size_t v = 1; v < log_columns_.size(); ++v)
    log_columns_[v] =
        std::max(log_columns_[v - 1], Cost::nearest(std::log(static_cast<double>(v))).units());

  const auto total = static_cast<std::size_t>(data.total_weight());
  const double sum = std::accumulate(prior.rho.begin(), prior.rho.end(), 0.0);
  rising_.assign(total + 1, 0);
  // The running maximum and minimum keep the steps monotone even if a library's log is not.
  std::int64_t step = INT64_MIN;
  for (std::size_t n = 0; n < total; ++n) {
    step = std::max(step, Cost::nearest(std::log(static_cast<double>(n) + sum)).units());
    rising_[n + 1] = rising_[n] + step;
  }
  const std::vector<std::int64_t> class_total = [&] {
    std::vector<std::int64_t> counts(k_count);
    data.count(data.all_rows(), counts);
    return counts;
  }();
  for (std::size_t k = 0; k < k_count; ++k) {
    const auto n_k = static_cast<std::size_t>(class_total[k]);
    std::vector<std::int64_t> pure(n_k + 1, 0);
    std::vector<std::int64_t> mixed(n_k + 1, 0);
    step = INT64_MAX;
    for (std::size_t c = 0; c < n_k; ++c) {
      // log1p keeps a large rho exact where the ratio is close to one.
      const double excess = (sum - prior.rho[k]) / (static_cast<double>(c) + prior.rho[k]);
      step = std::min(step, Cost::nearest(std::log1p(excess)).units());
      pure[c + 1] = pure[c] + step;
      mixed[c + 1] = rising_[c + 1] - pure[c + 1];
    }
    pure_.push_back(std::move(pure));
    mixed_.push_back(std::move(mixed));
  }
  // A part of the rows never costs more than all of them (its likelihood is a marginal of theirs),
  // so this one check keeps every cost the search can form inside the range of Cost.
  if (leaf(class_total).units() >= (std::int64_t{1} << 58))
    throw std::invalid_argument("too many rows and classes: the cost of one leaf would overflow");
  if (k_count == 2) fill_two_class_table();
}

void Posterior::fill_two_class_table() {
  constexpr std::size_t most = 192;  // 192 x 192 entries of 16 bytes stay in a second-level cache
  for (std::size_t k = 0; k < 2; ++k)
    two_class_.limit[k] = static_cast<std::int32_t>(std::min(most, pure_[k].size()));
  two_class_.stride = two_class_.limit[1] | 1;
  two_class_.entries.resize(2 * static_cast<std::size_t>(two_class_.limit[0]) *
                            static_cast<std::size_t>(two_class_.stride));
  for (std::int64_t a = 0; a < two_class_.limit[0]; ++a) {
    for (std::int64_t b = 0; b < two_class_.limit[1]; ++b) {
      const auto at = static_cast<std::size_t>(2 * (a * two_class_.stride + b));
      const std::int64_t counts[] = {a, b};
      two_class_.entries[at] = (pure(0, a) + pure(1, b)).units();
      two_class_.entries[at + 1] = leaf(counts).units();
    }
  }
}

Cost Posterior::leaf(std::span<const std::int64_t> counts) const {
  std::int64_t n = 0;
  std::int64_t mixed = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    n += counts[k];
    mixed += mixed_[k][static_cast<std::size_t>(counts[k])];
  }
  return Cost(rising_[static_cast<std::size_t>(n)] - mixed);
}

Cost Posterior::group_floor(std::span<const std::int32_t> counts) const {
  double n = 0;
  for (const std::int32_t c : counts) n += c;
  double nats = 0;
  for (const std::int32_t c : counts)
    if (c > 0) nats -= c * std::log(c / n);
  // A leaf with the group and one without differ by n steps of `rising` (each rounded by half
  // a unit at most) and n of `mixed` (by one): 2 n units cover both.
  return std::max(Cost(0), Cost::below(nats) - Cost(2 * static_cast<std::int64_t>(n)));
}

std::size_t Posterior::bytes() const {
  std::size_t entries = rising_.size() + log_columns_.size() + split_.size() + stop_.size();
  for (const auto& table : pure_) entries += 2 * table.size();
  entries += two_class_.entries.size();
  return entries * sizeof(std::int64_t);
}

}  // namespace maptree
