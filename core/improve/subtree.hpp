// Subtree: a tree below some node, as cheap to join and to copy as possible. Nodes in preorder,
// side 0 first, each with its column and the cost of all below it.
#pragma once

#include <cstdint>
#include <vector>

#include "model/cost.hpp"
#include "scan/node_view.hpp"

namespace maptree {

struct Subtree {
  struct Part {
    Cost cost;
    std::uint32_t column = no_column;  // none: a leaf
  };
  std::vector<Part> parts;

  [[nodiscard]] Cost cost() const { return parts.empty() ? Cost::infinity() : parts[0].cost; }
  [[nodiscard]] std::size_t bytes() const { return parts.capacity() * sizeof(Part); }

  void append(const Subtree& other) {
    parts.insert(parts.end(), other.parts.begin(), other.parts.end());
  }
};

}  // namespace maptree
