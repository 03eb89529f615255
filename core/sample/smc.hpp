// SMC: the top-down particle filter over trees of Lakshminarayanan, Roy and Teh (2013).
//
// A particle is a tree that grows from the root: its open leaves are decided in breadth-first
// order, each either stops or is split on a column. Its weight is the ratio of P(tree, Y | X), with
// open leaves as leaves that have not paid for stopping, to the probability of having drawn it; so
// the mean weight is an unbiased estimate of the evidence P(Y | X), at every step.
//
// Islands are filters that know nothing of each other; the mean of their estimates is unbiased too.
#pragma once

#include "model/posterior.hpp"
#include "sample/samples.hpp"
#include "sample/smc_options.hpp"

namespace maptree {

// An island that was stopped has its open leaves as leaves, and its weights as they were; one that
// was not begun has no samples. The first has always begun.
// Throws std::invalid_argument for options out of range.
SmcSamples sample_smc(const Dataset& data, const Prior& prior, const SmcOptions& options,
                      const Limits& limits, const SamplingMonitor& monitor = {});

}  // namespace maptree
