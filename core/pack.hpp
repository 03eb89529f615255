// Packing: a caller's matrix of zeros and ones, of any type and strides, into bits by column.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace maptree {

struct Matrix {
  const void* data = nullptr;
  std::size_t n_rows = 0;
  std::size_t n_columns = 0;
  std::int64_t row_stride = 0;  // in elements
  std::int64_t column_stride = 0;
};

struct BadValue {
  std::size_t row = 0;
  std::size_t column = 0;
  double value = 0;
};

// bits[c * ceil(n_rows / 8) + r / 8] gets bit r % 8. Returns a value that is neither 0 nor 1, if
// there is one: the first of its column. Rows are walked in bands of 64, so that both orders of
// a matrix are read along cache lines; nothing but the bits is allocated.
template <class T>
std::optional<BadValue> pack_columns(const Matrix& x, std::vector<std::uint8_t>& bits) {
  constexpr std::size_t band = 64;
  const auto* data = static_cast<const T*>(x.data);
  const std::size_t bytes = (x.n_rows + 7) / 8;
  bits.assign(x.n_columns * bytes, 0);
  for (std::size_t first = 0; first < x.n_rows; first += band) {
    const std::size_t n = std::min(band, x.n_rows - first);
    for (std::size_t c = 0; c < x.n_columns; ++c) {
      const T* values = data + static_cast<std::int64_t>(first) * x.row_stride +
                        static_cast<std::int64_t>(c) * x.column_stride;
      std::uint64_t ones = 0, zeros = 0;
      for (std::size_t r = 0; r < n; ++r) {
        const T value = values[static_cast<std::int64_t>(r) * x.row_stride];
        ones |= static_cast<std::uint64_t>(value == T{1}) << r;
        zeros |= static_cast<std::uint64_t>(value == T{0}) << r;
      }
      const std::uint64_t bad = ~(ones | zeros) & (~std::uint64_t{0} >> (band - n));
      if (bad != 0) {
        const auto r = static_cast<std::size_t>(std::countr_zero(bad));
        return BadValue{first + r, c,
                        static_cast<double>(values[static_cast<std::int64_t>(r) * x.row_stride])};
      }
      for (std::size_t b = 0; 8 * b < n; ++b)
        bits[c * bytes + first / 8 + b] = static_cast<std::uint8_t>(ones >> (8 * b));
    }
  }
  return std::nullopt;
}

}  // namespace maptree
