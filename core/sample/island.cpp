#include "sample/island.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sample/resampling.hpp"

namespace maptree {

Island::Island(const Dataset& data, const Posterior& posterior, const SmcOptions& options,
               std::uint64_t stream)
    : data_(data),
      posterior_(posterior),
      options_(options),
      nodes_(data, posterior, options.proposal == SmcProposal::optimal),
      random_(options.seed, stream) {
  const auto n = static_cast<double>(options.n_particles);
  best_.cost = leaf(Id::root, 0);
  best_.log_weight = -nodes_.likelihood(Id::root).nats() - std::log(n);
  particles_.assign(static_cast<std::size_t>(options.n_particles), best_);
}

void Island::run(Sampling& sampling, Watch& watch) {
  sampling.offer(best_.cost, 0);
  const double enough = options_.ess_threshold * static_cast<double>(particles_.size());
  while (true) {
    std::int64_t n_steps = 0;
    std::size_t n_open = 0;
    const Particle* cheapest = &best_;
    for (Particle& particle : particles_) {
      if (!advance(particle, n_steps, watch)) break;
      n_open += particle.finished() ? 0 : 1;
      if (particle.cost < cheapest->cost) cheapest = &particle;
    }
    sampling.add_steps(n_steps);
    hold(sampling);
    if (cheapest != &best_) {
      best_ = *cheapest;
      sampling.offer(best_.cost, 0);
    }
    if (n_open == 0 || sampling.full()) return;

    double log_total = 0;
    if (!find_weights(log_total, watch)) return;
    double squares = 0;
    for (const double weight : weights_) squares += weight * weight;
    if (1 / squares < enough) resample(log_total);  // the effective sample size
    if (nodes_.is_full()) forget_dead_nodes();
  }
}

// The shared nodes, and what the particles come to as trees of their own, which is what they are
// returned as: less where some are equal.
void Island::hold(Sampling& sampling) {
  const std::size_t n_classes = nodes_.counts(Id::root).size();
  std::size_t n_nodes = 0;
  for (const Particle& particle : particles_) n_nodes += particle.nodes.size();
  hold((nodes_.size() + n_nodes) * counted_per_node(n_classes), sampling);
  const std::int64_t work = owed_for_nodes(n_nodes, n_classes);
  sampling.control().owe(work - std::exchange(owed_, work));
}

void Island::hold(std::size_t bytes, Sampling& sampling) {
  const auto now = static_cast<std::int64_t>(bytes);
  sampling.hold(now - std::exchange(held_, now));
}

bool Island::advance(Particle& particle, std::int64_t& n_steps, Watch& watch) {
  const std::size_t end = options_.growth == SmcGrowth::level
                              ? particle.nodes.size()
                              : std::min(particle.n_decided + 1, particle.nodes.size());
  for (; particle.n_decided < end; ++n_steps)
    if (!decide(particle, watch)) return false;
  return true;
}

// The next open leaf becomes a leaf or a split.
bool Island::decide(Particle& particle, Watch& watch) {
  const Node node = particle.nodes[particle.n_decided];
  if (watch.poll(100)) return false;
  if (nodes_.divisible(node.id)) {
    double log_change = 0;
    std::int32_t column = leaf_column;
    if (!draw_split(node, log_change, column, watch)) return false;
    if (column != leaf_column) {
      const auto number = static_cast<std::uint32_t>(column);
      const std::int64_t weight = nodes_.varying_weight(node.id);
      const auto [zero, one] = nodes_.children(node.id, number, watch);
      if (one == Id::none) return false;
      if (options_.proposal == SmcProposal::prior)
        log_change =
            (nodes_.likelihood(node.id) - nodes_.likelihood(zero) - nodes_.likelihood(one)).nats();
      const std::uint32_t depth = node.depth + 1;
      particle.nodes[particle.n_decided].column = column;
      particle.nodes.push_back({zero, leaf_column, depth});
      particle.nodes.push_back({one, leaf_column, depth});
      particle.cost += posterior_.split(node.depth) + posterior_.log_weight(weight) +
                       posterior_.test_costs()[number] + leaf(zero, depth) + leaf(one, depth) -
                       leaf(node.id, node.depth);
    }
    particle.log_weight += log_change;
  }
  ++particle.n_decided;
  return true;
}

// Draws whether a divisible node is split, and on which column. With the prior as the proposal the
// weight changes by the likelihood, which is known once the column is.
bool Island::draw_split(const Node& node, double& log_change, std::int32_t& column, Watch& watch) {
  const double log_split = -posterior_.split(node.depth).nats();
  const ParticleNodes::Options* options = nullptr;
  double split = 0;
  if (options_.proposal == SmcProposal::optimal) {
    options = nodes_.options(node.id, watch);
    if (options == nullptr) return false;
    // The larger of the two terms is factored out, so that the other cannot overflow.
    const double log_stop = -posterior_.stop(node.depth).nats();
    const double log_odds = log_split + options->log_mean - log_stop;
    const double smaller = std::exp(-std::abs(log_odds));
    split = (log_odds > 0 ? 1 : smaller) / (1 + smaller);
    log_change = log_stop + std::max(0.0, log_odds) + std::log1p(smaller);
  } else {
    split = std::exp(log_split);
  }
  if (random_.uniform() >= split) return true;
  if (options == nullptr) options = nodes_.options(node.id, watch);
  if (options == nullptr) return false;
  column = static_cast<std::int32_t>(options->draw(random_));
  return true;
}

// Fills in the normalised weights, and the log of their sum before. False: stopped.
bool Island::find_weights(double& log_total, Watch& watch) {
  constexpr std::size_t piece = 1024;
  weights_.resize(particles_.size());
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (i % piece == 0 && watch.poll(20 * piece)) return false;
    weights_[i] = particles_[i].log_weight;
  }
  log_total = log_sum_exp(weights_);
  for (double& weight : weights_) weight = std::exp(weight - log_total);
  return true;
}

void Island::resample(double log_total) {
  draw_copies(options_.resampling, weights_, random_, copies_);
  // Those that die make room for the copies of the others.
  std::size_t from = 0;
  for (std::size_t i = 0; i < particles_.size(); ++i) {
    if (copies_[i] > 0) continue;
    while (copies_[from] < 2) ++from;
    --copies_[from];
    particles_[i] = particles_[from];
  }
  const double log_mean = log_total - std::log(static_cast<double>(particles_.size()));
  for (Particle& particle : particles_) particle.log_weight = log_mean;
  ++n_resamplings_;
}

void Island::forget_dead_nodes() {
  std::vector<bool> used(nodes_.size(), false);
  const auto for_each = [&](auto&& visit) {
    for (Particle& particle : particles_)
      for (Node& node : particle.nodes) visit(node.id);
    for (Node& node : best_.nodes) visit(node.id);
  };
  for_each([&](Id id) { used[static_cast<std::size_t>(id)] = true; });
  const std::vector<Id> number = nodes_.keep(std::move(used));
  for_each([&](Id& id) { id = number[static_cast<std::size_t>(id)]; });
}

IslandSamples Island::samples(Sampling& sampling) {
  IslandSamples out;
  std::size_t n_nodes = best_.nodes.size();
  for (const Particle& particle : particles_) n_nodes += particle.nodes.size();
  out.forest.reserve(n_nodes, nodes_.counts(Id::root).size());
  for (const Particle& particle : particles_) {
    out.sample.push_back(add(particle, out.forest));
    out.log_weights.push_back(particle.log_weight);
  }
  out.best = add(best_, out.forest);
  out.best_cost = best_.cost;
  out.n_resamplings = n_resamplings_;
  // The island ends, its trees stay.
  hold(out.forest.n_nodes() * counted_per_node(nodes_.counts(Id::root).size()), sampling);
  return out;
}

// In preorder.
std::int32_t Island::add(const Particle& particle, Forest& forest) {
  const std::vector<Node>& nodes = particle.nodes;
  first_child_.resize(nodes.size());
  std::size_t next = 1;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].column == leaf_column) continue;
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
    if (nodes[i].column == leaf_column) {
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

}  // namespace maptree
