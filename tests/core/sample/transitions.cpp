#include "transitions.hpp"

#include <algorithm>
#include <cmath>

#include "sample/forest.hpp"

namespace maptree {

namespace {

// Takes every sequence of choices in turn: a run repeats the choices made so far, and next() moves
// the last of them on, like the digits of a counter.
class EveryChoice {
 public:
  std::size_t below(std::size_t n) {
    if (at_ == digits_.size()) digits_.push_back({0, n});
    probability_ /= static_cast<double>(n);
    return digits_[at_++].value;
  }
  [[nodiscard]] double probability() const { return probability_; }
  bool next() {
    while (!digits_.empty() && digits_.back().value + 1 == digits_.back().n) digits_.pop_back();
    if (digits_.empty()) return false;
    ++digits_.back().value;
    at_ = 0;
    probability_ = 1;
    return true;
  }

 private:
  struct Digit {
    std::size_t value, n;
  };
  std::vector<Digit> digits_;
  std::size_t at_ = 0;
  double probability_ = 1;
};

Tree tree_of(const ChainTree& state) {
  std::vector<std::int32_t> feature;
  std::vector<std::int64_t> counts;
  state.write(feature, counts);
  Forest forest;
  forest.add(feature, counts, state.cost());
  return forest.tree(0);
}

}  // namespace

std::vector<Transition> mcmc_transitions(const Dataset& data, const Prior& prior, const Tree& from,
                                         Move move) {
  const Posterior posterior(prior, data);
  const ChainTree start(data, posterior, from);
  std::vector<Transition> out;
  Watch never;
  EveryChoice choices;
  do {
    ChainTree state = start;
    const Proposal proposal = propose(move, state, choices, never);
    ChainTree::Edit edit;
    Transition way;
    way.proposal_probability = choices.probability();
    if (proposal.at != ChainTree::Id::none &&
        build(proposal, move, state, edit, Cost::infinity(), never)) {
      state.commit(edit);
      const double nats = (state.cost() - start.cost()).nats();
      way.acceptance_probability = std::min(1.0, std::exp(proposal.log_ratio - nats));
    }
    way.tree = tree_of(state);
    out.push_back(std::move(way));
  } while (choices.next());
  return out;
}

}  // namespace maptree
