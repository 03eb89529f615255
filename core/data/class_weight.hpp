// ClassWeight: what a row counts in one of the classes that it has. Plain, for the kernels.
// Amounts: what a row adds to the two sums of an outcome that is not a class
// (docs/design/outcomes.md).
#pragma once

#include <cstdint>

namespace maptree {

struct ClassWeight {
  std::int32_t k = 0;
  std::int32_t weight = 0;
  bool operator==(const ClassWeight&) const = default;
};

struct Amounts {
  std::int64_t of[2];  // the second is not negative
};

}  // namespace maptree
