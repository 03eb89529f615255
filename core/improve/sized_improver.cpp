#include "improve/sized_improver.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "improve/incumbent.hpp"
#include "improve/prunings.hpp"

namespace maptree {

namespace {

// Work under one price without a better tree, at first; it doubles when all prices have had it.
constexpr std::int64_t first_allowance = 32'000'000;
// Of every size: a round that brings nothing is the last one if it had this much.
constexpr std::int64_t enough_allowance = 2 * first_allowance;
constexpr std::int64_t most_allowance = std::int64_t{1} << 50;
constexpr std::int64_t slice = 4'000'000;
constexpr std::size_t n_places = 3;

}  // namespace

SizedImprover::Priced::Priced(const SizedImprover& of, Cost its_price)
    : price(its_price),
      posterior(of.posterior_.priced(its_price)),
      bounds(posterior, of.data_, of.options_),
      expander(of.data_, posterior, bounds, of.options_),
      improver(of.data_, posterior, expander, of.max_bytes_) {}

SizedImprover::SizedImprover(const Dataset& data, const Posterior& posterior,
                             const Options& options, std::size_t most_leaves, std::size_t max_bytes,
                             Aim aim)
    : data_(data),
      posterior_(posterior),
      options_(options),
      most_leaves_(most_leaves),
      max_bytes_(max_bytes),
      aim_(aim),
      known_(2 * most_leaves),
      allowance_(aim == Aim::every_size ? first_allowance / 4 : first_allowance) {
  add_node(known_[0].tree);
  known_[0].cost = score(known_[0].tree, data, posterior).subtree[0];
}

std::size_t SizedImprover::bytes_for(const Dataset& data, const Options& options) {
  return Bounds::bytes_for(data) + Expander::bytes_for(data, options) +
         usual_splits(data) * sizeof(SplitBounds);
}

void SizedImprover::offer(const Tree& tree, Cost) { take_prunings(tree); }

void SizedImprover::take_prunings(const Tree& tree) {
  const Prunings prunings(tree, score(tree, data_, posterior_), known_.size());
  for (std::size_t leaves = 1; leaves <= prunings.most_leaves(); ++leaves) {
    Known& known = known_[leaves - 1];
    if (prunings.cost(leaves) >= known.cost) continue;
    known = {prunings.cost(leaves), prunings.tree(leaves)};
    exhausted_ = false;  // there are other prices
    gained_ = gained_ || leaves <= most_leaves_;
    if (leaves > most_leaves_ || known.cost >= known_[best_].cost) continue;
    best_ = leaves - 1;
    last_gain_ = work_;
  }
}

bool SizedImprover::is_cheapest_known() const {
  return std::ranges::all_of(known_, [&](const Known& known) { return known.cost >= cost(); });
}

// Trees of i < k < j leaves: k is the cheapest at prices between the greatest slope to the right
// and the least slope to the left. Where there are none, the slope of the hull over k.
Cost SizedImprover::price_for(std::size_t leaves, Place place) const {
  const auto slope = [&](std::size_t few, std::size_t many) {
    return (known_[few - 1].cost - known_[many - 1].cost).nats() / double(many - few);
  };
  double least = 0, greatest = std::numeric_limits<double>::infinity();
  const bool there = known_[leaves - 1].cost.finite();
  for (std::size_t i = 1; i <= known_.size(); ++i) {
    if (!there || !known_[i - 1].cost.finite()) continue;
    if (i > leaves) least = std::max(least, slope(leaves, i));
    if (i < leaves) greatest = std::min(greatest, slope(i, leaves));
  }
  if (!there || greatest < least) {
    // The steepest line over k from the left: of all i, the least of the slopes to what is right.
    double line = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i < leaves; ++i) {
      if (!known_[i - 1].cost.finite()) continue;
      double steepest = 0;
      for (std::size_t j = leaves; j <= known_.size(); ++j)
        if (known_[j - 1].cost.finite()) steepest = std::max(steepest, slope(i, j));
      line = std::min(line, steepest);
    }
    least = greatest = line;
  }
  if (greatest == std::numeric_limits<double>::infinity()) greatest = least + 1;
  greatest = std::max(greatest, 0.0);
  const double price = place == Place::least      ? least
                       : place == Place::greatest ? greatest
                                                  : (least + greatest) / 2;
  // The most that trees of known_ may pay and stay within the range of Cost.
  return Cost::nearest(std::min(price, most_paid_for_leaves / double(known_.size())));
}

bool SizedImprover::is_free() const { return aim_ == Aim::best && is_cheapest_known(); }

// Of every size the larger ones come first: their prunings are trees of the smaller ones. They are
// done when a round has brought nothing.
bool SizedImprover::open_next(Watch& watch) {
  const bool every = aim_ == Aim::every_size;
  const auto has = [](const std::vector<Cost>& prices, Cost price) {
    return std::ranges::find(prices, price) != prices.end();
  };
  if (is_free() && !has(ended_, Cost(0))) {
    open(Cost(0), watch);
    return true;
  }
  const std::size_t n_turns = every ? most_leaves_ : n_places;
  for (std::size_t tries = 0; tries < 2 * n_turns;
       ++tries) {  // what is left of this round, and one
    if (turn_ == n_turns) {
      if (every && !std::exchange(gained_, false) && allowance_ >= enough_allowance) return false;
      turn_ = 0;
      of_round_.clear();
      allowance_ = std::min(2 * allowance_, most_allowance);
    }
    const std::size_t turn = turn_++;
    const Cost price = every ? price_for(most_leaves_ - turn, Place::middle)
                             : price_for(most_leaves_, static_cast<Place>(turn));
    if (has(ended_, price) || has(of_round_, price)) continue;
    of_round_.push_back(price);
    open(price, watch);
    return true;
  }
  return false;
}

// Begins with the cheapest tree known under the price, or a greedy one.
void SizedImprover::open(Cost price, Watch& watch) {
  priced_ = std::make_unique<Priced>(*this, price);
  const auto priced = [&](std::size_t i) {
    return known_[i].cost + Cost(price.units() * static_cast<std::int64_t>(i));
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < known_.size(); ++i)
    if (known_[i].cost.finite() && priced(i) < priced(best)) best = i;
  priced_->improver.offer(known_[best].tree, priced(best));
  Incumbent greedy(data_, priced_->posterior, priced_->bounds, options_, priced_->expander);
  Tree tree;
  const Cost cost = greedy.grow(watch, tree);
  priced_->improver.offer(tree, cost);
}

void SizedImprover::improve(std::int64_t work, Watch& watch) {
  const std::int64_t until = work_ + work;
  const std::int64_t others = watch.work() - work_;
  while (work_ < until && !exhausted_ && !watch.stopped()) {
    if (priced_ == nullptr && !open_next(watch)) {
      exhausted_ = true;
      return;
    }
    Improver& improver = priced_->improver;
    improver.improve(std::min(slice, until - work_), watch);
    work_ = watch.work() - others;
    if (improver.cost() < priced_->seen) {
      priced_->seen = improver.cost();
      take_prunings(improver.tree());
    }
    const bool ended = improver.proved() || improver.exhausted();
    if (ended) ended_.push_back(priced_->price);
    const bool stays = priced_->price == Cost(0) && is_free();
    const bool idle = improver.work() - improver.last_gain() > allowance_;
    if (ended || (idle && !stays)) priced_.reset();
  }
}

std::size_t SizedImprover::bytes() const {
  std::size_t sum = known_.capacity() * sizeof(Known);
  for (const Known& known : known_) sum += 3 * known.tree.feature.capacity() * sizeof(std::int32_t);
  if (priced_ != nullptr)
    sum += priced_->posterior.own_bytes() + priced_->bounds.bytes() + priced_->expander.bytes() +
           priced_->improver.bytes();
  return sum;
}

std::size_t SizedImprover::growth() const {
  if (exhausted_) return 0;
  const std::size_t trees =
      known_.size() * 2 * known_.size() * 3 * sizeof(std::int32_t);  // all of them, full-sized
  if (priced_ != nullptr) return trees + priced_->improver.growth();
  return trees + max_bytes_ + bytes_for(data_, options_) + posterior_.own_bytes();
}

}  // namespace maptree
