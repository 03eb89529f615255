#include "scan/pair_kernel.hpp"

#include <stdexcept>

namespace maptree {

extern const PairKernel plain_kernel;
#if MAPTREE_X86_KERNELS
extern const PairKernel avx2_kernel;
extern const PairKernel avx512_kernel;
#endif

bool kernel_available(Kernel kernel) {
#if MAPTREE_X86_KERNELS
  __builtin_cpu_init();
  if (kernel == Kernel::avx2) return __builtin_cpu_supports("avx2") != 0;
  if (kernel == Kernel::avx512)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq");
#endif
  return kernel == Kernel::plain || kernel == Kernel::automatic;
}

const PairKernel& pair_kernel(Kernel kernel) {
  if (!kernel_available(kernel))
    throw std::invalid_argument("this processor or build cannot run the kernel asked for");
#if MAPTREE_X86_KERNELS
  const bool automatic = kernel == Kernel::automatic;
  if (kernel == Kernel::avx512 || (automatic && kernel_available(Kernel::avx512)))
    return avx512_kernel;
  if (kernel == Kernel::avx2 || (automatic && kernel_available(Kernel::avx2))) return avx2_kernel;
#endif
  return plain_kernel;
}

}  // namespace maptree
