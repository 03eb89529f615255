// KeyedHash: a hash of rows and columns that nobody can make collide.
//
// Words come in blocks of 64. Of a block with words of halves l_i and h_i, and numbers s_i and t_i
// below 2^32 drawn at random, the sum
//
//   sum of (l_i + s_i mod 2^32) (h_i + t_i mod 2^32)  mod 2^64
//
// is taken: two blocks that differ have one sum with probability 2^-32 at most (this is NH of UMAC,
// RFC 4418: for halves that differ, one value in 2^32 of what they are multiplied by). Sums x_1,
// ..., x_n are the coefficients of a polynomial, their lower halves times another number b,
//
//   sum of (b low(x_i) + high(x_i)) a^(n - i)  mod p = 2^61 - 1,
//
// which for two sequences of sums that differ agrees with probability n 2^-60 at most. Whole sums
// would not do as coefficients: 0 and p would be one. A fixed mixing function spreads the values at
// the end, since probing wants more than that they differ.
//
// The numbers come from a cryptographic hash of the whole table: to have other rows or columns is
// to have other numbers. Hashes only find candidates, so no result depends on them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "data/blake2b.hpp"
#include "data/mix.hpp"
#include "data/product.hpp"

namespace maptree {

class KeyedHash {
 public:
  explicit KeyedHash(const Digest& digest_of_table);

  // Of word(0) to word(n - 1), each of which is asked for once, in order.
  template <class WordAt>
  [[nodiscard]] std::uint64_t operator()(std::size_t n, WordAt&& word) const {
    std::uint64_t state = 0;
    for (std::size_t first = 0; first < n; first += block) {
      const std::size_t end = std::min(block, n - first);
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < end; ++i) {
        const std::uint64_t w = word(first + i);
        sum += std::uint64_t{static_cast<std::uint32_t>(w) + low_[i]} *
               (static_cast<std::uint32_t>(w >> 32) + high_[i]);
      }
      state = add(state, sum);
    }
    return mix(state);
  }

 private:
  static constexpr std::size_t block = 64;  // words

  // The state is below 2^63, and so is the next: a is below 2^60.
  [[nodiscard]] std::uint64_t add(std::uint64_t state, std::uint64_t sum) const {
    const Product whole = multiply(state, a_), part = multiply(b_, sum & 0xFFFFFFFFu);
    const std::uint64_t low = whole.low + part.low;
    const std::uint64_t high = whole.high + part.high + (low < whole.low ? 1 : 0);
    constexpr std::uint64_t p = (std::uint64_t{1} << 61) - 1;
    return (low & p) + ((low >> 61) | (high << 3)) + (sum >> 32);  // 2^61 counts as 1
  }

  std::uint64_t a_, b_;
  std::uint32_t low_[block], high_[block];
};

}  // namespace maptree
