#include "control/processor.hpp"

#include <cstdint>

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#include <cpuid.h>
#define MAPTREE_CPUID 1
#endif

namespace maptree {

namespace {

struct Abilities {
  bool avx2 = false, avx512 = false;
};

#ifdef MAPTREE_CPUID

constexpr bool has(std::uint64_t word, std::uint64_t bits) { return (word & bits) == bits; }
constexpr std::uint64_t bit(int index) { return std::uint64_t{1} << index; }

// Which registers the system saves; only if OSXSAVE says that the instruction exists.
std::uint64_t saved_registers() {
  std::uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low | std::uint64_t{high} << 32;
}

// Bits by the names of Intel's manual, volume 2, CPUID, and volume 1, 13.3 for XCR0.
Abilities ask() {
  Abilities out;
  std::uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !has(c, bit(27) | bit(28))) return out;  // OSXSAVE, AVX
  const std::uint64_t saved = saved_registers();
  if (!has(saved, bit(1) | bit(2))) return out;  // SSE, AVX
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return out;
  out.avx2 = has(b, bit(5));
  out.avx512 = out.avx2 && has(saved, bit(5) | bit(6) | bit(7)) &&  // opmask, ZMM
               has(b, bit(16) | bit(17) | bit(30) | bit(31)) &&     // F, DQ, BW, VL
               has(c, bit(14));                                     // VPOPCNTDQ
  return out;
}

#else

Abilities ask() { return {}; }

#endif

const Abilities& abilities() {
  static const Abilities known = ask();
  return known;
}

}  // namespace

bool runs_avx2() { return abilities().avx2; }
bool runs_avx512() { return abilities().avx512; }

}  // namespace maptree
