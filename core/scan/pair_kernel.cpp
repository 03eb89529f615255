#include "scan/pair_kernel.hpp"

#include <stdexcept>

#include "control/processor.hpp"

namespace maptree {

extern const PairKernel plain_kernel;
#if MAPTREE_X86_KERNELS
extern const PairKernel avx2_kernel;
extern const PairKernel avx512_kernel;
#endif

bool kernel_available(Kernel kernel) {
#if MAPTREE_X86_KERNELS
  if (kernel == Kernel::avx2) return runs_avx2();
  if (kernel == Kernel::avx512) return runs_avx512();
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
