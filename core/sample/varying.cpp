#include "sample/varying.hpp"

#include <cassert>
#include <cstring>

namespace maptree {

namespace {

// More rows than this are not compared side by side: by then what has not varied rarely does.
constexpr std::size_t rows_side_by_side = 256;

// Columns 64 w to 64 w + 63 of a row; bits beyond the last column mean nothing.
Word columns_of(const Dataset& data, const std::uint8_t* row, std::size_t w) {
  const std::size_t h = 2 * w;
  Word word = Dataset::half_of(row, h);
  if (h + 1 < data.halves_per_row()) word |= Word{Dataset::half_of(row, h + 1)} << 32;
  return word;
}

bool varies(const RowSet& rows, const Word* column, Word flip) {
  if (!rows.sparse()) {
    constexpr std::size_t together = 16;  // words, for vector instructions
    const Word* const words = rows.words().data();
    std::size_t w = 0;
    for (; w + together <= rows.n_words(); w += together) {
      Word any = 0;
      for (std::size_t i = w; i < w + together; ++i) any |= words[i] & (column[i] ^ flip);
      if (any != 0) return true;
    }
    for (; w < rows.n_words(); ++w)
      if ((words[w] & (column[w] ^ flip)) != 0) return true;
    return false;
  }
  for (std::size_t i = 0; i < rows.n_stored(); ++i)
    if ((rows.stored(i) & (column[rows.place(i)] ^ flip)) != 0) return true;
  return false;
}

}  // namespace

ColumnSet all_columns(const Dataset& data) {
  ColumnSet columns(words_for(data.n_columns()), ~Word{0});
  if (data.n_columns() % word_bits != 0)
    columns.back() = (Word{1} << (data.n_columns() % word_bits)) - 1;
  return columns;
}

std::int64_t find_varying(const Dataset& data, const RowSet& rows, const ColumnSet& among,
                          ColumnSet& varying, Watch& watch) {
  varying.assign(among.size(), 0);
  const std::uint8_t* first = nullptr;
  std::size_t n_seen = 0, i = 0;
  for (; i < rows.n_stored() && n_seen < rows_side_by_side; ++i) {
    for_each_slot(rows.stored(i), rows.place(i) * word_bits, [&](std::size_t slot) {
      const std::uint8_t* const row = data.row(slot);
      ++n_seen;
      if (first == nullptr)
        first = row;
      else
        for (std::size_t w = 0; w < among.size(); ++w)
          varying[w] |= columns_of(data, first, w) ^ columns_of(data, row, w);
    });
  }
  const bool seen_all = i == rows.n_stored();
  for (std::size_t w = 0; w < among.size(); ++w) {
    varying[w] &= among[w];
    if (!seen_all) {
      const Word reference = columns_of(data, first, w);
      bool stopped = false;
      for_each_slot(among[w] & ~varying[w], 0, [&](std::size_t c) {
        stopped = stopped || watch.poll(static_cast<std::int64_t>(rows.n_stored()));
        if (stopped) return;
        const Word flip = ((reference >> c) & 1) != 0 ? ~Word{0} : Word{0};
        if (varies(rows, data.column(w * word_bits + c), flip)) varying[w] |= Word{1} << c;
      });
      if (stopped) return -1;
    }
  }
  return weight_of(data, varying);
}

std::int64_t weight_of(const Dataset& data, const ColumnSet& columns) {
  std::int64_t sum = 0;
  for (std::size_t w = 0; w < columns.size(); ++w) {
    if (!data.weighted())
      sum += popcount(columns[w]);
    else
      for_each_slot(columns[w], w * word_bits, [&](std::size_t c) { sum += data.test_weight(c); });
  }
  return sum;
}

std::int32_t column_at(const Dataset& data, const ColumnSet& columns, std::size_t at) {
  for (std::size_t w = 0; w < columns.size(); ++w) {
    Word word = columns[w];
    const auto here = static_cast<std::size_t>(popcount(word));
    if (!data.weighted() && at >= here) {
      at -= here;
      continue;
    }
    for (; word != 0; word &= word - 1) {
      const std::size_t c = w * word_bits + static_cast<std::size_t>(std::countr_zero(word));
      const auto weight = static_cast<std::size_t>(data.test_weight(c));
      if (at < weight) return static_cast<std::int32_t>(c);
      at -= weight;
    }
  }
  assert(false);
  return -1;
}

}  // namespace maptree
