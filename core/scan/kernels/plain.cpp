// The portable kernel: standard C++, no intrinsics, for every processor and compiler.
#include "scan/kernels/pair_scan.hpp"

namespace maptree {
namespace {

struct PlainLanes {
  template <class T>
  struct Eight {
    T v[width];
  };
  using I32 = Eight<std::int32_t>;
  using I64 = Eight<std::int64_t>;

  template <class T, class F>
  static Eight<T> map(F f) {
    Eight<T> out;
    for (std::size_t l = 0; l < width; ++l) out.v[l] = f(l);
    return out;
  }
  template <class T>
  static Eight<T> load(const T* from) {
    return map<T>([&](std::size_t l) { return from[l]; });
  }
  template <class T>
  static void store(T* to, Eight<T> a) {
    for (std::size_t l = 0; l < width; ++l) to[l] = a.v[l];
  }
  static I32 splat32(std::int32_t a) {
    return map<std::int32_t>([&](std::size_t) { return a; });
  }
  static I64 splat64(std::int64_t a) {
    return map<std::int64_t>([&](std::size_t) { return a; });
  }
  template <class T>
  static Eight<T> add(Eight<T> a, Eight<T> b) {
    return map<T>([&](std::size_t l) { return a.v[l] + b.v[l]; });
  }
  template <class T>
  static Eight<T> sub(Eight<T> a, Eight<T> b) {
    return map<T>([&](std::size_t l) { return a.v[l] - b.v[l]; });
  }
  template <class T>
  static Eight<T> min(Eight<T> a, Eight<T> b) {
    return map<T>([&](std::size_t l) { return a.v[l] < b.v[l] ? a.v[l] : b.v[l]; });
  }
  template <class T>
  static Eight<T> max(Eight<T> a, Eight<T> b) {
    return map<T>([&](std::size_t l) { return a.v[l] < b.v[l] ? b.v[l] : a.v[l]; });
  }
  template <class T>
  static Eight<T> scale(Eight<T> a, T factor) {
    return map<T>([&](std::size_t l) { return a.v[l] * factor; });
  }
  static I64 widen(I32 a) {
    return map<std::int64_t>([&](std::size_t l) { return std::int64_t{a.v[l]}; });
  }
  static I64 gather(const std::int64_t* table, I32 at) {
    return map<std::int64_t>([&](std::size_t l) { return table[at.v[l]]; });
  }
  // a >= b ? yes : no
  static I64 at_least(I32 a, I32 b, I64 yes, I64 no) {
    return map<std::int64_t>([&](std::size_t l) { return a.v[l] >= b.v[l] ? yes.v[l] : no.v[l]; });
  }
  static I32 where_positive(I32 a, I32 value) {
    return map<std::int32_t>([&](std::size_t l) { return a.v[l] > 0 ? value.v[l] : 0; });
  }
  // Zero in the lanes of columns j, j + 1, ... up to and including i.
  static I32 after(std::size_t i, std::size_t j, I32 value) {
    return map<std::int32_t>([&](std::size_t l) { return j + l > i ? value.v[l] : 0; });
  }
  static std::int64_t least(I64 a) {
    std::int64_t out = a.v[0];
    for (std::size_t l = 1; l < width; ++l) out = a.v[l] < out ? a.v[l] : out;
    return out;
  }
  static std::int32_t sum(I32 a) {
    std::int32_t out = 0;
    for (std::size_t l = 0; l < width; ++l) out += a.v[l];
    return out;
  }

  static std::uint32_t popcount(std::uint32_t x) {
    x -= (x >> 1) & 0x55555555u;
    x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
    return (((x + (x >> 4)) & 0x0F0F0F0Fu) * 0x01010101u) >> 24;
  }
  template <std::size_t R>
  static void popcount_block(const std::uint32_t* words, std::size_t stride,
                             const std::uint32_t* mask, std::uint32_t first, std::uint32_t last,
                             std::int32_t (*out)[lanes]) {
    for (std::size_t r = 0; r < R; ++r) {
      for (std::size_t l = 0; l < lanes; ++l) out[r][l] = 0;
      for (std::size_t w = first; w < last; ++w) {
        const std::uint32_t m = mask == nullptr ? ~0u : mask[w * stride + r];
        for (std::size_t l = 0; l < lanes; ++l)
          out[r][l] += static_cast<std::int32_t>(popcount(words[w * stride + l] & m));
      }
    }
  }
  // Each bit of a byte as a mask of 64 bits, so that the sums of eight columns are vectors.
  static void sum_rows(const std::uint8_t* rows, std::size_t row_bytes, const std::uint32_t* places,
                       const std::int64_t* values, std::size_t n, std::int64_t* sums) {
    sum_by_masks(rows, row_bytes, places, values, n, sums);
  }
};

}  // namespace

extern const PairKernel plain_kernel;
const PairKernel plain_kernel = {"plain", scan_rows<PlainLanes>, count_columns<PlainLanes>,
                                 count_with<PlainLanes>, PlainLanes::sum_rows};

}  // namespace maptree
