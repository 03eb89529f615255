#include "sample/forest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "data/mix.hpp"

namespace maptree {

namespace {

std::uint64_t hash_of(std::span<const std::int32_t> feature) {
  std::uint64_t h = 0;
  for (const std::int32_t f : feature) h = mix(h + static_cast<std::uint32_t>(f) + 1);
  return h;
}

// Children of a tree in preorder: a stack of the inner nodes that wait for their right child.
void find_children(std::span<const std::int32_t> feature, std::int32_t* left, std::int32_t* right,
                   std::vector<std::int32_t>& waiting) {
  const auto n = static_cast<std::int32_t>(feature.size());
  for (std::int32_t i = 0; i < n; ++i) {
    left[i] = right[i] = -1;
    if (feature[static_cast<std::size_t>(i)] >= 0) {
      left[i] = i + 1;
      waiting.push_back(i);
    } else if (!waiting.empty()) {
      right[waiting.back()] = i + 1;
      waiting.pop_back();
    }
  }
}

}  // namespace

std::int32_t Forest::add(std::span<const std::int32_t> feature,
                         std::span<const std::int64_t> counts, Cost cost) {
  const auto [number, is_new] = add(feature, cost, hash_of(feature));
  if (is_new) add_counts(counts);
  return number;
}

std::int32_t Forest::add_by_node(std::span<const std::int32_t> feature,
                                 std::span<const NodeCounts> counts, Cost cost) {
  const auto [number, is_new] = add(feature, cost, hash_of(feature));
  if (is_new)
    for (const NodeCounts& of_node : counts) add_counts(of_node);
  return number;
}

Forest::Added Forest::add(std::span<const std::int32_t> feature, Cost cost, std::uint64_t hash) {
  if (2 * (size() + 1) > by_hash_.size()) make_room();
  const std::size_t at = find(feature, hash);
  if (by_hash_[at] >= 0) return {by_hash_[at], false};
  const auto number = static_cast<std::int32_t>(size());
  feature_.insert(feature_.end(), feature.begin(), feature.end());
  offsets_.push_back(static_cast<std::int64_t>(feature_.size()));
  hashes_.push_back(hash);
  costs_.push_back(cost);
  by_hash_[at] = number;
  return {number, true};
}

std::size_t Forest::find(std::span<const std::int32_t> feature, std::uint64_t hash) const {
  const std::size_t mask = by_hash_.size() - 1;
  std::size_t at = hash & mask;
  for (; by_hash_[at] >= 0; at = (at + 1) & mask) {
    const auto tree = static_cast<std::size_t>(by_hash_[at]);
    if (hashes_[tree] == hash && std::ranges::equal(this->feature(tree), feature)) break;
  }
  return at;
}

void Forest::make_room() {
  const std::size_t mask = std::max<std::size_t>(16, 2 * by_hash_.size()) - 1;
  by_hash_.assign(mask + 1, -1);
  for (std::size_t tree = 0; tree < size(); ++tree) {
    std::size_t at = hashes_[tree] & mask;
    while (by_hash_[at] >= 0) at = (at + 1) & mask;
    by_hash_[at] = static_cast<std::int32_t>(tree);
  }
}

std::vector<std::int32_t> Forest::add(Forest&& other) {
  std::vector<std::int32_t> numbers(other.size());
  if (size() == 0 && feature_.capacity() == 0) {  // most often all trees there are
    *this = std::move(other);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
  for (std::size_t t = 0; t < other.size(); ++t) {
    const auto [number, is_new] = add(other.feature(t), other.cost(t), other.hashes_[t]);
    if (is_new) add_counts(other.counts(t));
    numbers[t] = number;
  }
  return numbers;
}

std::span<const std::int64_t> Forest::counts(std::size_t tree) const {
  const std::size_t n_classes = counts_.size() / feature_.size();
  return {counts_.data() + static_cast<std::size_t>(offsets_[tree]) * n_classes,
          feature(tree).size() * n_classes};
}

Tree Forest::tree(std::size_t tree) const {
  Tree out = tree_without_counts(tree);
  const auto c = counts(tree);
  out.counts.assign(c.begin(), c.end());
  return out;
}

Tree Forest::tree_without_counts(std::size_t tree) const {
  const auto f = feature(tree);
  Tree out{{f.begin(), f.end()},
           std::vector<std::int32_t>(f.size()),
           std::vector<std::int32_t>(f.size()),
           {}};
  std::vector<std::int32_t> waiting;
  find_children(f, out.left.data(), out.right.data(), waiting);
  return out;
}

Forest::Arrays Forest::take() {
  Arrays out;
  out.left.resize(feature_.size());
  out.right.resize(feature_.size());
  std::vector<std::int32_t> waiting;
  for (std::size_t t = 0; t < size(); ++t) {
    const auto first = static_cast<std::size_t>(offsets_[t]);
    find_children(feature(t), &out.left[first], &out.right[first], waiting);
  }
  out.offsets = std::exchange(offsets_, {0});
  out.feature = std::exchange(feature_, {});
  out.counts = std::exchange(counts_, {});
  out.costs = std::exchange(costs_, {});
  by_hash_.clear();
  hashes_.clear();
  return out;
}

}  // namespace maptree
