#include "improve/improve.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace maptree {

namespace {

// Work grows with every unit of effort. So much is never reached, but where there is no memory to
// expand anything.
constexpr int most_effort = 64;

// A look-ahead that takes more work than its node has had so far, and than this, is given up and
// tried again when all others have had as much.
constexpr std::int64_t least_work = 1'000'000;

}  // namespace

Improver::Improver(const Dataset& data, const Posterior& posterior, Expander& expander,
                   std::size_t max_bytes, std::size_t most_nodes)
    : data_(data),
      posterior_(posterior),
      most_nodes_(most_nodes),
      look_ahead_(data, posterior, expander, max_bytes) {
  Tree leaf;
  add_node(leaf);
  offer(leaf, score(leaf, data, posterior).subtree[0]);
}

void Improver::offer(const Tree& tree, Cost cost) {
  if (cost >= best_.cost()) return;
  if (tree.feature.size() > most_nodes_) {
    too_large_ = true;
    return;
  }
  outdated_ = true;  // the look-ahead under way goes on, for what it tells of its rows
  const TreeScores scores = score(tree, data_, posterior_);
  assert(scores.subtree[0] == cost);
  Subtree offered;
  offered.parts.reserve(tree.feature.size());
  for (std::size_t node = 0; node < tree.feature.size(); ++node) {
    const std::int32_t feature = tree.feature[node];
    offered.parts.push_back(
        {scores.subtree[node], feature < 0 ? no_column
                                           : static_cast<std::uint32_t>(data_.test_of(
                                                 static_cast<std::uint32_t>(feature)))});
  }
  hold(std::move(offered));
}

void Improver::hold(Subtree&& tree) {
  const Subtree old = std::exchange(best_, std::move(tree));
  const std::vector<Spot> old_spots = std::exchange(spots_, {});
  spots_.resize(best_.parts.size());
  for (std::size_t at = spots_.size(); at-- > 0;) {
    const bool leaf = best_.parts[at].column == no_column;
    spots_[at].end = leaf ? static_cast<std::uint32_t>(at + 1) : spots_[spots_[at + 1].end].end;
  }
  last_gain_ = work_;

  // As long as both trees test the same columns, their nodes have the same rows.
  std::vector<std::pair<std::size_t, std::size_t>> same;
  if (!old_spots.empty()) same.emplace_back(0, 0);
  while (!same.empty()) {
    const auto [was, is] = same.back();
    same.pop_back();
    if (best_.parts[is].cost <= old.parts[was].cost) {
      spots_[is].spent = old_spots[was].spent;
      spots_[is].effort = old_spots[was].effort;
      spots_[is].solved = old_spots[was].solved;
    }
    if (old.parts[was].column != best_.parts[is].column || old.parts[was].column == no_column)
      continue;
    same.emplace_back(was + 1, is + 1);
    same.emplace_back(old_spots[was + 1].end, spots_[is + 1].end);
  }
}

void Improver::improve(std::int64_t work, Watch& watch) {
  const std::int64_t until = work_ + work;
  const std::int64_t others = watch.work() - work_;
  while (work_ < until && !exhausted_) {
    if (!running_) {
      const bool stopped = watch.stop(static_cast<std::int64_t>(spots_.size() + data_.n_words()));
      work_ = watch.work() - others;
      if (stopped) return;
      if (choose()) {
        start();
      } else {
        exhausted_ = true;
        look_ahead_.clear();
      }
    } else {
      const bool stopped = !look_ahead_.step(watch);
      work_ = watch.work() - others;
      if (stopped) return;
    }
    if (running_ && (look_ahead_.done() || work_ >= enough_)) conclude();
  }
}

// The node that has had the least work for its size, the first of equals.
bool Improver::choose() {
  if (proved()) return false;
  std::size_t chosen = spots_.size();
  const auto size = [&](std::size_t s) { return static_cast<std::int64_t>(spots_[s].end - s); };
  for (std::size_t s = 0; s < spots_.size(); ++s) {
    if (spots_[s].solved || spots_[s].effort >= most_effort) continue;
    if (chosen == spots_.size() || spots_[s].spent * size(chosen) < spots_[chosen].spent * size(s))
      chosen = s;
  }
  spot_ = chosen;
  return chosen != spots_.size();
}

void Improver::start() {
  RowSet rows = data_.all_rows(), part;
  std::size_t depth = 0;
  for (std::size_t at = 0; at != spot_; ++depth) {
    const std::size_t right = spots_[at + 1].end;
    const int side = spot_ >= right ? 1 : 0;
    data_.part(rows, best_.parts[at].column, side, part);
    std::swap(rows, part);
    at = side == 1 ? right : at + 1;
  }
  const auto first = best_.parts.begin() + static_cast<std::ptrdiff_t>(spot_);
  const auto last = best_.parts.begin() + static_cast<std::ptrdiff_t>(spots_[spot_].end);
  look_ahead_.start(rows, depth, spots_[spot_].effort + 1, {{first, last}});
  start_work_ = work_;
  enough_ = work_ + std::max(least_work, spots_[spot_].spent);
  running_ = true;
  outdated_ = false;
}

void Improver::conclude() {
  const bool complete = look_ahead_.done();
  look_ahead_.give_up();
  running_ = false;
  if (outdated_) return;
  Spot& spot = spots_[spot_];
  if (complete) ++spot.effort;
  spot.spent += work_ - start_work_;
  spot.solved = look_ahead_.solved();
  const Subtree& found = look_ahead_.found();
  const Cost before = best_.parts[spot_].cost;
  if (found.cost() == before) return;

  // The new subtree takes the old one's place; what is above it costs that much less.
  assert(found.cost() < before);
  if (best_.parts.size() - (spot.end - spot_) + found.parts.size() > most_nodes_) {
    too_large_ = true;
    return;
  }
  Subtree better;
  better.parts.reserve(best_.parts.size() - (spot.end - spot_) + found.parts.size());
  const auto old = best_.parts.begin();
  better.parts.assign(old, old + static_cast<std::ptrdiff_t>(spot_));
  for (std::size_t at = 0; at < spot_; ++at)
    if (spots_[at].end > spot_) better.parts[at].cost += found.cost() - before;
  better.append(found);
  better.parts.insert(better.parts.end(), old + static_cast<std::ptrdiff_t>(spot.end),
                      best_.parts.end());
  hold(std::move(better));
}

Tree Improver::tree() const {
  Tree tree;
  std::size_t at = 0;
  build(at, tree);
  return tree;
}

std::int32_t Improver::build(std::size_t& at, Tree& tree) const {
  const std::int32_t node = add_node(tree);
  const std::uint32_t column = best_.parts[at++].column;
  if (column == no_column) return node;
  tree.feature[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(data_.original(column));
  for (int side = 0; side < 2; ++side) {
    const std::int32_t child = build(at, tree);
    (side == 0 ? tree.left : tree.right)[static_cast<std::size_t>(node)] = child;
  }
  return node;
}

std::size_t Improver::bytes() const {
  return look_ahead_.bytes() + look_ahead_.scratch_bytes() + tree_bytes();
}

std::size_t Improver::growth() const {
  return exhausted_ ? 0 : look_ahead_.max_bytes() - look_ahead_.bytes() + tree_bytes();
}

std::size_t Improver::tree_bytes() const {
  return best_.bytes() + spots_.capacity() * sizeof(Spot);
}

}  // namespace maptree
