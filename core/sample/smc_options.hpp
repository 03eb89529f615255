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

struct SmcOptions {
  std::int64_t n_particles = 1000;  // of each island, 1 or more
  std::int64_t n_islands = 1;       // 1 or more
  SmcProposal proposal = SmcProposal::optimal;
  SmcGrowth growth = SmcGrowth::node;
  Resampling resampling = Resampling::systematic;
  double ess_threshold = 0.5;  // resampled where fewer of the particles are effective; 0 to 1
  std::uint64_t seed = 0;
};

}  // namespace maptree
