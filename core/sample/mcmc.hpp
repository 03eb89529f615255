// MCMC: Metropolis-Hastings chains over trees, after Chipman, George and McCulloch (1998).
//
// Every iteration draws one of four moves (moves.hpp). Chains start from the same tree, draw from
// streams of their own, and take turns, so that a time limit finds all of them equally far.
#pragma once

#include <cstdint>
#include <optional>

#include "model/posterior.hpp"
#include "model/tree.hpp"
#include "sample/samples.hpp"

namespace maptree {

inline constexpr std::int64_t most_chains = 1 << 16;

struct McmcOptions {
  std::int64_t n_samples = 1000;  // kept by each chain, 1 or more
  std::int64_t burn_in = 1000;    // iterations before the first, 0 or more
  std::int64_t thin = 1;          // every thin-th iteration is kept; 1 or more
  std::int64_t n_chains = 4;      // 1 to most_chains
  std::uint64_t seed = 0;
  std::optional<Tree> initial = {};  // over the caller's columns; none: the lone leaf
};

// A chain that was stopped before its first sample has its last tree as its one sample.
// Throws std::invalid_argument for options out of range and an initial tree that is not valid.
McmcSamples sample_mcmc(const Dataset& data, const Prior& prior, const McmcOptions& options,
                        const Limits& limits, const SamplingMonitor& monitor = {});

}  // namespace maptree
