// Packing: a caller's matrix of zeros and ones, of any type and strides, into bits by column.
#pragma once

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

// bits[c * ceil(n_rows / 8) + r / 8] gets bit r % 8. Returns the first value in a column that is
// neither 0 nor 1, if any. Rows are walked in bands, so that both orders of a matrix are read
// along cache lines, and nothing but the bits is allocated.
template <class T>
std::optional<BadValue> pack_columns(const Matrix& x, std::vector<std::uint8_t>& bits) {
  constexpr std::size_t band = 512;
  const auto* data = static_cast<const T*>(x.data);
  const std::size_t bytes = (x.n_rows + 7) / 8;
  bits.assign(x.n_columns * bytes, 0);
  for (std::size_t first = 0; first < x.n_rows; first += band) {
    const std::size_t last = first + band < x.n_rows ? first + band : x.n_rows;
    for (std::size_t c = 0; c < x.n_columns; ++c) {
      const T* column = data + static_cast<std::int64_t>(c) * x.column_stride;
      for (std::size_t r = first; r < last; ++r) {
        const T value = column[static_cast<std::int64_t>(r) * x.row_stride];
        if (value != T{0} && value != T{1})
          return BadValue{r, c, static_cast<double>(value)};
        if (value == T{1})
          bits[c * bytes + r / 8] |= static_cast<std::uint8_t>(1u << (r % 8));
      }
    }
  }
  return std::nullopt;
}

}  // namespace maptree
