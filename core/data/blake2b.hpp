// Blake2b: the cryptographic hash BLAKE2b of RFC 7693, without a key, of 512 bits.
//
// Use: Blake2b hash; hash.add(bytes); hash.add(more); Digest digest = hash.finish();
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace maptree {

using Digest = std::array<std::uint64_t, 8>;  // its bytes, the first one lowest

class Blake2b {
 public:
  Blake2b();

  void add(const void* bytes, std::size_t n);
  void add(std::uint64_t number);  // as 8 bytes, on any machine the same
  // To be called once.
  [[nodiscard]] Digest finish();

 private:
  static constexpr std::size_t block_bytes = 128;

  void compress(const std::uint8_t* block, bool last);

  Digest state_;
  std::uint64_t n_bytes_ = 0;  // compressed so far; a table has less than 2^64
  std::array<std::uint8_t, block_bytes> block_ = {};
  std::size_t n_waiting_ = 0;  // in block_; the last block waits for finish()
};

}  // namespace maptree
