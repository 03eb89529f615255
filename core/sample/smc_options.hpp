// What a caller may ask of the particle filters (smc.hpp).
#pragma once

#include <cstdint>

#include "sample/resampling.hpp"

namespace maptree {

// prior: stop or a column as the prior has it; the weight changes by the likelihood.
// optimal: prior times likelihood of what is decided, one step ahead; the weight changes by the sum
// over all options, whichever is drawn.
enum class SmcProposal { prior, optimal };
// What each particle decides before it may be resampled: its next open leaf, or all of a level.
enum class SmcGrowth { node, level };

inline constexpr std::int64_t most_particles = 1 << 20;
inline constexpr std::int64_t most_islands = 1 << 16;

struct SmcOptions {
  std::int64_t n_particles = 1000;  // of each island, 1 to most_particles
  std::int64_t n_islands = 1;       // 1 to most_islands
  SmcProposal proposal = SmcProposal::optimal;
  SmcGrowth growth = SmcGrowth::node;
  Resampling resampling = Resampling::systematic;
  double ess_threshold = 0.5;  // resampled where fewer of the particles are effective; 0 to 1
  std::uint64_t seed = 0;
};

}  // namespace maptree
