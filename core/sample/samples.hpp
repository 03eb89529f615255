// What samplers return: samples of trees, and how the sampling went.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "control/control.hpp"
#include "sample/forest.hpp"

namespace maptree {

enum class SamplingStatus { complete, time_limit, memory_limit, interrupted };

struct SamplingProgress {
  double seconds = 0;
  std::int64_t steps = 0;        // iterations of all chains, or decisions of all particles
  std::int64_t total_steps = 0;  // 0: not known
  Cost cost;                     // of the best tree so far
};
using SamplingMonitor = MonitorOf<SamplingProgress>;

struct Samples {
  SamplingStatus status = SamplingStatus::complete;
  double seconds = 0;
  ClockUse clock;
  std::vector<std::array<double, 3>> trace;  // seconds, steps, cost of the best tree so far
  Forest forest;                             // every distinct tree that was kept
  std::size_t best = 0;                      // the best tree seen, perhaps with no sample
  // By chain or island: the tree of each sample, in order; those not reached are missing.
  std::vector<std::vector<std::int32_t>> sample;
};

struct McmcSamples : Samples {
  std::vector<std::vector<Cost>> costs;               // by chain, after each iteration
  std::vector<std::array<std::int64_t, 4>> proposed;  // by chain and move
  std::vector<std::array<std::int64_t, 4>> accepted;
};

struct SmcSamples : Samples {
  // By island; their log-sum-exp estimates the log evidence.
  std::vector<std::vector<double>> log_weights;
  std::vector<std::int64_t> resamplings;
};

}  // namespace maptree
