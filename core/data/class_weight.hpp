// ClassWeight: what a row counts in one of the classes that it has. Plain, for the kernels.
#pragma once

#include <cstdint>

namespace maptree {

struct ClassWeight {
  std::int32_t k = 0;
  std::int32_t weight = 0;
  bool operator==(const ClassWeight&) const = default;
};

}  // namespace maptree
