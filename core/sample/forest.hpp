// Forest: distinct trees, one after the other as flat arrays.
//
// A tree is the sequence of its features in preorder, -1 at leaves: that alone decides its shape,
// so it is what trees are told apart by.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/tree.hpp"

namespace maptree {

class Forest {
 public:
  // The number of the tree; it is added where it is new. Preorder; `counts` node by node.
  std::int32_t add(std::span<const std::int32_t> feature, std::span<const std::int64_t> counts,
                   Cost cost);
  // The same with the counts of each node where they are: they are copied once, if at all.
  using NodeCounts = std::span<const std::int64_t>;
  std::int32_t add_by_node(std::span<const std::int32_t> feature,
                           std::span<const NodeCounts> counts, Cost cost);
  // All trees of another one, which is void afterwards; their numbers.
  std::vector<std::int32_t> add(Forest&& other);

  // Room for this many nodes.
  void reserve(std::size_t n_nodes, std::size_t n_classes) {
    feature_.reserve(n_nodes);
    counts_.reserve(n_nodes * n_classes);
  }

  [[nodiscard]] std::size_t size() const { return costs_.size(); }
  [[nodiscard]] std::size_t n_nodes() const { return feature_.size(); }
  [[nodiscard]] Cost cost(std::size_t tree) const { return costs_[tree]; }
  [[nodiscard]] std::span<const std::int32_t> feature(std::size_t tree) const {
    return {feature_.data() + offsets_[tree],
            static_cast<std::size_t>(offsets_[tree + 1] - offsets_[tree])};
  }
  [[nodiscard]] std::span<const std::int64_t> counts(std::size_t tree) const;
  [[nodiscard]] Tree tree(std::size_t tree) const;
  [[nodiscard]] Tree tree_without_counts(std::size_t tree) const;

  // All of it as arrays; the forest is empty afterwards.
  struct Arrays {
    std::vector<std::int64_t> offsets;  // nodes of tree t: offsets[t] to offsets[t + 1]
    std::vector<std::int32_t> feature, left, right;  // children are numbered within their tree
    std::vector<std::int64_t> counts;
    std::vector<Cost> costs;
  };
  [[nodiscard]] Arrays take();

 private:
  // The number of the tree, which has no counts yet where it is new.
  struct Added {
    std::int32_t number = 0;
    bool is_new = false;
  };
  Added add(std::span<const std::int32_t> feature, Cost cost, std::uint64_t hash);
  void add_counts(std::span<const std::int64_t> counts) {
    counts_.insert(counts_.end(), counts.begin(), counts.end());
  }
  // Where a tree is, or would be.
  [[nodiscard]] std::size_t find(std::span<const std::int32_t> feature, std::uint64_t hash) const;
  void make_room();

  std::vector<std::int64_t> offsets_ = {0};
  std::vector<std::int32_t> feature_;
  std::vector<std::int64_t> counts_;
  std::vector<Cost> costs_;
  // Trees by hash, -1 where there is none, at most half full: nothing is allocated for a tree.
  std::vector<std::int32_t> by_hash_;
  std::vector<std::uint64_t> hashes_;
};

}  // namespace maptree
