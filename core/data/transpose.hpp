// Bit transposition: rows to columns and back. No instruction set is assumed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace maptree {

// Blocks of 32 x 32 bits side by side: bit c of rows[r * Blocks + b] moves to bit r of
// rows[c * Blocks + b]. Swaps off-diagonal squares of 16, 8, 4, 2, 1 bits; with four blocks each
// step is one vector instruction.
template <std::size_t Blocks>
void transpose_blocks(std::uint32_t* rows) {
  std::uint32_t mask = 0x0000FFFFu;
  for (unsigned size = 16; size != 0; size >>= 1, mask ^= mask << size) {
    for (unsigned first = 0; first < 32; first += 2 * size) {
      for (unsigned k = first; k < first + size; ++k) {
        std::uint32_t* const above = rows + k * Blocks;
        std::uint32_t* const below = rows + (k + size) * Blocks;
        std::uint32_t swap[Blocks];
        for (std::size_t b = 0; b < Blocks; ++b) swap[b] = ((above[b] >> size) ^ below[b]) & mask;
        for (std::size_t b = 0; b < Blocks; ++b) above[b] ^= swap[b] << size;
        for (std::size_t b = 0; b < Blocks; ++b) below[b] ^= swap[b];
      }
    }
  }
}

inline void transpose_32x32(std::uint32_t* block) { transpose_blocks<1>(block); }

}  // namespace maptree
