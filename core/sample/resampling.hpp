// Resampling: the weights of a filter's particles, and how many copies each gets by them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sample/random.hpp"

namespace maptree {

// systematic: as many equidistant points, with one random offset, as there are particles.
// multinomial: every copy is drawn on its own.
enum class Resampling { systematic, multinomial };

// As many copies as weights, in all; on average each in proportion to its weight. The weights sum
// to 1, up to rounding.
void draw_copies(Resampling resampling, std::span<const double> weights, Random& random,
                 std::vector<std::uint32_t>& copies);

// The log of the sum of weights given by their logs; of an island's, its estimate of the evidence.
[[nodiscard]] double log_sum_exp(std::span<const double> logs);

}  // namespace maptree
