#include "data/ordered_columns.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

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
                                   Watch& watch) const {
  // Exact for few rows, then for some numbers: those between have the value of the next lower one.
  constexpr std::size_t exact = 16;
  std::vector<std::size_t> slots;
  for (std::size_t i = 0; i < rows.n_stored(); ++i)
    for_each_slot(rows.stored(i), rows.place(i) * word_bits,
                  [&](std::size_t slot) { slots.push_back(slot); });
  std::vector<std::size_t> sizes;
  for (std::size_t n = 2; n <= slots.size(); n += n < exact ? 1 : n / 8) sizes.push_back(n);
  out.assign(slots.size() + 1, 0);
  std::vector<std::uint32_t> sorted(slots.size());
  std::vector<std::uint32_t> start;
  for (std::size_t c = 0; c < n_columns(); ++c) {
    if (watch.poll(static_cast<std::int64_t>(8 * slots.size() + n_ranks(c)))) return false;
    start.assign(n_ranks(c) + 1, 0);
    for (const std::size_t slot : slots) ++start[ranks(c)[slot] + 1];
    for (std::size_t r = 1; r < start.size(); ++r) start[r] += start[r - 1];
    for (const std::size_t slot : slots) sorted[start[ranks(c)[slot]]++] = ranks(c)[slot];
    for (const std::size_t n : sizes) {
      if (watch.poll(static_cast<std::int64_t>(slots.size()))) return false;
      // Any n rows span at least as much as some n that are neighbours in the order.
      std::int64_t least = INT64_MAX;
      for (std::size_t i = 0; i + n <= sorted.size(); ++i)
        least = std::min(least, weight_between(c, sorted[i], sorted[i + n - 1]));
      out[n] += least;
    }
  }
  for (std::size_t n = 1; n < out.size(); ++n) out[n] = std::max(out[n], out[n - 1]);
  return true;
}

}  // namespace maptree
