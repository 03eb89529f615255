// The AVX2 kernel; compiled for it, run only where kernel_available says so.
#include <immintrin.h>

#include "scan/kernels/pair_scan.hpp"

namespace maptree {
namespace {

struct Avx2Lanes {
  using I32 = __m256i;
  struct I64 {
    __m256i a, b;  // lanes 0 to 3 and 4 to 7
  };

  static I32 load(const std::int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static I64 load(const std::int64_t* from) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)),
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 4))};
  }
  static void store(std::int32_t* to, I32 a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), a);
  }
  static void store(std::int64_t* to, I64 v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v.a);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 4), v.b);
  }
  static I32 splat32(std::int32_t a) { return _mm256_set1_epi32(a); }
  static I64 splat64(std::int64_t a) { return {_mm256_set1_epi64x(a), _mm256_set1_epi64x(a)}; }
  static I32 add(I32 a, I32 b) { return _mm256_add_epi32(a, b); }
  static I64 add(I64 x, I64 y) { return {_mm256_add_epi64(x.a, y.a), _mm256_add_epi64(x.b, y.b)}; }
  static I32 sub(I32 a, I32 b) { return _mm256_sub_epi32(a, b); }
  static I64 sub(I64 x, I64 y) { return {_mm256_sub_epi64(x.a, y.a), _mm256_sub_epi64(x.b, y.b)}; }
  static I32 min(I32 a, I32 b) { return _mm256_min_epi32(a, b); }
  // AVX2 compares 64-bit lanes but has no minimum of them.
  static __m256i min4(__m256i x, __m256i y) {
    return _mm256_blendv_epi8(x, y, _mm256_cmpgt_epi64(x, y));
  }
  static __m256i max4(__m256i x, __m256i y) {
    return _mm256_blendv_epi8(y, x, _mm256_cmpgt_epi64(x, y));
  }
  static I64 min(I64 x, I64 y) { return {min4(x.a, y.a), min4(x.b, y.b)}; }
  static I64 max(I64 x, I64 y) { return {max4(x.a, y.a), max4(x.b, y.b)}; }
  static I32 scale(I32 a, std::int32_t factor) {
    return _mm256_mullo_epi32(a, _mm256_set1_epi32(factor));
  }
  static I64 scale(I64 x, std::int64_t factor) {  // no 64-bit product either; rarely needed
    std::int64_t v[width];
    store(v, x);
    for (std::size_t l = 0; l < width; ++l) v[l] *= factor;
    return load(v);
  }
  static I64 widen(I32 a) {
    return {_mm256_cvtepi32_epi64(_mm256_castsi256_si128(a)),
            _mm256_cvtepi32_epi64(_mm256_extracti128_si256(a, 1))};
  }
  static I64 gather(const std::int64_t* table, I32 at) {
    const auto* base = reinterpret_cast<const long long*>(table);
    return {_mm256_i32gather_epi64(base, _mm256_castsi256_si128(at), 8),
            _mm256_i32gather_epi64(base, _mm256_extracti128_si256(at, 1), 8)};
  }
  static I64 at_least(I32 a, I32 b, I64 yes, I64 no) {
    const I64 less = widen(_mm256_cmpgt_epi32(b, a));  // all ones where a < b
    return {_mm256_blendv_epi8(yes.a, no.a, less.a), _mm256_blendv_epi8(yes.b, no.b, less.b)};
  }
  static I32 where_positive(I32 a, I32 value) {
    return _mm256_and_si256(value, _mm256_cmpgt_epi32(a, _mm256_setzero_si256()));
  }
  static I32 after(std::size_t i, std::size_t j, I32 value) {
    const int last = i >= j ? static_cast<int>(i - j) : -1;
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_and_si256(value, _mm256_cmpgt_epi32(lane, _mm256_set1_epi32(last)));
  }
  static std::int64_t least(I64 x) {
    std::int64_t v[width];
    store(v, x);
    std::int64_t out = v[0];
    for (std::size_t l = 1; l < width; ++l) out = v[l] < out ? v[l] : out;
    return out;
  }
  static std::int32_t sum(I32 a) {
    std::int32_t v[width];
    store(v, a);
    std::int32_t out = 0;
    for (std::size_t l = 0; l < width; ++l) out += v[l];
    return out;
  }
  // Nibble look-up and horizontal sums of bytes (Mula): AVX2 has no popcount of its own.
  template <std::size_t R>
  static void popcount_block(const std::uint32_t* words, std::size_t stride,
                             const std::uint32_t* mask, std::uint32_t first, std::uint32_t last,
                             std::int32_t (*out)[lanes]) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                           0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i ones8 = _mm256_set1_epi8(1), ones16 = _mm256_set1_epi16(1);
    for (std::size_t h = 0; h < lanes; h += width) {
      __m256i n[R];
      for (std::size_t r = 0; r < R; ++r) n[r] = _mm256_setzero_si256();
      for (std::size_t w = first; w < last; ++w) {
        const __m256i columns =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + w * stride + h));
        for (std::size_t r = 0; r < R; ++r) {
          const std::uint32_t m = mask == nullptr ? ~0u : mask[w * stride + r];
          const __m256i bits = _mm256_and_si256(columns, _mm256_set1_epi32(static_cast<int>(m)));
          const __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(bits, nibble));
          const __m256i high =
              _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi32(bits, 4), nibble));
          const __m256i pairs = _mm256_maddubs_epi16(_mm256_add_epi8(low, high), ones8);
          n[r] = _mm256_add_epi32(n[r], _mm256_madd_epi16(pairs, ones16));
        }
      }
      for (std::size_t r = 0; r < R; ++r) store(out[r] + h, n[r]);
    }
  }
  // Each bit of a byte as a mask of 64 bits, so that the sums of eight columns are vectors.
  static void sum_rows(const std::uint8_t* rows, std::size_t row_bytes, const std::uint32_t* places,
                       const std::int64_t* values, std::size_t n, std::int64_t* sums) {
    sum_by_masks(rows, row_bytes, places, values, n, sums);
  }
};

}  // namespace

extern const PairKernel avx2_kernel;
const PairKernel avx2_kernel = {"avx2", scan_rows<Avx2Lanes>, count_columns<Avx2Lanes>,
                                count_with<Avx2Lanes>, Avx2Lanes::sum_rows};

}  // namespace maptree
