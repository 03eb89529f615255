// Island: one particle filter. Its particles are trees that grow from the root, in breadth-first
// order, and share what is known of their nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "sample/forest.hpp"
#include "sample/particle_nodes.hpp"
#include "sample/random.hpp"
#include "sample/sampling.hpp"
#include "sample/smc_options.hpp"

namespace maptree {

struct IslandSamples {
  Forest forest;
  std::vector<std::int32_t> sample;  // a tree of the forest for each particle; none: not begun
  std::vector<double> log_weights;
  std::int64_t n_resamplings = 0;
  std::int32_t best = 0;  // a tree of the forest
  Cost best_cost;
};

class Island {
 public:
  Island(const Dataset& data, const Posterior& posterior, const SmcOptions& options,
         std::uint64_t stream);

  // Until every leaf of every particle is decided, or the watch says stop.
  void run(Sampling& sampling, Watch& watch);
  [[nodiscard]] IslandSamples samples(Sampling& sampling);

 private:
  using Id = ParticleNodes::Id;
  static constexpr std::int32_t leaf_column = -1;

  struct Node {
    Id id = Id::root;
    std::int32_t column = leaf_column;
    std::uint32_t depth = 0;
  };
  // The children of its i-th split are nodes 2i + 1 and 2i + 2.
  struct Particle {
    std::vector<Node> nodes = {Node{}};
    std::size_t n_decided = 0;  // the others are open leaves
    double log_weight = 0;
    Cost cost;  // of the tree, were all its open leaves leaves

    [[nodiscard]] bool finished() const { return n_decided == nodes.size(); }
  };

  [[nodiscard]] Cost leaf(Id id, std::size_t depth) const {
    return nodes_.likelihood(id) + (nodes_.divisible(id) ? posterior_.stop(depth) : Cost(0));
  }
  // These return false where the watch said stop: then not all that should have been is decided.
  bool advance(Particle& particle, std::int64_t& n_steps, Watch& watch);
  bool decide(Particle& particle, Watch& watch);
  bool draw_split(const Node& node, double& log_change, std::int32_t& column, Watch& watch);

  void hold(Sampling& sampling);
  void hold(std::size_t bytes, Sampling& sampling);
  bool find_weights(double& log_total, Watch& watch);
  void resample(double log_total);
  void forget_dead_nodes();
  std::int32_t add(const Particle& particle, Forest& forest);

  const Dataset& data_;
  const Posterior& posterior_;
  const SmcOptions& options_;
  ParticleNodes nodes_;
  Random random_;
  std::vector<Particle> particles_;
  Particle best_;  // of all that were seen
  std::int64_t n_resamplings_ = 0;
  std::int64_t held_ = 0;        // bytes
  std::int64_t owed_ = 0;        // work, for the nodes
  std::vector<double> weights_;  // normalised
  std::vector<std::uint32_t> copies_;
  std::vector<std::size_t> first_child_, open_;  // for add()
  std::vector<std::int32_t> feature_;
  std::vector<std::int64_t> counts_;
};

}  // namespace maptree
