// Random: the samplers' random numbers. A generator and distributions of our own, because those of
// <random> differ between libraries, and a seed has to give the same trees everywhere.
//
// A stream depends on (seed, stream) alone: chain 3 draws the same numbers whatever thread runs it,
// and however many chains there are.
#pragma once

#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "data/mix.hpp"

namespace maptree {

class Random {
 public:
  // Both are mixed before they meet: neighbouring seeds and streams have nothing in common.
  Random(std::uint64_t seed, std::uint64_t stream) {
    std::uint64_t at = mix(seed + step) ^ mix(mix(stream + 2 * step));
    for (std::uint64_t& word : state_) word = mix(at += step);
    if ((state_[0] | state_[1] | state_[2] | state_[3]) == 0) state_[0] = 1;  // a fixed point
  }

  std::uint64_t next() {  // xoshiro256** of Blackman and Vigna
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // 0 to n - 1, each equally likely: a product of 32 bits, and the few values that would favour
  // some results are drawn again (Lemire 2019). 1 <= n < 2^32.
  std::size_t below(std::size_t n) {
    assert(n > 0 && n <= UINT32_MAX);
    const auto range = static_cast<std::uint32_t>(n);
    std::uint64_t product = (next() >> 32) * range;
    if (static_cast<std::uint32_t>(product) < range) {
      const std::uint32_t least = (0u - range) % range;
      while (static_cast<std::uint32_t>(product) < least) product = (next() >> 32) * range;
    }
    return static_cast<std::size_t>(product >> 32);
  }
  // In [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // -log of a uniform number: accepting what costs less than this more is Metropolis' rule.
  double exponential() { return -std::log1p(-uniform()); }

 private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15ULL;
  std::uint64_t state_[4];
};

}  // namespace maptree
