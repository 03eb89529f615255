#include "data/ranking.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

namespace maptree {

namespace {

constexpr int half = 32;

// A part of a key, of at most 32 bits, and below it which value has it. Sorts by this part; equal
// ones keep their order. Returns where the result is.
PageVector<std::uint64_t>& sort_items(PageVector<std::uint64_t>& items,
                                      PageVector<std::uint64_t>& other, int bits) {
  constexpr int digit = 11;
  constexpr std::size_t n_digits = (half + digit - 1) / digit;
  if (items.size() < 256) {
    std::ranges::sort(items);
    return items;
  }
  const auto of = [](std::uint64_t item, std::size_t d) {
    return (item >> (static_cast<std::size_t>(half) + d * digit)) & ((1 << digit) - 1);
  };
  std::vector<std::array<std::uint32_t, 1 << digit>> starts(n_digits);
  for (const std::uint64_t item : items)
    for (std::size_t d = 0; d < n_digits; ++d) ++starts[d][of(item, d)];
  PageVector<std::uint64_t>*from = &items, *to = &other;
  for (std::size_t d = 0; d * digit < static_cast<std::size_t>(bits); ++d) {
    if (starts[d][of(items[0], d)] == items.size()) continue;  // all have it
    std::uint32_t sum = 0;
    for (std::uint32_t& at : starts[d]) at = std::exchange(sum, sum + at);
    to->resize(items.size());
    for (const std::uint64_t item : *from) (*to)[starts[d][of(item, d)]++] = item;
    std::swap(from, to);
  }
  return *from;
}

}  // namespace

Ranking rank_values(std::span<const std::uint64_t> keys, std::span<const std::int64_t> weights) {
  Ranking out;
  if (keys.empty()) return out;
  // By the highest bits in which keys differ; the few that agree in these, by all of them.
  const auto [least, most] = std::ranges::minmax(keys);
  const auto bits = static_cast<int>(std::bit_width(most - least));
  const int rest = std::max(0, bits - half);
  PageVector<std::uint64_t> items(keys.size()), other;
  for (std::size_t i = 0; i < keys.size(); ++i) items[i] = ((keys[i] - least) >> rest) << half | i;
  PageVector<std::uint64_t>& sorted = sort_items(items, other, std::min(bits, half));
  const auto key = [&](std::uint64_t item) { return keys[static_cast<std::uint32_t>(item)]; };
  for (std::size_t first = 0, i = 1; rest > 0 && i <= sorted.size(); ++i) {
    if (i < sorted.size() && sorted[i] >> half == sorted[first] >> half) continue;
    const auto some = std::span(sorted).subspan(first, i - first);
    if (std::ranges::any_of(some, [&](std::uint64_t item) { return key(item) != key(some[0]); }))
      std::ranges::sort(some, {}, [&](std::uint64_t item) { return std::pair(key(item), item); });
    first = i;
  }

  const auto is_new = [&](std::size_t i) {
    return i == 0 || sorted[i] >> half != sorted[i - 1] >> half ||
           (rest > 0 && key(sorted[i]) != key(sorted[i - 1]));
  };
  std::size_t n_ranks = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) n_ranks += is_new(i);
  out.ranks.resize(keys.size());
  out.leaders.resize(n_ranks);
  out.at_most.resize(n_ranks);
  std::uint32_t rank = UINT32_MAX;  // before the first
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto value = static_cast<std::uint32_t>(sorted[i]);
    if (is_new(i)) out.leaders[++rank] = value;
    sum += weights.empty() ? 1 : weights[value];
    out.at_most[rank] = sum;
    out.ranks[value] = rank;
  }
  return out;
}

void find_levels(std::span<const std::int64_t> below, std::int64_t total, std::int8_t last,
                 std::span<std::int8_t> out) {
  std::ranges::fill(out, last);
  // In a stretch of thresholds between two of earlier levels, the one nearest to the middle of the
  // rows, the lower one of equals. Counted twice, so that the middle is a whole number.
  const auto divide = [&](const auto& self, std::size_t first, std::size_t end,
                          std::int8_t level) -> void {
    if (first == end || level == last) return;
    const std::int64_t middle =
        (first > 0 ? below[first - 1] : 0) + (end < below.size() ? below[end] : total);
    const auto begin = below.begin() + static_cast<std::ptrdiff_t>(first);
    const auto at =
        std::ranges::partition_point(begin, below.begin() + static_cast<std::ptrdiff_t>(end - 1),
                                     [=](std::int64_t rows) { return 2 * rows < middle; });
    auto nearest = static_cast<std::size_t>(at - below.begin());
    if (nearest > first && middle - 2 * below[nearest - 1] <= 2 * below[nearest] - middle)
      --nearest;
    out[nearest] = level;
    self(self, first, nearest, static_cast<std::int8_t>(level + 1));
    self(self, nearest + 1, end, static_cast<std::int8_t>(level + 1));
  };
  divide(divide, 0, below.size(), 0);
}

}  // namespace maptree
