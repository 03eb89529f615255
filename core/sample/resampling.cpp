#include "sample/resampling.hpp"

#include <algorithm>
#include <cmath>

namespace maptree {

namespace {

void draw_systematic(std::span<const double> weights, Random& random,
                     std::vector<std::uint32_t>& copies) {
  const auto n = static_cast<double>(weights.size());
  const double offset = random.uniform();
  double sum = 0, point = offset;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i] * n;
    for (; point < sum && point < n; point += 1) ++copies[i];
  }
  // A sum that rounding left short of its last point.
  const auto heaviest = std::max_element(weights.begin(), weights.end()) - weights.begin();
  for (; point < n; point += 1) ++copies[static_cast<std::size_t>(heaviest)];
}

void draw_multinomial(std::span<const double> weights, Random& random,
                      std::vector<std::uint32_t>& copies) {
  std::vector<double> sums(weights.size());
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) sums[i] = sum += weights[i];
  for (std::size_t draw = 0; draw < weights.size(); ++draw) {
    // The first whose sum is above the point: never one without weight. A point that rounding put
    // at the very end is drawn again.
    auto at = sums.end();
    while (at == sums.end())
      at = std::upper_bound(sums.begin(), sums.end(), random.uniform() * sum);
    ++copies[static_cast<std::size_t>(at - sums.begin())];
  }
}

}  // namespace

double log_sum_exp(std::span<const double> logs) {
  const double most = *std::max_element(logs.begin(), logs.end());
  if (most == -HUGE_VAL) return most;
  double sum = 0;
  for (const double log : logs) sum += std::exp(log - most);
  return most + std::log(sum);
}

void draw_copies(Resampling resampling, std::span<const double> weights, Random& random,
                 std::vector<std::uint32_t>& copies) {
  copies.assign(weights.size(), 0);
  if (resampling == Resampling::systematic)
    draw_systematic(weights, random, copies);
  else
    draw_multinomial(weights, random, copies);
}

}  // namespace maptree
