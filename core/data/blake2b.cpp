#include "data/blake2b.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace maptree {

namespace {

constexpr Digest initial = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                            0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                            0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
constexpr std::uint64_t parameters = 0x01010000 ^ 64;  // no key, no tree, 64 bytes of digest

constexpr std::size_t n_rounds = 12;
constexpr std::uint8_t order[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                        {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                        {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                        {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                        {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                        {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                        {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                        {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                        {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                        {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

inline void mix_words(std::uint64_t& a, std::uint64_t& b, std::uint64_t& c, std::uint64_t& d,
                      std::uint64_t x, std::uint64_t y) {
  a += b + x;
  d = std::rotr(d ^ a, 32);
  c += d;
  b = std::rotr(b ^ c, 24);
  a += b + y;
  d = std::rotr(d ^ a, 16);
  c += d;
  b = std::rotr(b ^ c, 63);
}

// The round is a constant, so that the words of the message are found without a look at the table.
template <std::size_t round>
inline void mix_round(std::uint64_t (&v)[16], const std::uint64_t (&m)[16]) {
  constexpr const std::uint8_t(&s)[16] = order[round % 10];
  mix_words(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]);
  mix_words(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
  mix_words(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]);
  mix_words(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
  mix_words(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]);
  mix_words(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
  mix_words(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]);
  mix_words(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
}

template <std::size_t... rounds>
inline void mix_all(std::uint64_t (&v)[16], const std::uint64_t (&m)[16],
                    std::index_sequence<rounds...>) {
  (mix_round<rounds>(v, m), ...);
}

// Compilers make one instruction of either where the machine allows.
std::uint64_t read_number(const std::uint8_t* bytes) {
  std::uint64_t number = 0;
  for (unsigned i = 0; i < 8; ++i) number |= std::uint64_t{bytes[i]} << (8 * i);
  return number;
}
void write_number(std::uint64_t number, std::uint8_t* bytes) {
  for (unsigned i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(number >> (8 * i));
}

}  // namespace

Blake2b::Blake2b() : state_(initial) { state_[0] ^= parameters; }

void Blake2b::compress(const std::uint8_t* block, bool last) {
  std::uint64_t m[16], v[16];
  for (std::size_t i = 0; i < 16; ++i) m[i] = read_number(block + 8 * i);
  for (std::size_t i = 0; i < 8; ++i) {
    v[i] = state_[i];
    v[8 + i] = initial[i];
  }
  v[12] ^= n_bytes_;
  if (last) v[14] = ~v[14];
  mix_all(v, m, std::make_index_sequence<n_rounds>());
  for (std::size_t i = 0; i < 8; ++i) state_[i] ^= v[i] ^ v[8 + i];
}

void Blake2b::add(const void* bytes, std::size_t n) {
  const auto* from = static_cast<const std::uint8_t*>(bytes);
  while (n > 0) {
    if (n_waiting_ == block_bytes) {
      n_bytes_ += block_bytes;
      compress(block_.data(), false);
      n_waiting_ = 0;
    }
    if (n_waiting_ == 0 && n > block_bytes) {  // where it lies; one block at least is left
      n_bytes_ += block_bytes;
      compress(from, false);
      from += block_bytes;
      n -= block_bytes;
      continue;
    }
    const std::size_t some = std::min(n, block_bytes - n_waiting_);
    std::memcpy(&block_[n_waiting_], from, some);
    n_waiting_ += some;
    from += some;
    n -= some;
  }
}

void Blake2b::add(std::uint64_t number) {
  std::uint8_t bytes[8];
  write_number(number, bytes);
  add(bytes, sizeof(bytes));
}

Digest Blake2b::finish() {
  n_bytes_ += n_waiting_;
  std::fill(block_.begin() + static_cast<std::ptrdiff_t>(n_waiting_), block_.end(),
            std::uint8_t{0});
  compress(block_.data(), true);
  return state_;
}

}  // namespace maptree
