// RowSet: a set of rows as packed bits, one bit a slot of the Dataset.
//
// Slots are grouped in segments that start at a word boundary; slots that hold no row are never
// set, so counting needs no tail mask. Sets of one dataset all have the same number of words.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace maptree {

using Word = std::uint64_t;
inline constexpr std::size_t word_bits = 64;

[[nodiscard]] constexpr std::size_t words_for(std::size_t bits) {
  return (bits + word_bits - 1) / word_bits;
}

// Without flags for a newer processor std::popcount is a call into the compiler's library.
[[nodiscard]] constexpr int popcount(Word x) {
  x -= (x >> 1) & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
  return static_cast<int>((((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u) >> 56);
}

// 128 bits that name a set: the exclusive or of 128 random bits per row (Zobrist). Sets that differ
// collide with probability 2^-128, whatever their structure.
struct RowKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const RowKey&) const = default;
  RowKey& operator^=(const RowKey& other) {
    high ^= other.high;
    low ^= other.low;
    return *this;
  }
};

class RowSet {
 public:
  RowSet() = default;
  explicit RowSet(std::size_t n_words) : words_(n_words, 0) {}

  [[nodiscard]] std::size_t n_words() const { return words_.size(); }
  [[nodiscard]] const Word* data() const { return words_.data(); }
  [[nodiscard]] Word word(std::size_t w) const { return words_[w]; }
  void insert(std::size_t slot) { words_[slot / word_bits] |= Word{1} << (slot % word_bits); }

  // This set becomes the rows of `from` where `column` is 1 (side 1) or 0 (side 0).
  void assign_side(const RowSet& from, const Word* column, int side) {
    words_.resize(from.words_.size());
    const Word flip = side == 1 ? 0 : ~Word{0};
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] = from.words_[w] & (column[w] ^ flip);
  }

 private:
  std::vector<Word> words_;
};

// Calls visit(slot) for every set bit, in increasing order.
template <class Visit>
void for_each_slot(Word word, std::size_t first_slot, Visit&& visit) {
  for (; word != 0; word &= word - 1)
    visit(first_slot + static_cast<std::size_t>(std::countr_zero(word)));
}

}  // namespace maptree
