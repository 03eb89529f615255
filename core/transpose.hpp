// 32 x 32 bit transposition: rows to columns and back. No instruction set is assumed.
#pragma once

#include <cstdint>

namespace maptree {

// Bit c of block[r] moves to bit r of block[c]. Swaps off-diagonal squares of 16, 8, 4, 2, 1 bits.
inline void transpose_32x32(std::uint32_t* block) {
  std::uint32_t mask = 0x0000FFFFu;
  for (unsigned size = 16; size != 0; size >>= 1, mask ^= mask << size) {
    for (unsigned first = 0; first < 32; first += 2 * size) {
      for (unsigned k = first; k < first + size; ++k) {
        const std::uint32_t swap = ((block[k] >> size) ^ block[k + size]) & mask;
        block[k] ^= swap << size;
        block[k + size] ^= swap;
      }
    }
  }
}

}  // namespace maptree
