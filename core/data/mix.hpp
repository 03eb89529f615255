// A mixing function: every bit of the result depends on every bit of the argument.
#pragma once

#include <cstdint>

namespace maptree {

[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {  // the finaliser of splitmix64
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace maptree
