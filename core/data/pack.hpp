// Packing: a caller's matrix of zeros and ones, of any type and strides, into bits by column.
#pragma once

#include <cstdint>
#include <optional>

#include "data/packed_table.hpp"

namespace maptree {

struct Matrix {
  const void* data = nullptr;
  std::size_t n_rows = 0;
  std::size_t n_columns = 0;
  std::int64_t row_stride = 0;  // in elements
  std::int64_t column_stride = 0;
};

// Nothing if a value is neither 0 nor 1. One pass over the matrix, 64 rows at a time, along the
// nearer of its two strides; nothing but the bits is allocated. T: the integers of 8 to 64 bits,
// float and double.
template <class T>
[[nodiscard]] std::optional<PackedTable> pack_columns(const Matrix& x);

}  // namespace maptree
