// What a caller hands over: columns of 0 and 1 as bits, and class numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "data/row_set.hpp"
#include "memory/page_memory.hpp"

namespace maptree {

static_assert(std::endian::native == std::endian::little,
              "bytes of packed columns are read as words");

// Total weight (rows counted with repetition) that the fixed-point tables can hold.
inline constexpr std::int64_t max_total_weight = std::int64_t{1} << 25;
// Sum of the weights of all columns: sums of 32 bits hold it, and logarithms tell any two apart.
inline constexpr std::int64_t max_test_weight = (std::int64_t{1} << 31) - 1;

// By column, whole words each: bit r % 64 of word r / 64 is row r's value; bits beyond the last row
// are 0.
struct PackedTable {
  std::size_t n_rows = 0;
  std::size_t n_columns = 0;
  PageVector<Word> words;

  PackedTable() = default;
  PackedTable(std::size_t rows, std::size_t columns)
      : n_rows(rows), n_columns(columns), words(columns * words_for(rows)) {}

  [[nodiscard]] std::size_t words_per_column() const { return words_for(n_rows); }
  [[nodiscard]] const Word* column(std::size_t c) const { return &words[c * words_per_column()]; }
  [[nodiscard]] Word* column(std::size_t c) { return &words[c * words_per_column()]; }
  [[nodiscard]] std::size_t bytes() const { return words.capacity() * sizeof(Word); }
};

// Class numbers, one a row. A byte each where there are few classes: at 100 columns four would be
// a third of the packed table.
class Labels {
 public:
  Labels(std::span<const std::uint8_t> labels) : bytes_(labels.data()), size_(labels.size()) {}
  Labels(std::span<const std::int32_t> labels) : numbers_(labels.data()), size_(labels.size()) {}
  Labels(const std::vector<std::int32_t>& labels) : Labels(std::span(labels)) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return bytes_ != nullptr ? std::as_bytes(std::span(bytes_, size_))
                             : std::as_bytes(std::span(numbers_, size_));
  }
  [[nodiscard]] std::int32_t operator[](std::size_t row) const {
    return bytes_ != nullptr ? bytes_[row] : numbers_[row];
  }

 private:
  const std::uint8_t* bytes_ = nullptr;
  const std::int32_t* numbers_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace maptree
