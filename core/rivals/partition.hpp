// Partition: a short name for the way in which a tree parts its rows, whatever its tests and their
// order.
//
// A leaf has the key of its rows (row_keys.hpp), mixed so that sums of it have no structure; a tree
// has the sum of its leaves. So the name of a tree is the sum of those of its two subtrees, and two
// trees that part the rows alike have the same. That others have it, too, is as unlikely as that
// two random numbers of 128 bits are equal (docs/design/alternatives.md).
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/mix.hpp"
#include "data/row_keys.hpp"

namespace maptree {

struct Partition {
  std::uint64_t high = 0, low = 0;
  std::uint32_t n_leaves = 0;

  [[nodiscard]] static Partition leaf(const RowKey& rows) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ULL;
    return {mix(rows.low ^ mix(rows.high + odd)), mix(rows.high ^ mix(rows.low - odd)), 1};
  }
  friend Partition operator+(const Partition& a, const Partition& b) {
    return {a.high + b.high, a.low + b.low, a.n_leaves + b.n_leaves};
  }
  // Trees that part rows alike have as many leaves; others of one name would be found out by that.
  bool operator==(const Partition&) const = default;
};

}  // namespace maptree
