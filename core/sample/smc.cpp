#include "sample/smc.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "sample/island.hpp"
#include "sample/sampling.hpp"

namespace maptree {

namespace {

void check(const SmcOptions& options) {
  const auto at_least_one = [](std::int64_t value, const char* name) {
    if (value < 1)
      throw std::invalid_argument(std::string(name) + " must be at least 1, not " +
                                  std::to_string(value));
  };
  at_least_one(options.n_particles, "n_particles");
  at_least_one(options.n_islands, "n_islands");
  if (options.n_particles > most_particles || options.n_islands > most_islands)
    throw std::invalid_argument("n_particles must be at most " + std::to_string(most_particles) +
                                ", n_islands " + std::to_string(most_islands));
  if (!(options.ess_threshold >= 0 && options.ess_threshold <= 1))
    throw std::invalid_argument("ess_threshold must lie between 0 and 1");
}

// Where there was no time for the tables.
SmcSamples lone_leaf(const Dataset& data, const Prior& prior, const SmcOptions& options,
                     Sampling& sampling) {
  SmcSamples out;
  start_from_lone_leaf(out, data, prior, sampling);
  const auto n = static_cast<std::size_t>(options.n_particles);
  const auto n_islands = static_cast<std::size_t>(options.n_islands);
  const double log_stop = data.n_columns() > 0 ? std::log1p(-prior.alpha) : 0;
  out.sample.resize(n_islands);
  out.sample[0].assign(n, 0);
  out.log_weights.resize(n_islands);
  out.log_weights[0].assign(
      n, -out.forest.cost(0).nats() - log_stop - std::log(static_cast<double>(n)));
  out.resamplings.resize(n_islands);
  return out;
}

}  // namespace

SmcSamples sample_smc(const Dataset& data, const Prior& prior, const SmcOptions& options,
                      const Limits& limits, const SamplingMonitor& monitor) {
  check(options);
  check_folding(data);
  Posterior::check(prior, data);
  Sampling sampling(limits, monitor, 0);
  if (!data.complete()) return lone_leaf(data, prior, options, sampling);
  Watch watch(sampling.control());
  const Posterior posterior(prior, data, watch);
  if (!posterior.complete()) return lone_leaf(data, prior, options, sampling);

  // An island's nodes are given back before the next one of its thread begins.
  const auto n_islands = static_cast<std::size_t>(options.n_islands);
  std::vector<IslandSamples> islands(n_islands);
  share_out(sampling, n_islands, [&](std::size_t i, Watch& at) {
    if (sampling.full()) return false;
    sampling.control().owe(owed_for_particle * options.n_particles);
    if (at.check()) return false;
    Island island(data, posterior, options, i);
    island.run(sampling, at);
    islands[i] = island.samples(sampling);
    return false;
  });
  if (islands[0].sample.empty()) {
    islands[0] = Island(data, posterior, options, 0).samples(sampling);
    sampling.offer(islands[0].best_cost, 0);
  }

  SmcSamples out;
  Cost best = Cost::infinity();
  std::size_t n_nodes = 0;
  for (const IslandSamples& island : islands) n_nodes += island.forest.n_nodes();
  if (n_islands > 1) out.forest.reserve(n_nodes, data.class_totals().size());
  for (IslandSamples& island : islands) {
    const std::vector<std::int32_t> number = out.forest.add(std::move(island.forest));
    island.forest = {};
    for (std::int32_t& tree : island.sample) tree = number[static_cast<std::size_t>(tree)];
    if (!island.sample.empty() && island.best_cost < best) {
      best = island.best_cost;
      out.best = static_cast<std::size_t>(number[static_cast<std::size_t>(island.best)]);
    }
    out.sample.push_back(std::move(island.sample));
    out.log_weights.push_back(std::move(island.log_weights));
    out.resamplings.push_back(island.n_resamplings);
  }
  sampling.write(out);
  check_cost(out, data, posterior);
  return out;
}

}  // namespace maptree
