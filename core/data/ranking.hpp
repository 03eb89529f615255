// Ranking: the order of the values of a column, and how coarse its thresholds are.
//
// Values come as keys, whole numbers in the same order. They are sorted digit by digit, from the
// lowest on: the time does not depend on what they are, but for digits that all have in common.
#pragma once

#include <cstdint>
#include <span>

#include "memory/page_memory.hpp"

namespace maptree {

struct Ranking {
  PageVector<std::uint32_t> ranks;    // of every value, among the distinct ones
  PageVector<std::uint32_t> leaders;  // by rank: the first value that has it
  PageVector<std::int64_t> at_most;   // by rank: the weight of the values up to it
};

// `weights` may be empty: every value counts once.
[[nodiscard]] Ranking rank_values(std::span<const std::uint64_t> keys,
                                  std::span<const std::int64_t> weights);

// The level of every threshold (docs/design/prior.md), given the weight below each, which
// increases, and that of all rows. No level is above `last`, which takes all that are left.
void find_levels(std::span<const std::int64_t> below, std::int64_t total, std::int8_t last,
                 std::span<std::int8_t> out);

}  // namespace maptree
