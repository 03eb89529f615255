#include "smc.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>

#include "particle_nodes.hpp"
#include "random.hpp"
#include "sampling.hpp"

namespace maptree {

double log_sum_exp(std::span<const double> logs) {
  const double most = *std::max_element(logs.begin(), logs.end());
  if (most == -HUGE_VAL) return most;
  double sum = 0;
  for (const double log : logs) sum += std::exp(log - most);
  return most + std::log(sum);
}

namespace {

using Id = ParticleNodes::Id;

// A tree in breadth-first order. The children of its i-th split are nodes 2i + 1 and 2i + 2.
struct Particle {
  static constexpr std::int32_t leaf = -1;
  struct Node {
    Id id = Id::root;
    std::int32_t column = leaf;
    std::uint32_t depth = 0;
  };
  std::vector<Node> nodes = {Node{}};
  std::size_t n_decided = 0;  // the others are open leaves
  double log_weight = 0;
  Cost cost;  // of the tree, were all its open leaves leaves

  [[nodiscard]] bool finished() const { return n_decided == nodes.size(); }
};

struct IslandSamples {
  Forest forest;
  std::vector<std::int32_t> sample;  // a tree of the forest for each particle
  std::vector<double> log_weights;
  std::int64_t n_resamplings = 0;
  std::int32_t best = 0;
  Cost best_cost;
};

class Island {
 public:
  Island(const Dataset& data, const Posterior& posterior, const SmcOptions& options,
         std::uint64_t stream)
      : data_(data),
        posterior_(posterior),
        options_(options),
        nodes_(data, posterior, options.proposal == SmcProposal::optimal),
        random_(options.seed, stream),
        particles_(static_cast<std::size_t>(options.n_particles)) {
    for (Particle& particle : particles_) {
      particle.cost = leaf(Id::root, 0);
      particle.log_weight =
          -nodes_.likelihood(Id::root).nats() - std::log(static_cast<double>(particles_.size()));
    }
    best_ = particles_[0];
  }

  void run(Sampling& sampling, Watch& watch) {
    sampling.offer(best_.cost, 0);
    while (true) {
      std::int64_t n_steps = 0;
      std::size_t n_open = 0;
      for (Particle& particle : particles_) {
        if (!advance(particle, n_steps, watch)) break;
        n_open += particle.finished() ? 0 : 1;
      }
      sampling.add_steps(n_steps);
      offer_best(sampling);
      if (watch.stopped() || n_open == 0) return;
      if (effective() < options_.ess_threshold * static_cast<double>(particles_.size())) resample();
    }
  }

  [[nodiscard]] IslandSamples samples() {
    IslandSamples out;
    for (const Particle& particle : particles_) {
      out.sample.push_back(add(particle, out.forest));
      out.log_weights.push_back(particle.log_weight);
    }
    out.best = add(best_, out.forest);
    out.best_cost = best_.cost;
    out.n_resamplings = n_resamplings_;
    return out;
  }

 private:
  [[nodiscard]] Cost leaf(Id id, std::size_t depth) const {
    return nodes_.likelihood(id) + (nodes_.divisible(id) ? posterior_.stop(depth) : Cost(0));
  }

  // False: stopped; the particle has not decided all that it should have.
  bool advance(Particle& particle, std::int64_t& n_steps, Watch& watch) {
    const std::size_t end = options_.growth == SmcGrowth::level
                                ? particle.nodes.size()
                                : std::min(particle.n_decided + 1, particle.nodes.size());
    for (; particle.n_decided < end; ++n_steps)
      if (!decide(particle, watch)) return false;
    return true;
  }

  // Whether the next open leaf is split, and on which column.
  bool decide(Particle& particle, Watch& watch) {
    const Particle::Node node = particle.nodes[particle.n_decided];
    if (watch.stop(100)) return false;
    if (nodes_.divisible(node.id)) {
      const double log_split = -posterior_.split(node.depth).nats();
      const double log_stop = -posterior_.stop(node.depth).nats();
      const bool optimal = options_.proposal == SmcProposal::optimal;
      double log_change = 0, split = std::exp(log_split);
      const ParticleNodes::Options* options = nullptr;
      if (optimal) {
        options = nodes_.options(node.id, watch);
        if (options == nullptr) return false;
        const double logs[] = {log_stop, log_split + options->log_mean};
        log_change = log_sum_exp(logs);
        split = std::exp(logs[1] - log_change);
      }
      if (random_.uniform() < split) {
        if (options == nullptr) options = nodes_.options(node.id, watch);
        if (options == nullptr) return false;
        const auto n_varying = static_cast<std::int64_t>(options->columns.size());
        const std::uint32_t column = options->draw(random_);
        const auto [zero, one] = nodes_.children(node.id, column, watch);
        if (one == Id::none) return false;
        const std::uint32_t depth = node.depth + 1;
        particle.nodes[particle.n_decided].column = static_cast<std::int32_t>(column);
        particle.nodes.push_back({zero, Particle::leaf, depth});
        particle.nodes.push_back({one, Particle::leaf, depth});
        particle.cost += posterior_.split(node.depth) + posterior_.log_columns(n_varying) +
                         leaf(zero, depth) + leaf(one, depth) - leaf(node.id, node.depth);
        if (!optimal)
          log_change =
              (nodes_.likelihood(node.id) - nodes_.likelihood(zero) - nodes_.likelihood(one))
                  .nats();
      }
      particle.log_weight += log_change;
    }
    ++particle.n_decided;
    return true;
  }

  void offer_best(Sampling& sampling) {
    const auto cheapest =
        std::min_element(particles_.begin(), particles_.end(),
                         [](const Particle& a, const Particle& b) { return a.cost < b.cost; });
    if (cheapest->cost >= best_.cost) return;
    best_ = *cheapest;
    sampling.offer(best_.cost, 0);
  }

  // Weights relative to the largest; returns the log of the mean weight.
  double find_weights() {
    weights_.resize(particles_.size());
    for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i] = particles_[i].log_weight;
    const double total = log_sum_exp(weights_);
    for (double& weight : weights_) weight = std::exp(weight - total);
    return total - std::log(static_cast<double>(weights_.size()));
  }

  // The effective sample size: 1 / sum of squares of the normalised weights.
  double effective() {
    find_weights();
    double squares = 0;
    for (const double weight : weights_) squares += weight * weight;
    return 1 / squares;
  }

  // Unbiased: the expected number of copies is in proportion to the weight. All get the mean.
  void resample() {
    const double log_mean = find_weights();
    const std::size_t n = particles_.size();
    copies_.assign(n, 0);
    if (options_.resampling == SmcResampling::systematic) {
      // Equidistant points with one random offset.
      const double offset = random_.uniform();
      double sum = 0;
      std::size_t point = 0;
      for (std::size_t i = 0; i < n; ++i) {
        sum += weights_[i] * static_cast<double>(n);
        for (; point < n && static_cast<double>(point) + offset < sum; ++point) ++copies_[i];
      }
      for (; point < n; ++point) ++copies_[last_of_weight()];  // sums that fell short by rounding
    } else {
      sums_.resize(n);
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sums_[i] = sum += weights_[i];
      for (std::size_t draw = 0; draw < n; ++draw) {
        const auto at = std::upper_bound(sums_.begin(), sums_.end(), random_.uniform() * sum);
        ++copies_[at == sums_.end() ? last_of_weight()
                                    : static_cast<std::size_t>(at - sums_.begin())];
      }
    }
    // Those that die make room for the copies of the others.
    std::size_t from = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (copies_[i] > 0) continue;
      while (copies_[from] < 2) ++from;
      --copies_[from];
      particles_[i] = particles_[from];
    }
    for (Particle& particle : particles_) particle.log_weight = log_mean;
    ++n_resamplings_;
  }
  [[nodiscard]] std::size_t last_of_weight() const {
    std::size_t i = weights_.size() - 1;
    while (weights_[i] == 0) --i;
    return i;
  }

  // In preorder.
  std::int32_t add(const Particle& particle, Forest& forest) {
    const std::vector<Particle::Node>& nodes = particle.nodes;
    first_child_.resize(nodes.size());
    std::size_t next = 1;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].column == Particle::leaf) continue;
      first_child_[i] = next;
      next += 2;
    }
    feature_.clear();
    counts_.clear();
    open_.assign(1, 0);
    while (!open_.empty()) {
      const std::size_t i = open_.back();
      open_.pop_back();
      const auto counts = nodes_.counts(nodes[i].id);
      counts_.insert(counts_.end(), counts.begin(), counts.end());
      if (nodes[i].column == Particle::leaf) {
        feature_.push_back(-1);
        continue;
      }
      const auto column = static_cast<std::size_t>(nodes[i].column);
      feature_.push_back(static_cast<std::int32_t>(data_.original(column)));
      open_.push_back(first_child_[i] + 1);
      open_.push_back(first_child_[i]);
    }
    return forest.add(feature_, counts_, particle.cost);
  }

  const Dataset& data_;
  const Posterior& posterior_;
  const SmcOptions& options_;
  ParticleNodes nodes_;
  Random random_;
  std::vector<Particle> particles_;
  Particle best_;
  std::int64_t n_resamplings_ = 0;
  std::vector<double> weights_, sums_;
  std::vector<std::int64_t> copies_;
  std::vector<std::size_t> first_child_, open_;  // for add()
  std::vector<std::int32_t> feature_;
  std::vector<std::int64_t> counts_;
};

void check(const SmcOptions& options) {
  const auto at_least_one = [](std::int64_t value, const char* name) {
    if (value < 1)
      throw std::invalid_argument(std::string(name) + " must be at least 1, not " +
                                  std::to_string(value));
  };
  at_least_one(options.n_particles, "n_particles");
  at_least_one(options.n_islands, "n_islands");
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
  Watch watch(sampling, true);
  const Posterior posterior(prior, data, [&] { return watch.stop(1'000'000); });
  if (!posterior.complete()) return lone_leaf(data, prior, options, sampling);

  // An island's nodes are given back before the next one of its thread begins.
  const auto n_islands = static_cast<std::size_t>(options.n_islands);
  std::vector<IslandSamples> islands(n_islands);
  share_out(sampling, n_islands, [&](std::size_t i, Watch& at) {
    Island island(data, posterior, options, i);
    island.run(sampling, at);
    islands[i] = island.samples();
    return false;
  });
  if (islands[0].sample.empty()) {
    islands[0] = Island(data, posterior, options, 0).samples();
    sampling.offer(islands[0].best_cost, 0);
  }

  SmcSamples out;
  Cost best = Cost::infinity();
  for (IslandSamples& island : islands) {
    const std::vector<std::int32_t> number = out.forest.add(island.forest);
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
