// The AVX-512 kernel (F, BW, DQ, VL, VPOPCNTDQ); compiled with these flags, run only where
// kernel_available says so.
#include <immintrin.h>

#include "scan/kernels/pair_scan.hpp"

namespace maptree {
namespace {

struct Avx512Lanes {
  using I32 = __m256i;
  using I64 = __m512i;

  static I32 load(const std::int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static I64 load(const std::int64_t* from) { return _mm512_loadu_si512(from); }
  static void store(std::int32_t* to, I32 a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), a);
  }
  static void store(std::int64_t* to, I64 a) { _mm512_storeu_si512(to, a); }
  static I32 splat32(std::int32_t a) { return _mm256_set1_epi32(a); }
  static I64 splat64(std::int64_t a) { return _mm512_set1_epi64(a); }
  static I32 add(I32 a, I32 b) { return _mm256_add_epi32(a, b); }
  static I64 add(I64 a, I64 b) { return _mm512_add_epi64(a, b); }
  static I32 sub(I32 a, I32 b) { return _mm256_sub_epi32(a, b); }
  static I64 sub(I64 a, I64 b) { return _mm512_sub_epi64(a, b); }
  static I32 min(I32 a, I32 b) { return _mm256_min_epi32(a, b); }
  static I64 min(I64 a, I64 b) { return _mm512_min_epi64(a, b); }
  static I64 max(I64 a, I64 b) { return _mm512_max_epi64(a, b); }
  static I32 scale(I32 a, std::int32_t factor) {
    return _mm256_mullo_epi32(a, _mm256_set1_epi32(factor));
  }
  static I64 scale(I64 a, std::int64_t factor) {
    return _mm512_mullo_epi64(a, _mm512_set1_epi64(factor));
  }
  static I64 widen(I32 a) { return _mm512_cvtepi32_epi64(a); }
  static I64 gather(const std::int64_t* table, I32 at) {
    return _mm512_i32gather_epi64(at, table, 8);
  }
  static I64 at_least(I32 a, I32 b, I64 yes, I64 no) {
    return _mm512_mask_blend_epi64(_mm256_cmpge_epi32_mask(a, b), no, yes);
  }
  static I32 where_positive(I32 a, I32 value) {
    return _mm256_maskz_mov_epi32(_mm256_cmpgt_epi32_mask(a, _mm256_setzero_si256()), value);
  }
  static I32 after(std::size_t i, std::size_t j, I32 value) {
    const std::size_t skip = i >= j ? i - j + 1 : 0;  // lanes up to and including i
    return _mm256_maskz_mov_epi32(static_cast<__mmask8>(0xFFu << skip), value);
  }
  static std::int64_t least(I64 a) { return _mm512_reduce_min_epi64(a); }
  static std::int32_t sum(I32 a) { return _mm512_reduce_add_epi32(_mm512_zextsi256_si512(a)); }
  template <std::size_t R>
  static void popcount_block(const std::uint32_t* words, std::size_t stride,
                             const std::uint32_t* mask, std::uint32_t first, std::uint32_t last,
                             std::int32_t (*out)[lanes]) {
    __m512i n[R];
    for (std::size_t r = 0; r < R; ++r) n[r] = _mm512_setzero_si512();
    for (std::size_t w = first; w < last; ++w) {
      const __m512i columns = _mm512_loadu_si512(words + w * stride);
      for (std::size_t r = 0; r < R; ++r) {
        const std::uint32_t m = mask == nullptr ? ~0u : mask[w * stride + r];
        const __m512i bits = _mm512_and_si512(columns, _mm512_set1_epi32(static_cast<int>(m)));
        n[r] = _mm512_add_epi32(n[r], _mm512_popcnt_epi32(bits));
      }
    }
    for (std::size_t r = 0; r < R; ++r) _mm512_storeu_si512(out[r], n[r]);
  }
  static void sum_rows(const std::uint8_t* rows, std::size_t row_bytes, const std::uint32_t* places,
                       const std::int64_t* values, std::size_t n, std::int64_t* sums) {
    static_assert(lanes == 16);
    __m512i sum[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(),
                      _mm512_setzero_si512()};
    const auto add = [&](std::size_t i, __m512i* to) {
      const std::uint8_t* const bits = rows + row_bytes * places[i];
      const __m512i value = _mm512_set1_epi64(values[i]);
      to[0] = _mm512_mask_add_epi64(to[0], bits[0], to[0], value);
      to[1] = _mm512_mask_add_epi64(to[1], bits[1], to[1], value);
    };
    std::size_t i = 0;
    for (; i + 2 <= n; i += 2) {  // two rows at a time do not wait for each other's sums
      add(i, sum);
      add(i + 1, sum + 2);
    }
    if (i < n) add(i, sum);
    _mm512_storeu_si512(sums, _mm512_add_epi64(sum[0], sum[2]));
    _mm512_storeu_si512(sums + 8, _mm512_add_epi64(sum[1], sum[3]));
  }
};

}  // namespace

extern const PairKernel avx512_kernel;
const PairKernel avx512_kernel = {"avx512", scan_rows<Avx512Lanes>, count_columns<Avx512Lanes>,
                                  count_with<Avx512Lanes>, Avx512Lanes::sum_rows};

}  // namespace maptree
