#include "data/pack.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace maptree {

namespace {

constexpr std::size_t side = 64;  // of a tile: 64 rows, 64 columns, a byte a value

// Values along one line of the matrix as bytes; false if one is neither 0 nor 1. No branch, and
// contiguous values on their own: compilers make vectors of both.
template <class T>
bool to_bytes(const T* from, std::int64_t stride, std::size_t n, std::uint8_t* to) {
  unsigned char bad = 0;
  const auto convert = [&](std::size_t i, T value) {
    const unsigned char one = value == T{1}, zero = value == T{0};
    to[i] = one;
    bad = static_cast<unsigned char>(bad | ((one | zero) ^ 1));
  };
  if (stride == 1)
    for (std::size_t i = 0; i < n; ++i) convert(i, from[i]);
  else
    for (std::size_t i = 0; i < n; ++i) convert(i, from[static_cast<std::int64_t>(i) * stride]);
  return bad == 0;
}

// Bit i of the result is byte i, each 0 or 1.
[[nodiscard]] Word gather_bits(const std::uint8_t* bytes) {
  Word word = 0;
  for (std::size_t k = 0; k < 8; ++k) {
    std::uint64_t eight;
    std::memcpy(&eight, bytes + 8 * k, 8);
    // Byte i moves to bit 56 + i, and no two of the sums meet.
    word |= ((eight * 0x0102040810204080u) >> 56) << (8 * k);
  }
  return word;
}

// Byte c of rows[r] moves to byte r of rows[c]: off-diagonal squares of 4, 2, 1 bytes change
// places.
void transpose_8x8_bytes(std::uint64_t* rows) {
  std::uint64_t mask = 0x00000000FFFFFFFFu;
  for (unsigned size = 4; size != 0; size >>= 1, mask ^= mask << (8 * size)) {
    for (unsigned first = 0; first < 8; first += 2 * size) {
      for (unsigned k = first; k < first + size; ++k) {
        const std::uint64_t swap = ((rows[k] >> (8 * size)) ^ rows[k + size]) & mask;
        rows[k] ^= swap << (8 * size);
        rows[k + size] ^= swap;
      }
    }
  }
}

// Bit r of words[c] is byte c of row r, each 0 or 1.
void transpose_bits(const std::uint8_t* tile, Word* words) {
  // Of eight rows a byte each column, eight columns to a word.
  std::uint64_t eight_rows[side / 8][8] = {};  // by column / 8 and row / 8
  for (std::size_t r = 0; r < side; ++r) {
    for (std::size_t g = 0; g < side / 8; ++g) {
      std::uint64_t values;
      std::memcpy(&values, &tile[r * side + 8 * g], 8);
      eight_rows[g][r / 8] |= values << (r % 8);
    }
  }
  for (std::size_t g = 0; g < side / 8; ++g) {
    transpose_8x8_bytes(eight_rows[g]);
    std::copy(eight_rows[g], eight_rows[g] + 8, words + 8 * g);
  }
}

}  // namespace

template <class T>
std::optional<PackedTable> pack_columns(const Matrix& x) {
  const auto* data = static_cast<const T*>(x.data);
  const bool along_rows = std::abs(x.column_stride) <= std::abs(x.row_stride);
  PackedTable out(x.n_rows, x.n_columns);
  std::uint8_t tile[side * side];
  Word words[side];
  for (std::size_t row = 0; row < x.n_rows; row += side) {
    const std::size_t n_rows = std::min(side, x.n_rows - row);
    if (n_rows < side) std::fill(std::begin(tile), std::end(tile), std::uint8_t{0});
    for (std::size_t column = 0; column < x.n_columns; column += side) {
      const std::size_t n_columns = std::min(side, x.n_columns - column);
      const T* first = data + static_cast<std::int64_t>(row) * x.row_stride +
                       static_cast<std::int64_t>(column) * x.column_stride;
      const std::size_t n_lines = along_rows ? n_rows : n_columns;
      for (std::size_t line = 0; line < n_lines; ++line) {
        const T* from =
            first + static_cast<std::int64_t>(line) * (along_rows ? x.row_stride : x.column_stride);
        if (!to_bytes(from, along_rows ? x.column_stride : x.row_stride,
                      along_rows ? n_columns : n_rows, &tile[line * side]))
          return std::nullopt;
      }
      if (along_rows)
        transpose_bits(tile, words);
      else
        for (std::size_t c = 0; c < n_columns; ++c) words[c] = gather_bits(&tile[c * side]);
      for (std::size_t c = 0; c < n_columns; ++c) out.column(column + c)[row / side] = words[c];
    }
  }
  return out;
}

template std::optional<PackedTable> pack_columns<std::int8_t>(const Matrix&);
template std::optional<PackedTable> pack_columns<std::uint8_t>(const Matrix&);
template std::optional<PackedTable> pack_columns<std::int16_t>(const Matrix&);
template std::optional<PackedTable> pack_columns<std::uint16_t>(const Matrix&);
template std::optional<PackedTable> pack_columns<std::int32_t>(const Matrix&);
template std::optional<PackedTable> pack_columns<std::uint32_t>(const Matrix&);
template std::optional<PackedTable> pack_columns<std::int64_t>(const Matrix&);
template std::optional<PackedTable> pack_columns<std::uint64_t>(const Matrix&);
template std::optional<PackedTable> pack_columns<float>(const Matrix&);
template std::optional<PackedTable> pack_columns<double>(const Matrix&);

}  // namespace maptree
