// The product of two 64-bit numbers, whole.
#pragma once

#include <cstdint>

namespace maptree {

struct Product {
  std::uint64_t high, low;
};

[[nodiscard]] inline Product multiply(std::uint64_t a, std::uint64_t b) {
#if defined(__SIZEOF_INT128__)
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
#else
  const std::uint64_t half = 0xFFFFFFFFu;
  const std::uint64_t a0 = a & half, a1 = a >> 32, b0 = b & half, b1 = b >> 32;
  const std::uint64_t low = a0 * b0, one = a1 * b0 + (low >> 32), two = a0 * b1 + (one & half);
  return {a1 * b1 + (one >> 32) + (two >> 32), (two << 32) | (low & half)};
#endif
}

}  // namespace maptree
