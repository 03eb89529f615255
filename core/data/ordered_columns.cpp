#include "data/ordered_columns.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace maptree {

OrderedColumns::OrderedColumns(std::span<const OrderedColumn> columns, std::size_t n_rows) {
  std::uint64_t total = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const OrderedColumn& column = columns[c];
    const auto name = [&] { return "ordered column " + std::to_string(c); };
    if (column.ranks.size() != n_rows)
      throw std::invalid_argument(name() + " must have one rank a row");
    if (column.n_ranks == 0) throw std::invalid_argument(name() + " has no ranks");
    for (std::size_t r = 0; r < n_rows; ++r)
      if (column.ranks[r] >= column.n_ranks)
        throw std::invalid_argument(name() + ": the rank of row " + std::to_string(r) + " is " +
                                    std::to_string(column.ranks[r]) + ", and there are " +
                                    std::to_string(column.n_ranks));
    total += column.n_ranks - 1;
    if (total > std::numeric_limits<std::int32_t>::max())
      throw std::invalid_argument("there are too many thresholds");
    n_ranks_.push_back(column.n_ranks);
    n_used_.push_back(column.n_ranks);
    first_.push_back(static_cast<std::uint32_t>(total));
  }
}

std::size_t OrderedColumns::column_of(std::uint32_t threshold) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(first_, threshold) - first_.begin()) - 1;
}

void OrderedColumns::place(std::size_t n_slots) {
  n_slots_ = n_slots;
  ranks_.resize(n_columns() * n_slots);
}

void OrderedColumns::weigh(std::span<const std::int32_t> weights) {
  constexpr std::size_t most_weights = std::numeric_limits<Code>::max();
  // There are few, and most were met not long ago.
  std::array<std::pair<std::int32_t, Code>, 256> met{};
  const auto of_met = [&](std::int32_t weight) -> std::pair<std::int32_t, Code>& {
    return met[(static_cast<std::uint32_t>(weight) * 2'654'435'769u) >> 24];
  };
  for (std::size_t t = 0; t < weights.size(); ++t) {
    if (std::exchange(of_met(weights[t]).first, weights[t]) == weights[t]) continue;
    const auto at = std::ranges::lower_bound(weights_, weights[t], std::greater<>());
    if (at != weights_.end() && *at == weights[t]) continue;
    weights_.insert(at, weights[t]);
    if (weights_.size() > most_weights)
      throw std::invalid_argument("thresholds have more than " + std::to_string(most_weights) +
                                  " different weights");
  }
  weights_.shrink_to_fit();
  how_many_.assign(weights_.size(), 0);
  codes_.resize(weights.size());
  met = {};
  std::int64_t sum = 0;
  for (std::size_t t = 0; t < weights.size(); ++t) {
    if (t % sum_block == 0) sums_.push_back(static_cast<std::uint32_t>(sum));
    std::pair<std::int32_t, Code>& known = of_met(weights[t]);
    if (known.first != weights[t]) {
      const auto at = std::ranges::lower_bound(weights_, weights[t], std::greater<>());
      known = {weights[t], static_cast<Code>(at - weights_.begin())};
    }
    codes_[t] = known.second;
    ++how_many_[codes_[t]];
    sum += weights[t];
  }
  sums_.push_back(static_cast<std::uint32_t>(sum));
  std::vector<Code> blocks;
  for (std::size_t t = 0; t < codes_.size(); t += code_block) {
    const auto begin = codes_.begin() + static_cast<std::ptrdiff_t>(t);
    const auto n = std::min<std::size_t>(code_block, codes_.size() - t);
    blocks.push_back(*std::min_element(begin, begin + static_cast<std::ptrdiff_t>(n)));
  }
  const std::size_t n_blocks = blocks.size();
  for (std::size_t n = 1; n <= n_blocks; n *= 2) {
    if (n > 1) {
      const std::vector<Code>& half = least_.back();
      blocks.resize(half.size() - n / 2);
      for (std::size_t b = 0; b < blocks.size(); ++b)
        blocks[b] = std::min(half[b], half[b + n / 2]);
    }
    least_.push_back(blocks);
  }
}

std::int64_t OrderedColumns::weight_before(std::uint32_t threshold) const {
  std::int64_t sum = sums_[threshold / sum_block];
  for (std::uint32_t t = threshold / sum_block * sum_block; t < threshold; ++t)
    sum += weights_[codes_[t]];
  return sum;
}

OrderedColumns::Code OrderedColumns::least_code(std::uint32_t first, std::uint32_t last) const {
  const auto least = [&](std::uint32_t from, std::uint32_t to) {
    Code code = codes_[from];
    for (std::uint32_t t = from + 1; t < to; ++t) code = std::min(code, codes_[t]);
    return code;
  };
  // Whole blocks, and what is before and behind them.
  const std::uint32_t begin = (first + code_block - 1) / code_block, end = last / code_block;
  if (begin >= end) return least(first, last);
  const auto level = static_cast<std::size_t>(std::bit_width(end - begin) - 1);
  Code code = std::min(least_[level][begin], least_[level][end - (1u << level)]);
  if (first < begin * code_block) code = std::min(code, least(first, begin * code_block));
  if (end * code_block < last) code = std::min(code, least(end * code_block, last));
  return code;
}

std::uint32_t OrderedColumns::heaviest(std::size_t column, std::uint32_t low,
                                       std::uint32_t high) const {
  if (!weighted()) return low + (high - 1 - low) / 2;
  const std::uint32_t first = first_[column] + low, last = first_[column] + high;
  const Code code = least_code(first, last);
  std::uint32_t t = first;
  while (codes_[t] != code) {
    ++t;
    while (t % code_block == 0 && least_[0][t / code_block] > code) t += code_block;
  }
  return t - first_[column];
}

std::size_t OrderedColumns::bytes_of_weights() const {
  const std::size_t n = n_thresholds();
  const std::size_t blocks = n / code_block + 1;
  return n * sizeof(Code) + (n / sum_block + 2) * sizeof(std::uint32_t) +
         blocks * static_cast<std::size_t>(std::bit_width(blocks)) * sizeof(Code);
}

std::size_t OrderedColumns::bytes() const {
  std::size_t total = (ranks_.capacity() + n_ranks_.capacity() + n_used_.capacity() +
                       first_.capacity() + sums_.capacity() + weights_.capacity()) *
                          sizeof(std::uint32_t) +
                      how_many_.capacity() * sizeof(std::size_t) + codes_.capacity() * sizeof(Code);
  for (const std::vector<Code>& level : least_) total += level.capacity() * sizeof(Code);
  return total;
}

void OrderedColumns::part(const RowSet& from, std::uint32_t threshold, int side,
                          RowSet& out) const {
  const std::size_t column = column_of(threshold);
  const std::uint32_t last = threshold - first_[column];
  const std::uint32_t* const ranks = this->ranks(column);
  const Word flip = side == 1 ? 0 : ~Word{0};
  out.assign_words(from, [&](std::size_t place, Word word) {
    const std::uint32_t* const of = ranks + place * word_bits;
    Word low = 0;
    if (popcount(word) < 16) {
      for_each_slot(word, 0, [&](std::size_t b) { low |= static_cast<Word>(of[b] <= last) << b; });
    } else {
      for (std::size_t b = 0; b < word_bits; ++b) low |= static_cast<Word>(of[b] <= last) << b;
    }
    return word & (low ^ flip);
  });
}

std::int64_t OrderedColumns::varying(const RowSet& rows) const {
  std::int64_t sum = 0;
  for (std::size_t c = 0; c < n_columns(); ++c) {
    const std::uint32_t* const of = ranks(c);
    std::uint32_t least = UINT32_MAX, most = 0;
    for (std::size_t i = 0; i < rows.n_stored(); ++i)
      for_each_slot(rows.stored(i), rows.place(i) * word_bits, [&](std::size_t slot) {
        least = std::min(least, of[slot]);
        most = std::max(most, of[slot]);
      });
    if (least < most) sum += weight_between(c, least, most);
  }
  return sum;
}

bool OrderedColumns::least_varying(const RowSet& rows, std::vector<std::int64_t>& out,
                                   Watch& watch) {
  // Exact for few rows, then for some numbers: those between have the value of the next lower one.
  constexpr std::size_t exact = 16, many_rows = 1 << 16;
  std::vector<std::size_t> slots;
  for (std::size_t i = 0; i < rows.n_stored(); ++i)
    for_each_slot(rows.stored(i), rows.place(i) * word_bits,
                  [&](std::size_t slot) { slots.push_back(slot); });
  std::vector<std::size_t> sizes;
  const std::size_t part = slots.size() > many_rows ? 1 : 8;
  for (std::size_t n = 2; n <= slots.size(); n += n < exact ? 1 : n / part) sizes.push_back(n);
  out.assign(slots.size() + 1, 0);
  std::vector<std::uint32_t> sorted(slots.size());
  std::vector<std::uint32_t> start;
  for (std::size_t c = 0; c < n_columns(); ++c) {
    // Counting takes memory for every rank, and most of them may be those of no row.
    const bool counted = n_ranks(c) / 4 <= slots.size();
    if (watch.poll(
            static_cast<std::int64_t>(counted ? 8 * slots.size() + n_ranks(c) : 32 * slots.size())))
      return false;
    n_used_[c] = 0;
    if (counted) {
      start.assign(n_ranks(c) + 1, 0);
      for (const std::size_t slot : slots) n_used_[c] += start[ranks(c)[slot] + 1]++ == 0;
      for (std::size_t r = 1; r < start.size(); ++r) start[r] += start[r - 1];
      for (const std::size_t slot : slots) sorted[start[ranks(c)[slot]]++] = ranks(c)[slot];
    } else {
      for (std::size_t i = 0; i < slots.size(); ++i) sorted[i] = ranks(c)[slots[i]];
      std::ranges::sort(sorted);
      for (std::size_t i = 0; i < sorted.size(); ++i)
        n_used_[c] += i == 0 || sorted[i] != sorted[i - 1];
    }
    // The weight of all thresholds below a row.
    for (std::uint32_t& rank : sorted) {
      if (watch.poll(weighted() ? sum_block : 1)) return false;
      rank = static_cast<std::uint32_t>(weight_between(c, 0, rank));
    }
    for (const std::size_t n : sizes) {
      if (watch.poll(static_cast<std::int64_t>(slots.size()))) return false;
      // Any n rows span at least as much as some n that are neighbours in the order.
      std::uint32_t least = UINT32_MAX;
      for (std::size_t i = 0; i + n <= sorted.size(); ++i)
        least = std::min(least, sorted[i + n - 1] - sorted[i]);
      out[n] += least;
    }
  }
  for (std::size_t n = 1; n < out.size(); ++n) out[n] = std::max(out[n], out[n - 1]);
  return true;
}

}  // namespace maptree
