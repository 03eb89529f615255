// SMC: the top-down particle filter over trees of Lakshminarayanan, Roy and Teh (2013).
//
// A particle is a tree that grows from the root: its open leaves are decided in breadth-first
// order, each either stops or is split on a column. Its weight is the ratio of P(tree, Y | X), with
// open leaves as leaves that have not paid for stopping, to the probability of having drawn it; so
// the mean weight is an unbiased estimate of the evidence P(Y | X), at every step.
//
// Islands are filters that know nothing of each other; the mean of their estimates is unbiased too.
#pragma once

#include <cstdint>
#include <span>

#include "posterior.hpp"
#include "resampling.hpp"
#include "samples.hpp"

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

// An island that was stopped has its open leaves as leaves, and its weights as they were; one that
// was not begun has no samples. The first has always begun.
// Throws std::invalid_argument for options out of range.
SmcSamples sample_smc(const Dataset& data, const Prior& prior, const SmcOptions& options,
                      const Limits& limits, const SamplingMonitor& monitor = {});

// Of an island's log weights: the log of its estimate of the evidence.
[[nodiscard]] double log_sum_exp(std::span<const double> logs);

}  // namespace maptree
