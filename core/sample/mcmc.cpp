#include "sample/mcmc.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "sample/moves.hpp"
#include "sample/random.hpp"
#include "sample/sampling.hpp"

namespace maptree {

namespace {

struct TreeArrays {
  std::vector<std::int32_t> feature;
  std::vector<std::int64_t> counts;
};

class Chain {
 public:
  Chain(const McmcOptions& options, std::uint64_t stream, Sampling& sampling)
      : options_(options),
        sampling_(sampling),
        n_iterations_(options.burn_in + options.n_samples * options.thin),
        random_(options.seed, stream) {}

  // A turn; true: there is more to do.
  bool advance(const ChainTree& start, Watch& watch) {
    if (sampling_.full()) return false;
    if (!tree_) {
      if (watch.poll(static_cast<std::int64_t>(start.bytes() / 8))) return true;
      tree_ = start;
      best_cost_ = tree_->cost();
      tree_->write(best_.feature, best_.counts);
      sampling_.offer(best_cost_, 0);
    }
    const std::int64_t end = std::min(done() + turn, n_iterations_);
    const std::int64_t begin = done();
    while (done() < end && !sampling_.full()) {
      if (!iterate(watch)) break;
      if (tree_->cost() >= best_cost_) continue;
      best_cost_ = tree_->cost();
      tree_->write(best_.feature, best_.counts);
      // With many classes this takes longer than the iteration; the next one learns of the time.
      for (std::size_t n = piece; n <= best_.counts.size(); n += piece) watch.poll(2 * piece);
      sampling_.offer(best_cost_, done() - begin);
    }
    sampling_.add_steps(done() - begin);
    hold();
    owe();
    return done() < n_iterations_;
  }

  [[nodiscard]] std::size_t n_nodes() const { return kept_.n_nodes() + best_.feature.size(); }

  // Appends what it found to the samples of all chains; where it has not begun, the tree that it
  // would have started from, which is not copied for that.
  void write(McmcSamples& out, const TreeArrays& start, Cost start_cost, Cost& best_cost) {
    std::int32_t best = 0;
    if (!tree_) {
      best_cost_ = start_cost;
      best = out.forest.add(start.feature, start.counts, start_cost);
      samples_ = {best};
    } else {
      if (samples_.empty()) keep();
      const std::vector<std::int32_t> number = out.forest.add(std::move(kept_));
      for (std::int32_t& sample : samples_) sample = number[static_cast<std::size_t>(sample)];
      best = out.forest.add(best_.feature, best_.counts, best_cost_);
    }
    if (best_cost_ < best_cost) {
      best_cost = best_cost_;
      out.best = static_cast<std::size_t>(best);
    }
    out.sample.push_back(std::move(samples_));
    out.costs.push_back(std::move(costs_));
    out.proposed.push_back(proposed_);
    out.accepted.push_back(accepted_);
    kept_ = {};
    tree_.reset();
  }

 private:
  static constexpr std::int64_t turn = 100;       // iterations
  static constexpr std::int64_t piece = 1 << 14;  // class counts

  [[nodiscard]] std::int64_t done() const { return static_cast<std::int64_t>(costs_.size()); }

  // False: stopped, and it did not take place.
  bool iterate(Watch& watch) {
    if (watch.poll(200 + static_cast<std::int64_t>(now_.counts.size() / 4))) return false;
    const std::size_t m = random_.below(n_moves);
    const bool accepted = step(static_cast<Move>(m), *tree_, random_, watch);
    if (watch.stopped()) return false;  // in the middle, and nothing was accepted
    ++proposed_[m];
    accepted_[m] += accepted ? 1 : 0;
    moved_ = moved_ || accepted;
    costs_.push_back(tree_->cost());
    const std::int64_t after = done() - options_.burn_in;
    if (after > 0 && after % options_.thin == 0) keep();
    return true;
  }

  // Says what has been added since the last time.
  void hold() {
    const std::size_t n_classes = best_.counts.size() / best_.feature.size();
    const auto bytes =
        static_cast<std::int64_t>(tree_->bytes() + n_nodes() * counted_per_node(n_classes));
    sampling_.hold(bytes - std::exchange(held_, bytes));
  }

  // Leaves time for what write() does, and for giving the tree back.
  void owe() {
    const std::size_t n_classes = best_.counts.size() / best_.feature.size();
    const auto work = owed_for_iteration * done() +
                      owed_for_sample * static_cast<std::int64_t>(samples_.size()) +
                      owed_for_tree * static_cast<std::int64_t>(kept_.size()) +
                      owed_for_nodes(n_nodes() + best_.feature.size(), n_classes) +
                      static_cast<std::int64_t>(tree_->bytes() / 16);
    sampling_.control().owe(work - std::exchange(owed_, work));
  }

  void keep() {
    if (samples_.empty() || moved_) {
      tree_->write(now_.feature, now_.counts);
      samples_.push_back(kept_.add(now_.feature, now_.counts, tree_->cost()));
    } else {
      samples_.push_back(samples_.back());
    }
    moved_ = false;
  }

  const McmcOptions& options_;
  Sampling& sampling_;
  const std::int64_t n_iterations_;
  Random random_;
  std::optional<ChainTree> tree_;  // none: not begun
  bool moved_ = false;             // since the last sample
  Forest kept_;
  std::vector<std::int32_t> samples_;  // trees of kept_
  std::vector<Cost> costs_;
  std::array<std::int64_t, n_moves> proposed_ = {}, accepted_ = {};
  Cost best_cost_;
  TreeArrays best_, now_;
  std::int64_t held_ = 0;  // bytes
  std::int64_t owed_ = 0;  // work
};

void check(const McmcOptions& options) {
  const auto at_least = [](std::int64_t value, std::int64_t least, const char* name) {
    if (value < least)
      throw std::invalid_argument(std::string(name) + " must be at least " + std::to_string(least) +
                                  ", not " + std::to_string(value));
  };
  at_least(options.n_samples, 1, "n_samples");
  at_least(options.burn_in, 0, "burn_in");
  at_least(options.thin, 1, "thin");
  at_least(options.n_chains, 1, "n_chains");
  if (options.n_chains > most_chains)
    throw std::invalid_argument("n_chains must be at most " + std::to_string(most_chains));
  // The iterations of all chains are counted in 64 bits.
  const std::int64_t most = INT64_MAX / options.n_chains;
  if (options.burn_in > most || options.n_samples > (most - options.burn_in) / options.thin)
    throw std::invalid_argument(
        "burn_in + n_samples * thin is too large: these are more iterations than can be counted");
}

// Where there was no time for the tables.
McmcSamples lone_leaf(const Dataset& data, const Prior& prior, const McmcOptions& options,
                      Sampling& sampling) {
  McmcSamples out;
  start_from_lone_leaf(out, data, prior, sampling);
  const auto n_chains = static_cast<std::size_t>(options.n_chains);
  out.sample.assign(n_chains, {0});
  out.costs.resize(n_chains);
  out.proposed.resize(n_chains);
  out.accepted.resize(n_chains);
  return out;
}

}  // namespace

McmcSamples sample_mcmc(const Dataset& data, const Prior& prior, const McmcOptions& options,
                        const Limits& limits, const SamplingMonitor& monitor) {
  check(options);
  check_folding(data);
  Posterior::check(prior, data);
  const auto n_chains = static_cast<std::size_t>(options.n_chains);
  Sampling sampling(limits, monitor,
                    options.n_chains * (options.burn_in + options.n_samples * options.thin));
  if (!data.complete()) return lone_leaf(data, prior, options, sampling);
  Watch watch(sampling.control());
  const Posterior posterior(prior, data, watch);
  if (!posterior.complete()) return lone_leaf(data, prior, options, sampling);

  const ChainTree start =
      options.initial ? ChainTree(data, posterior, *options.initial) : ChainTree(data, posterior);
  std::vector<Chain> chains;
  chains.reserve(n_chains);
  for (std::size_t c = 0; c < n_chains; ++c) chains.emplace_back(options, c, sampling);
  share_out(sampling, n_chains,
            [&](std::size_t c, Watch& at) { return chains[c].advance(start, at); });

  McmcSamples out;
  sampling.offer(start.cost(), 0);
  TreeArrays first;
  start.write(first.feature, first.counts);
  Cost best = Cost::infinity();
  std::size_t n_nodes = first.feature.size();
  for (const Chain& chain : chains) n_nodes += chain.n_nodes();
  if (n_chains > 1) out.forest.reserve(n_nodes, first.counts.size() / first.feature.size());
  for (Chain& chain : chains) chain.write(out, first, start.cost(), best);
  sampling.write(out);
  check_cost(out, data, posterior);
  return out;
}

}  // namespace maptree
