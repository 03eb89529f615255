// What the processor can run, and the system saves when it switches threads. Compilers have a
// built-in function for that, but it takes a library that not all of them link.
#pragma once

namespace maptree {

[[nodiscard]] bool runs_avx2();
// AVX-512 with all that the kernel is compiled for: F, BW, DQ, VL and VPOPCNTDQ.
[[nodiscard]] bool runs_avx512();

}  // namespace maptree
